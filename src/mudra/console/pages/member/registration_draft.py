"""The draft of a registration: the latest version, or an empty payload of the right type."""

from datetime import datetime

import msgspec

from mudra.registry.lifecycle.record import Record
from mudra.shared.time_text import iso_ms


def draft_of(  # what a first payload is filled with
    record: Record | None,
    *,
    entity_id: str,
    name: str,
    entity_type: str,
    now: datetime,
    txn_id: str,
) -> str:
    """Write a payload to go on from, with the time and the transaction ID of a new request."""
    if record is not None and record.versions:
        payload = msgspec.to_builtins(record.versions[-1].entry)
    else:
        payload = _empty(entity_id, name, entity_type)
    payload |= {"timestamp": iso_ms(now), "txnid": txn_id}
    return msgspec.json.format(msgspec.json.encode(payload), indent=2).decode()


def _empty(entity_id: str, name: str, entity_type: str) -> dict[str, object]:
    aa, fip = entity_type == "AA", entity_type == "FIP"
    return {
        "ver": "1.0",
        "timestamp": "",
        "txnid": "",
        "type": entity_type,
        "requester": {"name": name, "id": entity_id},
        "entityinfo": {
            "tags": "",
            "name": name,
            "id": entity_id,
            "code": "",
            "entityhandle": "",
            "Identifiers": [{"category": "STRONG", "type": "MOBILE"}] if fip else [],
            "baseurl": "",
            "webviewurl": "" if aa else None,
            "fitypes": [],
            "inboundports": ["443"],
            "outboundports": ["443"],
            "ips": [],
            "certificate": {
                "alg": "RS256",
                "kty": "RSA",
                "use": "sig",
                "kid": "",
                "e": "",
                "n": "",
            },
            "gsp": None,
        },
    }
