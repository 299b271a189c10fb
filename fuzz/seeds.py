"""Right inputs, from which the changes begin."""

import gzip
import json
from typing import Final

import zstandard
from tests.support.metrics.metrics_payloads import as_value, notification_metrics, request_metrics
from tests.support.registry.registry_payloads import aa, fip

_REPORTS: Final = [
    json.dumps(as_value(build(fips=1))).encode()
    for build in (request_metrics, notification_metrics)
]
_JSON: Final = [
    b'{"a":[1,-2,true,null,"\\u00e9\\ud83d\\ude00"]}',
    b'{"grant_type":"client_credentials"}',
    b"9007199254740992",
]
SEEDS: Final[dict[str, list[bytes]]] = {
    "strict_json": _JSON,
    "form": [b"username=a%40b.example&password=x+y", b"a[]=1&a=2"],
    "unpacking": [gzip.compress(b"{}"), zstandard.compress(b"{}"), gzip.compress(bytes(5000))],
    "headers": [b'application/json; charset="utf-8"', b"Bearer eyJh.bGci.Oi"],
    "token": [b"eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsifQ.e30.AAAA", b'{"alg":"RS256"}'],
    "report": _REPORTS,
    "registration": [json.dumps(build()).encode() for build in (fip, aa)],
    "addresses": [
        b"https://api.bank.example/v2",
        b"https://[2001:db8::1]:8443/a",
        b"admin@bank.example",
        "Jos\u00e9 N\u00fa\u00f1ez".encode(),
    ],
    "written": [b"=1+1", "/a\u2028b\u202e".encode()],
    "traffic": [
        b'{"ver":"2.0.0","txnid":"x","FIStatusNotification":{"sessionId":"s"}}',
        b"2026-03-04T10:20:00.000Z",
    ],
}
