"""Finds a member's address in the registry, in the name of an entity that may read it."""

from typing import Final

import httpx2

from mudra.conformance.expectation import kind
from mudra.conformance.service.implementation import Implementation

_TYPES: Final = ("FIP", "FIU", "AA")


class NoEntry(Exception):
    """The entry cannot be had; the text says why."""


def baseurl_of(document: object) -> str:
    """Return `baseurl` of a registry payload; raises NoEntry where there is no entity."""
    info = document.get("entityinfo") if isinstance(document, dict) else None
    if not isinstance(info, dict):
        raise NoEntry(f"the entry is {kind(document)} without entityinfo")
    return str(info.get("baseurl") or "")


def read_baseurl(one: Implementation, member_id: str) -> str:
    """Read the entry of the member, of whichever type; raises NoEntry, or NoToken without ours."""
    answer = None
    for entity_type in _TYPES:
        url = f"{one.target.registry}/entityInfo/{entity_type}/{member_id}"
        answer = one.send("GET", url, token=one.entity_bearer)
        if answer.status == httpx2.codes.OK:
            return baseurl_of(answer.document)
    assert answer is not None
    raise NoEntry(f"the registry shows no entry of {member_id}: {answer.described()}")
