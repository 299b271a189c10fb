"""Faults of an implementation: what changes on the wire, what is run, and which checks must fail."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
from tests.conformance.suite_runs import Fault

Edit = Callable[[dict[str, Any]], object]


def edited(path: str, edit: Edit, status: int = 200, sent: bytes = b"") -> Fault:
    """Change the JSON of the answers of one path that have this status, to a body with `sent`."""

    def fault(request: httpx2.Request, came: httpx2.Response) -> httpx2.Response | None:
        if not request.url.path.endswith(path) or came.status_code != status:
            return None
        if sent not in request.content:
            return None
        document = came.json()
        edit(document)
        headers = [(k, v) for k, v in came.headers.items() if k != "content-length"]
        return httpx2.Response(status, headers=headers, content=json.dumps(document).encode())

    return fault


def instead(holds: Callable[[httpx2.Request, httpx2.Response], bool], status: int) -> Fault:
    """Answer with another status and the same body."""

    def fault(request: httpx2.Request, came: httpx2.Response) -> httpx2.Response | None:
        if not holds(request, came):
            return None
        return httpx2.Response(status, content=came.content)

    return fault


def to_other_kids(document: dict[str, Any]) -> None:
    for number, key in enumerate(document["keys"]):
        key["kid"] = f"another-{number}"


def pushed(request: httpx2.Request) -> dict[str, Any]:
    is_push = request.url.path.endswith("/push")
    return json.loads(request.content) if is_push else {}


def has_falling_times(request: httpx2.Request, came: httpx2.Response) -> bool:
    return "pxx" in request.content.decode(errors="replace") and any(
        block.get("pxx") == [9, 8, 7, 6]
        for fip in pushed(request).get("fips", [])
        for block in fip["metrics"]
    )


ENTITY_TOKEN = "/entity/token/generate"
FAULTS: dict[str, tuple[Fault, tuple[str, ...], set[str]]] = {
    "expiresIn is a text": (
        edited(ENTITY_TOKEN, lambda body: body.update(expiresIn="86400")),
        ("2.2", "T-D3-1", "T-D3-2"),
        {"T-2.2-5", "T-D3-1"},
    ),
    "txnId is missing": (
        edited(ENTITY_TOKEN, lambda body: body.pop("txnId")),
        ("2.2", "4.4"),
        {"T-2.2-3"},
    ),
    "the user token has no tokenType": (
        edited("/user/token/generate", lambda body: body.pop("tokenType")),
        ("2.2", "4.1", "T-5-1", "T-5-2"),
        {"T-2.2-12", "T-5-2"},
    ),
    "expiresOn in seconds": (
        edited("/secret/read", lambda body: body.update(expiresOn=body["expiresOn"] // 1000)),
        ("2.3", "4.2", "T-D3-27", "T-D3-28", "T-D3-29"),
        {"T-D3-27"},
    ),
    "500 for 400": (
        instead(lambda request, _: request.content == b"secret=not-the-secret-of-any-entity-at-all-1234567", 500),
        ("4.4", "7"),
        {"T-4.4-2"},
    ),
    "an error without errorCode": (
        edited(ENTITY_TOKEN, lambda body: body.pop("errorCode"), 401),
        ("7", "T-D3-20", "4.4"),
        {"T-7-4", "T-D3-20"},
    ),
    "a second reset is allowed": (
        instead(lambda request, came: request.url.path.endswith("/reset") and came.status_code == 429
                and int(came.headers["Retry-After"]) > 290, 200),
        ("T-8-4", "T-D3-37"),
        {"T-8-4"},
    ),
    "a wrong secret is accepted": (
        instead(lambda request, _: b"secret=not-the-secret-of" in request.content
                and b"id=T-" in request.content, 200),
        ("4.4", "T-D3-10", "T-D3-11"),
        {"T-D3-10", "T-D3-11"},
    ),
    "an unknown user shows": (
        edited("/user/token/generate", lambda body: body.update(errorMsg="no such user"), 401,
               sent=b"no-such-user"),
        ("T-D3-5", "T-D3-6"),
        {"T-D3-6"},
    ),
    "an unknown entity shows": (
        edited(ENTITY_TOKEN, lambda body: body.update(errorMsg="no such entity"), 401,
               sent=b"no-such-entity"),
        ("T-D3-10", "T-D3-11"),
        {"T-D3-11"},
    ),
    "duplicates are not recognized": (
        edited("/push", lambda body: body.update(status="accepted")
               if body["status"] == "duplicate" else None),
        ("M-D5-1", "M-D5-2", "M-D5-3", "M-D5-4", "M-D5-5"),
        {"M-D5-3", "M-D5-4"},
    ),
    "falling percentiles are accepted": (
        instead(has_falling_times, 200),
        ("M-D5-13", "M-D5-14", "M-2.5-14"),
        {"M-D5-13"},
    ),
    "a refused push does not name the field": (
        edited("/push", lambda body: body.update(errorMsg="no"), 400),
        ("M-8", "M-2.5-1"),
        {"M-8-1"},
    ),
    "the keys lack the kid": (
        edited("/certs", to_other_kids),
        ("K",),
        {"K-D3-4", "K-D3-5", "K-D3-6", "K-D3-7"},
    ),
    "a private key is published": (
        edited("/certs", lambda body: [key.update(d="AQAB") for key in body["keys"]]),
        ("K-D3-1", "K-D3-2", "K-D3-3", "K-D3-4", "K-D3-5"),
        {"K-D3-3"},
    ),
    "introspection finds every token active": (
        edited("/introspect", lambda body: body.update(active=True)),
        ("O",),
        {"O-D3-7", "O-D3-9"},
    ),
    "an entry without a STRONG identifier is taken": (
        instead(lambda request, _: b'"category":"WEAK"' in request.content, 200),
        ("R-2.7-27", "R-2.7-28"),
        {"R-2.7-28"},
    ),
    "secrets never end": (
        instead(lambda _, came: came.status_code == 401 and came.json().get("errorCode")
                in {"SecretExpired", "SecretGraceEnded"}, 200),
        ("T-3-6", "T-3-7", "T-D3-41", "T-D3-42", "T-5-4", "T-D3-43"),
        {"T-3-6", "T-3-7", "T-D3-41", "T-D3-42"},
    ),
    "an answer of another shape": (
        lambda request, _: httpx2.Response(200, content=b"[1]")
        if request.url.path.endswith("/certs") else None,
        ("K-D3-1",),
        {"K-D3-1"},
    ),
}  # fmt: skip
