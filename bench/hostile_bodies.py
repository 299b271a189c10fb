"""The worst requests to every operation of the OpenAPI document that its limits let through."""

import base64
import copy
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.registry.registry_payloads import fip

KIB = 1024
TOKEN_KIB, FORM_KIB, REGISTRATION_KIB, PUSH_KIB = 16, 8, 64, 8 * 1024
QUERY_BYTES = 12 * KIB
LONG_MODULUS = (2**4423 - 1) * (2**3217 - 1)
"""Two known primes, far apart: every check of a key is run to its end."""


@dataclass(frozen=True)
class HostileRequest:
    """One request, whole, ready to be written to a connection that stays open."""

    operation: str
    kind: str
    raw: bytes


@dataclass(frozen=True)
class Tokens:
    """Bearer tokens of an attacker who has an account of every kind."""

    entity: str
    user: str
    operator: str

    def of(self, path: str) -> str:
        """The token with which a path lets in furthest."""
        if path.startswith(("/cr/", "/metrics/")):
            return self.entity
        return self.operator if path.startswith("/operator/") else self.user


def hostile_requests(document: Mapping[str, Any], tokens: Tokens) -> Iterator[HostileRequest]:
    """Every operation with every worst body, or with the worst query and path if it has none."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            name, token = f"{method.upper()} {path}", tokens.of(path)
            types = operation.get("requestBody", {}).get("content", {})
            sent = [
                (kind, media_type, headers, body)
                for media_type in types
                for kind, headers, body in _bodies(path, media_type)
            ] or [("long path", "", {}, b""), ("long query", "", {}, b"")]
            for kind, media_type, headers, body in sent:
                query = _query() if kind == "long query" else ""
                target = re.sub(r"\{[^}]+\}", _part(path, long=kind == "long path"), path) + query
                lines = {"host": "x", "authorization": f"Bearer {token}", **headers}
                if media_type:
                    lines["content-type"] = media_type
                lines["content-length"] = str(len(body))
                head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
                raw = f"{method.upper()} {target} HTTP/1.1\r\n{head}\r\n".encode() + body
                yield HostileRequest(name, kind, raw)


def _bodies(path: str, media_type: str) -> Iterator[tuple[str, dict[str, str], bytes]]:
    if media_type != "application/json":
        for kind, body in form_bodies().items():
            yield kind, {}, body
    elif path.endswith("/push"):
        made = push_bodies()
        for kind, body in made.items():
            yield kind, {"content-encoding": "gzip"}, gzip.compress(body, 1)
        yield "8 MiB as they are", {}, made["zeros"]
    elif path.startswith("/cr/"):
        for kind, body in (registration_bodies() | json_bodies(REGISTRATION_KIB)).items():
            yield kind, {}, body
    else:
        for kind, body in json_bodies(TOKEN_KIB).items():
            yield kind, {}, body


def _part(path: str, *, long: bool) -> str:
    if path.startswith("/cr/"):
        return "FIP"
    return "x" * (8 * KIB) if long else "x"


def _query() -> str:
    pairs = "&".join(f"{number:x}=%41" for number in range(2000))
    return "?" + pairs[:QUERY_BYTES].rpartition("&")[0]


def json_bodies(kib: int) -> dict[str, bytes]:
    """Bodies for any JSON reader, as long as is allowed."""
    room = kib * KIB - 40
    return {
        "unknown members": _object(b'"%x":0' % number for number in range(room // 7))[:room] + b"}",
        "repeated members": b'{"a":1' + b',"a":1' * (room // 6) + b"}",
        "deep": b'{"a":' + b"[" * (room // 2) + b"]" * (room // 2) + b"}",
        "brackets in strings": b'{"a":"' + b'[","' * (room // 4) + b'"}',
        "escapes": b'{"a":"' + rb"\ud83d\ude00" * (room // 12) + b'"}',
        "half escapes": b'{"a":"' + rb"\\" * (room // 2) + rb"\ud83d" + b'"}',
        "one number": b'{"a":' + b"9" * room + b"}",
        "numbers": b'{"a":[' + b"9999999999999999," * (room // 17) + b"1]}",
        "floats": b'{"a":[' + b"1," * (room // 2 - 8) + b"1.5]}",
        "strings": b'{"a":[' + b'"a",' * (room // 4) + b"1]}",
    }


def form_bodies() -> dict[str, bytes]:
    """Bodies for the reader of forms."""
    room = FORM_KIB * KIB - 40
    return {
        "fields": b"&".join(b"%x=" % number for number in range(room))[:room],
        "empty fields": b"&" * room,
        "escapes": b"a=" + b"%41" * (room // 3),
        "broken escapes": b"a=" + b"%41" * (room // 3 - 2) + b"%4",
    }


def registration_bodies() -> dict[str, bytes]:
    """Payloads with as many findings, of the dearest kinds, as 64 KiB hold."""
    number = LONG_MODULUS.to_bytes(955)
    key = fip()["entityinfo"]["certificate"] | {
        "n": base64.urlsafe_b64encode(number).rstrip(b"=").decode()
    }
    wrong = {
        "key of 8192 bits": fip(certificate=key),
        "FI types": fip(fitypes=[f"DEPOSITS_OF_{place}" for place in range(3000)]),
        "identifiers": fip(
            Identifiers=[
                {"category": "STRONGER", "type": "MOBILES"}
                | {f"categorie{n}": 1 for n in range(20)}
                for _ in range(64)
            ]
        ),
        "ports": fip(inboundports=[f"{place}-x" for place in range(5000)]),
        "IPs": fip(ips=[f"2001:db8::{place:x}/129" for place in range(2500)]),
        "URLs": fip(baseurl=",".join(f"V{place}:http://a.example" for place in range(80))),
        "certificates": fip(certificate=key | {f"kidd{place}": "x" * 30 for place in range(1000)}),
        "names": fip(**{f"entityhandle{place}": 0 for place in range(2500)}),
    }
    return {
        kind: json.dumps(value).encode()[: REGISTRATION_KIB * KIB] for kind, value in wrong.items()
    }


def push_bodies() -> dict[str, bytes]:
    """Payloads of 8 MiB, before they are packed."""
    room = PUSH_KIB * KIB - 400
    start = msgspec.json.encode(request_metrics(0))[: -len(b"[]}")]
    blocks = copy.deepcopy(as_value(request_metrics(1)))["fips"][0]["metrics"]  # type: ignore[index]
    for block in blocks:
        block["type"] = "heartbeats"
    many = b",".join(
        json.dumps({"fipId": f"F-{place}", "metrics": blocks}).encode() for place in range(3000)
    )
    return {
        "unknown members": _object(b'"%x":0' % number for number in range(700_000))[:room] + b"}",
        "similar names": _object(b'"agentVersion%d":0' % n for n in range(340_000))[:room] + b"}",
        "repeated members": b'{"tag":1' + b',"tag":1' * (room // 8) + b"}",
        "zeros": start + b"[" + b"0," * (room // 2) + b"0]}",
        "floats": start + b"[" + b"1.5," * (room // 4) + b"0]}",
        "objects": start + b"[" + b"{}," * (room // 3) + b"{}]}",
        "empty FIPs": start
        + b"["
        + b",".join(b'{"fipId":"%d","metrics":[]}' % n for n in range(250_000))
        + b"]}",
        "wrong blocks": start + b"[" + many[:room] + b"]}",
        "deep": b'{"a":' + b"[" * room,
        "escapes": b'{"a":"' + rb"\u0041" * (room // 6) + b'"}',
        "one number": b'{"duration":' + b"9" * room + b"}",
        "a long name": b'{"' + b"a" * room + b'":1}',
        "too much": b" " * (PUSH_KIB * KIB + 1),
    }


def _object(members: Iterator[bytes]) -> bytes:
    return b"{" + b",".join(members)
