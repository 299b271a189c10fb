"""A member's entry in the registry of a running service."""

import itertools
import os
import uuid
from typing import Any

import httpx2
from tests.support.http_clients import NO_TLS
from tests.support.members import Member
from tests.support.registry import registry_payloads

_numbers = itertools.count(20_000 + os.getpid() % 1000 * 1000)
_MAKERS = {"FIP": registry_payloads.fip, "FIU": registry_payloads.fiu, "AA": registry_payloads.aa}


def payload(member: Member, **changes: Any) -> dict[str, Any]:
    """Make a payload of the member with a key of its own."""
    make = _MAKERS[member.entity_id.rsplit("-", 1)[1]]
    made = make(next(_numbers), id=member.entity_id, **changes)
    made["requester"]["id"] = member.entity_id
    made["entityinfo"]["certificate"]["kid"] = f"kid-{uuid.uuid4().hex[:12]}"
    made["txnid"] = str(uuid.uuid4())
    return made


def send(member: Member, made: dict[str, Any], *, update: bool = False) -> None:
    """Submit or update in the name of the member's admin."""
    url = f"{member.service.root}/cr/v2/entityInfo/{made['type']}"
    if update:
        url += f"/{member.entity_id}"
    answer = httpx2.request(
        "PUT" if update else "POST",
        url,
        json=made,
        headers=member.bearer(),
        verify=NO_TLS,
    )
    assert answer.status_code == 200, answer.text
