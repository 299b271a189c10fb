"""Changes as an approver reads them: the riskiest first, lists item by item."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from mudra.registry.lifecycle.difference import FieldChange, Json
from mudra.registry.lifecycle.record import Version
from mudra.registry.payload.fields.certificate import Certificate
from mudra.registry.payload.fields.field_rules import Risk, fields_of

_PLAIN: Final = {
    f"$.entityinfo.certificate.{name}": f"certificate: {one.label}"
    for name, one in fields_of(Certificate).items()
}
_ADDRESSES: Final = re.compile(r",(?=v\d+:)")
_MAX_LENGTH: Final = 160
_REQUEST: Final = ("$.ver", "$.timestamp", "$.txnid")


class Compared(Struct, frozen=True):
    """One field: its removed, added and unchanged lines, one per item of a list."""

    field: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    unchanged: tuple[str, ...]
    needs_approval: bool
    risk: str


class NewKey(Struct, frozen=True):
    """A change of key: the previous version and the new one."""

    previous: Version | None
    new: Version

    @property
    def same_kid(self) -> bool:
        """Return whether the new key has the old one's ID: verifiers that cache keys will fail."""
        return self.previous is not None and self.previous.key.kid == self.new.key.kid


def compared(changes: Sequence[FieldChange]) -> list[Compared]:
    """Sort changes by risk; fields that only identify the request are left out."""
    shown = [_compared(change) for change in changes if change.path not in _REQUEST]
    return sorted(shown, key=lambda one: (not one.needs_approval, not one.risk, one.field))


def new_key(previous: Version | None, new: Version) -> NewKey | None:
    """Return the change of key, if there is one."""
    if previous is not None and previous.key.thumbprint == new.key.thumbprint:
        return None
    return NewKey(previous, new)


def all_fields(version: Version) -> list[Compared]:
    """Return every field of a first submission that is not empty, as if it were added."""
    # As JSON has it: lists, whose items are lines of their own, as in a change.
    info = msgspec.json.decode(msgspec.json.encode(version.entry.entityinfo))
    parts = {name: part for name, part in info.pop("certificate").items() if part}
    parted = {f"$.entityinfo.certificate.{name}": part for name, part in parts.items()}
    values = {f"$.entityinfo.{name}": value for name, value in info.items()} | parted
    return [
        Compared(_named(path), (), tuple(lines), (), needs_approval=False, risk="")
        for path, value in values.items()
        if (lines := lines_of(value))
    ]


def _compared(change: FieldChange) -> Compared:
    # Whole: two values that are cut to the same text differ all the same.
    before, after = _whole_lines(change.before), _whole_lines(change.after)
    return Compared(
        field=_named(change.path),
        removed=tuple(_cut(line) for line in before if line not in after),
        added=tuple(_cut(line) for line in after if line not in before),
        unchanged=tuple(_cut(line) for line in before if line in after),
        needs_approval=change.needs_approval,
        risk=change.risk.value if change.risk is not Risk.NONE else "",
    )


def _named(path: str) -> str:
    return _PLAIN.get(path, path.removeprefix("$.").removeprefix("entityinfo."))


def lines_of(value: Json) -> list[str]:
    """Return the lines of a value: one per address, long keys shortened in the middle."""
    return [_cut(line) for line in _whole_lines(value)]


def _whole_lines(value: Json) -> list[str]:
    return [part for line in _lines(value) for part in _ADDRESSES.split(line)]


def _cut(line: str) -> str:
    """Shorten a key; an address is read whole, or its host could hide in the middle."""
    if len(line) <= _MAX_LENGTH or "://" in line:
        return line
    return f"{line[:24]} … {line[-24:]} ({len(line)} characters)"


def _lines(value: Json) -> list[str]:
    if value is None or value in ("", []):
        return []
    if isinstance(value, list):
        return [line for item in value for line in _lines(item)]
    if isinstance(value, dict):
        return (
            [", ".join(f"{name}: {item}" for name, item in value.items())]
            if any(value.values())
            else []
        )
    return [str(value)]
