"""The differences of two entries, field by field, for approvals and the history."""

import enum
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload.entry import Entry, canonical

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

# They say where traffic goes and whose signature counts: such an update needs approval.
NEEDS_APPROVAL: Final = ("certificate", "baseurl", "webviewurl", "ips", "gsp")
# These identify the request, not the entity: they differ in every submission.
_OF_THE_REQUEST: Final = ("$.ver", "$.timestamp", "$.txnid", "$.requester.name", "$.requester.id")


class Risk(enum.StrEnum):
    """What a change affects, as an approver reads it."""

    NONE = ""
    KEY = translatable("Signatures are verified with another key")
    TRAFFIC = translatable("Calls go to another address")
    REDIRECT = translatable("Users are sent to another page")
    FIREWALL = translatable("Members must allow new IP addresses")


def in_one_line(risks: Iterable[Risk]) -> str:
    """Return what several changes affect as one sentence; empty for nothing."""
    text = "; ".join(f"{risk.value[:1].lower()}{risk.value[1:]}" for risk in risks)
    return text[:1].upper() + text[1:]


_RISKS: Final = {
    "certificate": Risk.KEY,
    "baseurl": Risk.TRAFFIC,
    "webviewurl": Risk.REDIRECT,
    "ips": Risk.FIREWALL,
    "inboundports": Risk.FIREWALL,
    "outboundports": Risk.FIREWALL,
    "gsp": Risk.TRAFFIC,
}


class FieldChange(Struct, frozen=True):
    """One field that differs. A list differs as a whole; an absent side is None."""

    path: str
    before: Json
    after: Json
    needs_approval: bool = False
    risk: Risk = Risk.NONE


def difference(before: Entry, after: Entry) -> tuple[FieldChange, ...]:
    """Return every field in which two entries differ, in the order of their paths."""
    return tuple(_changes("$", _tree(before), _tree(after)))


def matters(changes: tuple[FieldChange, ...]) -> bool:
    """Return whether the entity itself changed, and not only the request that carried it."""
    return any(change.path not in _OF_THE_REQUEST for change in changes)


def needs_approval(changes: tuple[FieldChange, ...]) -> bool:
    """Return whether an operator must approve before these changes go live."""
    return any(change.needs_approval for change in changes)


def _tree(entry: Entry) -> Json:
    tree: Json = msgspec.json.decode(canonical(entry))
    return tree


def _changes(path: str, before: Json, after: Json) -> Iterator[FieldChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from _changes(f"{path}.{name}", before.get(name), after.get(name))
    elif before != after:
        yield _classified(path, before, after)


def _classified(path: str, before: Json, after: Json) -> FieldChange:
    field = path.removeprefix("$.entityinfo.").split(".")[0]
    # The same addresses in another order have no effect.
    if isinstance(before, list) and isinstance(after, list) and _same_items(before, after):
        return FieldChange(path, before, after)
    risk = _RISKS.get(field, Risk.NONE)
    return FieldChange(path, before, after, field in NEEDS_APPROVAL, risk)


def _same_items(before: list[Json], after: list[Json]) -> bool:
    return len(before) == len(after) and all(item in after for item in before)
