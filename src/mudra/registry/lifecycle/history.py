"""The history of an entry: its versions with what each changed, and its keys with their dates."""

import datetime as dt
from typing import Final

from msgspec import Struct

from mudra.registry.lifecycle.difference import FieldChange, difference
from mudra.registry.lifecycle.record import Record, Version

MAX_HISTORY: Final = 200
"""Versions that a history shows, the newest: a member may send thousands over the years."""


class Step(Struct, frozen=True):
    """One version, and the fields in which it differs from the one before it."""

    version: Version
    changes: tuple[FieldChange, ...]


class KeyPeriod(Struct, frozen=True):
    """A key and the time in which counterparties were to verify with it.

    `until` is None while it is the live one.
    """

    kid: str
    thumbprint: str
    since: dt.datetime
    until: dt.datetime | None


def history(record: Record) -> tuple[Step, ...]:
    """Return the versions in order; a version is compared with the one it was meant to replace.

    That is the last version before it that was ever live, or the one right
    before it while none was. The first is compared with none, also where older ones are left out.
    """
    steps: list[Step] = []
    base: Version | None = None
    for version in record.versions:
        changes = () if base is None else difference(base.entry, version.entry)
        steps.append(Step(version, changes))
        if version.was_live or base is None or not base.was_live:
            base = version
    return tuple(steps)


def key_periods(record: Record) -> tuple[KeyPeriod, ...]:
    """Return the keys that were ever live, in order; versions with the same key are one period.

    Where older versions are left out, the first period may have begun before.
    """
    periods: list[KeyPeriod] = []
    for version in record.versions:
        key, since = version.key, version.live_from
        if since is None:
            continue
        last = periods[-1] if periods else None
        if last and (last.kid, last.thumbprint, last.until) == (key.kid, key.thumbprint, since):
            periods[-1] = KeyPeriod(key.kid, key.thumbprint, last.since, version.live_until)
        else:
            periods.append(KeyPeriod(key.kid, key.thumbprint, since, version.live_until))
    return tuple(periods)
