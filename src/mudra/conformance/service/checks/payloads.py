"""Payloads that an implementation must accept, from which each check spoils one field."""

import copy
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from joserfc.jwk import RSAKey

from mudra.shared.time_text import iso_ms

Document: TypeAlias = dict[str, object]
GONE: Final = object()
"""Instead of a value: the field is taken away."""
WINDOW: Final = timedelta(minutes=10)
FIP_ID: Final = "CONFORMANCE-FIP"
"""Reported in pushes: in no registry, so that no real member's picture is touched."""
REQUESTS: Final = "req-fipMetrics-aa"
NOTIFICATIONS: Final = "not-fipMetrics-aa"


def registration(entity_type: str, entity_id: str, key: RSAKey, now: datetime) -> Document:
    """Return a registration payload of specification 2.7."""
    is_fip, is_aa = entity_type == "FIP", entity_type == "AA"
    public = key.as_dict(private=False)
    return {
        "ver": "1.0",
        "timestamp": iso_ms(now),
        "txnid": str(uuid.uuid4()),
        "type": entity_type,
        "requester": {"name": "Conformance", "id": entity_id},
        "entityinfo": {
            "tags": "Sandbox",
            "name": "Conformance",
            "id": entity_id,
            "code": "CONFORMANCE1",
            "entityhandle": f"@c{uuid.uuid4().hex[:12]}" if is_aa else "",
            "Identifiers": [{"category": "STRONG", "type": "MOBILE"}] if is_fip else [],
            "baseurl": "v2:https://conformance.example/v2",
            "webviewurl": "https://conformance.example/web" if is_aa else None,
            "fitypes": ["DEPOSIT"] if is_fip else [],
            "inboundports": ["443"],
            "outboundports": ["443"],
            "ips": ["9.9.9.9"],
            "certificate": {
                "alg": "RS256",
                "kty": "RSA",
                "use": "sig",
                "kid": f"conformance-{uuid.uuid4().hex[:12]}",
                "e": public["e"],
                "n": public["n"],
            },
            "gsp": None,
            "tokeninfo": {"url": "", "desc": "", "maxcalls": 0},
            "signature": {"signValue": ""},
        },
    }


def request_metrics(aa_id: str, start: datetime, calls: int = 40) -> Document:
    """Return a request-metrics payload of specification 2.5."""
    counts: list[object] = [calls, calls - 3, 1, 0, 0, 1, *[0] * 9]
    blocks: list[object] = [
        {"type": "adisc", "pxx": [120, 300, 450, 900], "counts": counts},
        {"type": "sfireqnot", "pxx": [900, 1200, 1500, 1700], "counts": [3, 3, *[0] * 13]},
        {
            "type": "fif",
            "pxx": [200, 400, 500, 600],
            "counts": list(counts),
            "sumOfSizeOfDataPackets": "123456",
        },
    ]
    return _metrics(aa_id, start, REQUESTS, blocks)


def notification_metrics(aa_id: str, start: datetime, calls: int = 40) -> Document:
    """Return a notification-metrics payload of specification 2.6."""
    blocks: list[object] = [
        {
            "type": "finot",
            "counts": [calls, calls, *[0] * 13],
            "status": [calls - 2, 2, calls - 2, 1, 0, 1, 4],
        },
        {"type": "alnot", "counts": [5, 5, *[0] * 13]},
    ]
    return _metrics(aa_id, start, NOTIFICATIONS, blocks)


def _metrics(aa_id: str, start: datetime, tag: str, blocks: list[object]) -> Document:
    return {
        "agentVersion": "1.0.0",
        "jsonVersion": "1.0.0",
        "tag": tag,
        "txnId": str(uuid.uuid4()),
        "fromDateTime": iso_ms(start),
        "toDateTime": iso_ms(start + WINDOW),
        "duration": 600,
        "aaId": aa_id,
        "fips": [{"fipId": FIP_ID, "metrics": blocks}],
    }


def spoiled(document: Document, changes: Mapping[str, object]) -> Document:
    """Return a copy with other values by path, such as `fips.0.metrics.2.type`."""
    changed = copy.deepcopy(document)
    for path, value in changes.items():
        *way, last = path.split(".")
        place: object = changed
        for step in way:
            place = place[int(step)] if isinstance(place, list) else _object(place)[step]
        if isinstance(place, list):
            place[int(last)] = value
        elif value is GONE:
            _object(place).pop(last)
        else:
            _object(place)[last] = value
    return changed


def _object(value: object) -> Document:
    assert isinstance(value, dict)
    return value
