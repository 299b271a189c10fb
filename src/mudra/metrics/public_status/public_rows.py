"""The last 24 hours of each API of each FIP, as everyone may see them: sums over AAs name none."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct

from mudra.metrics.health.feed import MAX_SILENCE
from mudra.metrics.health.fip_health import APIS_SHOWN, FipHealth
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, Disputed, Health, Status, Weighed
from mudra.metrics.health.own_calls import (
    BAD_Z,
    Field,
    OwnCalls,
    below,
    broken,
    no_own_calls,
    root,
)
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.subject import codes_of, fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.shared.text.csv_file import csv_text

_NONE_DISPUTED: Final[Disputed] = MappingProxyType({})


class PublicRow(msgspec.Struct, frozen=True, gc=False):
    """One API of one FIP for everyone. Null where too little is known.

    Times are in milliseconds, and estimates: p50 usually within 3 %, p95 and p99 within 5 %.
    Requests that an AA, a path or the network has a cause for are left out, and so are those in a
    planned maintenance: then times and classes of errors, which are of all, are null.
    """

    fip_id: str
    api: str
    status: Status
    requests: int | None = None
    success_percentage: float | None = None
    timeout_percentage: float | None = None
    server_error_percentage: float | None = None
    not_found_percentage: float | None = None
    other_client_error_percentage: float | None = None
    p50: int | None = None
    p95: int | None = None
    p99: int | None = None
    too_few_calls: bool = False
    """Whether it was called, but too seldom to say more: that is not "no data"."""


class PublicFloor(Struct, frozen=True):
    """With fewer calls the status is UNSURE: a few calls could be traced to people."""

    min_calls: int = 100


_FLOOR: Final = PublicFloor()


def is_current(reported_until: datetime | None, now: datetime) -> bool:
    """Returns whether reports are recent enough to know the current status of an API."""
    return reported_until is not None and now - reported_until <= MAX_SILENCE


def unsure(rows: Iterable[PublicRow]) -> list[PublicRow]:
    """Returns the same counts without a status, for when no AA reports any more."""
    return [msgspec.structs.replace(row, status=Status.UNSURE) for row in rows]


class LastDay(Struct, frozen=True):
    """The facts that detection has of the time: calls that are the FIPs' own, and incidents."""

    own: OwnCalls = msgspec.field(default_factory=no_own_calls)
    incidents: tuple[Incident, ...] = ()


def public_status(
    fips: Mapping[str, FipHealth],
    last_day: LastDay | None = None,
    floor: PublicFloor = _FLOOR,
    disputed: Disputed = _NONE_DISPUTED,
) -> list[PublicRow]:
    """Returns the status by FIP and API, made of sums over AAs, so that it names none.

    BAD is a broken rule, over the calls that are the FIP's own, and with an incident of the API or
    beyond chance. What most AAs see has no other test. Where one AA alone saw the incident, so that
    it may be that AA's, it is UNSURE instead.
    """
    judged = _Judged(last_day or LastDay())
    return [
        _disputed_row(fip_id, name, disputed[fip_id, code])
        if (fip_id, code) in disputed and not judged.is_in_part(fip_id, code)
        else _public_row(fip_id, name, seen.of(code), judged.of(fip_id, code, seen.of(code)), floor)
        for fip_id, seen in sorted(fips.items())
        for name, code in APIS_SHOWN.items()
    ]


class _Own(NamedTuple):
    """The calls of an API that are the FIP's own."""

    total: int
    eligible: int
    failed: int
    status: Status
    in_part: bool
    """Others were made, which are not its own."""


class _Judged:
    """The own calls of each API, with what follows from them."""

    def __init__(self, last_day: LastDay) -> None:
        counts = last_day.own.counts
        self._places = last_day.own.places()
        self._counts = counts
        self._below, self._broken = below(counts), broken(counts)
        self._hit, self._in_doubt = (
            {
                (fip_of(one.subject), code)
                for one in last_day.incidents
                if one.failing and one.may_be_elsewhere is in_doubt
                for code in codes_of(one.subject) or CUSTOMER_CODES
            }
            for in_doubt in (False, True)
        )

    def is_in_part(self, fip_id: str, code: str) -> bool:
        """Returns whether some calls are not the FIP's own."""
        place = self._places.get(fip_id)
        if place is None:
            return False
        return bool(self._counts[Field.TAKEN_OUT, CUSTOMER_CODES.index(code), place])

    def of(self, fip_id: str, code: str, health: Health) -> _Own:
        """Returns the own calls of an API; all of its calls where it was not judged."""
        place, hit = self._places.get(fip_id), (fip_id, code) in self._hit
        if place is None:
            failed = health.eligible - health.succeeded
            is_bad = health.status is Status.BAD and (hit or _is_slow(health) or _is_beyond(health))
            status = Status.BAD if is_bad else Status.GOOD
            return _Own(health.total, health.eligible, failed, status, in_part=False)
        at = CUSTOMER_CODES.index(code), place
        whole, in_part = self._counts[(slice(None), *at)], self.is_in_part(fip_id, code)
        is_broken = bool(self._below[at] and (hit or self._broken[at]))
        in_doubt = not hit and (fip_id, code) in self._in_doubt
        is_bad = is_broken or (not in_part and _is_slow(health))
        return _Own(
            int(whole[Field.TOTAL]),
            int(whole[Field.ELIGIBLE]),
            int(whole[Field.FAILED]),
            Status.UNSURE if is_broken and in_doubt else Status.BAD if is_bad else Status.GOOD,
            in_part=in_part,
        )


def _is_slow(health: Health) -> bool:
    """Returns whether the rule is broken by the times of calls alone."""
    succeeds = health.succeeded * 100 > health.eligible * GOOD_ABOVE_PERCENT
    return health.status is Status.BAD and succeeds


def _is_beyond(health: Health) -> bool:
    """Returns whether more calls fail than the rule allows, by more than chance."""
    failed = np.array([health.eligible - health.succeeded])
    return float(root(failed, np.array([health.eligible]))[0]) >= BAD_Z


def public_csv(rows: Iterable[PublicRow]) -> str:
    """Returns the same as CSV (RFC 4180) with a line of names; null is an empty field."""
    names = PublicRow.__struct_fields__
    return csv_text(names, ([getattr(row, name) for name in names] for row in rows))


def _disputed_row(fip_id: str, api: str, weighed: Weighed) -> PublicRow:
    success = percentage(weighed.success)
    return PublicRow(fip_id, api, weighed.status, weighed.total, success)


def _public_row(fip_id: str, api: str, health: Health, own: _Own, floor: PublicFloor) -> PublicRow:
    if own.total < floor.min_calls or not own.eligible:
        few = own.total > 0 or health.total > 0
        return PublicRow(fip_id, api, Status.UNSURE, too_few_calls=few)
    if own.in_part:
        success = percentage(share_of(own.eligible - own.failed, own.eligible))
        return PublicRow(fip_id, api, own.status, own.total, success)
    errors, time = health.errors, health.time
    return PublicRow(
        fip_id,
        api,
        own.status,
        health.total,
        percentage(health.success),
        percentage(share_of(errors.no_answer, health.total)),
        percentage(share_of(errors.server_5xx, health.total)),
        percentage(share_of(errors.not_found_404, health.total)),
        percentage(share_of(errors.other_4xx, health.total)),
        time.p50 if time else None,
        time.p95 if time else None,
        time.p99 if time else None,
    )
