"""A difference as an approver reads it: what matters first, lists item by item."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from mudra.registry.lifecycle.difference import FieldChange, Json, Risk
from mudra.registry.lifecycle.record import Version

_PLAIN: Final = {
    "$.entityinfo.certificate.n": "certificate: key (modulus n)",
    "$.entityinfo.certificate.kid": "certificate: key ID (kid)",
    "$.entityinfo.certificate.e": "certificate: exponent",
    "$.entityinfo.certificate.alg": "certificate: algorithm",
}
_ADDRESSES: Final = re.compile(r",(?=v\d+:)")
_MAX_LENGTH: Final = 160
_REQUEST: Final = ("$.ver", "$.timestamp", "$.txnid")


class Compared(Struct, frozen=True):
    """One field: what goes and what comes, a line for each item of a list."""

    field: str
    gone: tuple[str, ...]
    came: tuple[str, ...]
    stays: tuple[str, ...]
    needs_approval: bool
    risk: str


class NewKey(Struct, frozen=True):
    """A change of key in words: which goes, which comes, and their sizes."""

    former: Version | None
    coming: Version

    @property
    def same_kid(self) -> bool:
        """Tell whether another key hides under the former one's ID: verifiers that cache fail."""
        return self.former is not None and self.former.key.kid == self.coming.key.kid


def compared(changes: Sequence[FieldChange]) -> list[Compared]:
    """Order changes by what they let go wrong; what only names the request is left out."""
    shown = [_compared(change) for change in changes if change.path not in _REQUEST]
    return sorted(shown, key=lambda one: (not one.needs_approval, not one.risk, one.field))


def new_key(former: Version | None, coming: Version) -> NewKey | None:
    """Give the change of key, when there is one."""
    if former is not None and former.key.thumbprint == coming.key.thumbprint:
        return None
    return NewKey(former, coming)


def whole(version: Version) -> list[tuple[str, str]]:
    """Give every field of an entry, for a first submission that has nothing to compare with."""
    info = msgspec.to_builtins(version.entry.entityinfo)
    assert isinstance(info, dict)
    return [(str(name), "\n".join(_lines(value)) or "empty") for name, value in info.items()]


def _compared(change: FieldChange) -> Compared:
    before, after = lines_of(change.before), lines_of(change.after)
    return Compared(
        field=_PLAIN.get(change.path, change.path.removeprefix("$.").removeprefix("entityinfo.")),
        gone=tuple(line for line in before if line not in after),
        came=tuple(line for line in after if line not in before),
        stays=tuple(line for line in before if line in after),
        needs_approval=change.needs_approval,
        risk=change.risk.value if change.risk is not Risk.NONE else "",
    )


def lines_of(value: Json) -> list[str]:
    """Give the lines of a value; several addresses stand apart, a long key is cut in its middle."""
    return [_cut(part) for line in _lines(value) for part in _ADDRESSES.split(line)]


def _cut(line: str) -> str:
    if len(line) <= _MAX_LENGTH:
        return line
    return f"{line[:24]} … {line[-24:]} ({len(line)} characters)"


def _lines(value: Json) -> list[str]:
    if value is None or value in ("", []):
        return []
    if isinstance(value, list):
        return [line for item in value for line in _lines(item)]
    if isinstance(value, dict):
        return [", ".join(f"{name}: {item}" for name, item in value.items())]
    return [str(value)]
