"""Live registry entries for the demonstration network, created by the real use cases."""

import asyncio
from collections.abc import Sequence
from typing import Final

from mudra.demo.dependencies import Dependencies
from mudra.demo.network import DemoMember
from mudra.registry.lifecycle.actor import operator
from mudra.registry.lifecycle.acts.register import submit_entry
from mudra.registry.lifecycle.decision import Decision
from mudra.registry.payload.fields.certificate import Certificate
from mudra.registry.payload.fields.timestamp import wire_time
from mudra.registry.payload.new_jwk import new_key
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.registry.ports import Registry
from mudra.shared.ids import fresh_id

_OPERATOR: Final = operator("operator:sandbox")
_FI_TYPES: Final = {
    "NORTHSTAR-FIP": ["MUTUAL_FUNDS", "SIP", "ETF"],
    "SURAKSHA-FIP": ["LIFE_INSURANCE", "INSURANCE_POLICIES"],
    "BHARATPENSION-FIP": ["NPS"],
}


async def register_demo(dependencies: Dependencies, members: Sequence[DemoMember]) -> None:
    """Makes entries of these members live. The private parts of their keys are not stored."""
    # OpenSSL generates keys without Python's global lock, so that threads run in parallel.
    keys = await asyncio.gather(*(asyncio.to_thread(new_key) for _ in members))
    for member, key in zip(members, keys, strict=True):
        payload = _payload(member, key.public, wire_time(dependencies.clock()))
        checked = check_payload(payload, dependencies.address_policy, shipped_vocabulary())
        assert isinstance(checked, CheckedPayload), checked
        async with dependencies.transaction() as tx:
            outcome = await submit_entry(tx.service(Registry), checked, _OPERATOR, approved=True)
        assert isinstance(outcome, Decision), outcome


def _payload(member: DemoMember, key: Certificate, timestamp: str) -> dict[str, object]:
    kind, host = member.entity_type, member.admin.partition("@")[2]
    handle = f"@{member.entity_id.partition('-')[0].lower()}" if kind == "AA" else ""
    info: dict[str, object] = {
        "tags": "Sandbox",
        "name": member.name,
        "id": member.entity_id,
        "code": f"DEMO-{member.entity_id}",
        "entityhandle": handle,
        "Identifiers": [{"category": "STRONG", "type": "MOBILE"}] if kind == "FIP" else [],
        "baseurl": f"v2:https://api.{host}/v2",
        "webviewurl": f"https://web.{host}/consent" if kind == "AA" else None,
        "fitypes": _FI_TYPES.get(member.entity_id, ["DEPOSIT", "TERM_DEPOSIT"])
        if kind == "FIP"
        else [],
        "inboundports": ["443"],
        "outboundports": ["443"],
        "ips": ["127.0.0.1"],
        "certificate": {name: getattr(key, name) for name in key.__struct_fields__},
        "gsp": None,
    }
    return {
        "ver": "1.0",
        "timestamp": timestamp,
        "txnid": fresh_id(),
        "type": kind,
        "requester": {"name": member.name, "id": member.entity_id},
        "entityinfo": info,
    }
