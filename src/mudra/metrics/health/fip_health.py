"""What feed and public status tell of a FIP's APIs, over all AAs."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import FiOutcomes, Health, fi_outcomes, health_of_calls
from mudra.metrics.payload.catalogue import NotificationType, RequestType, Tag
from mudra.metrics.rollup.percentile import ResponseTime, response_time
from mudra.metrics.rollup.rollup import EMPTY, Cell, Rollup

APIS_SHOWN: Final = {
    "discovery": RequestType.ACCOUNT_DISCOVERY,
    "linking": RequestType.ACCOUNT_LINK,
    "confirm_linking": RequestType.ACCOUNT_LINK_VERIFY,
    "consent": RequestType.CONSENT,
    "fi_request": RequestType.FI_REQUEST,
    "fi_fetch": RequestType.FI_FETCH,
}
"""By the name that feed and public status give them."""

REQUESTS_SHOWN: Final = tuple(code.value for code in APIS_SHOWN.values())
"""The types of request that feed and public status show."""

TYPES_READ: Final = (*REQUESTS_SHOWN, RequestType.FI_READY_TIME.value, NotificationType.FI.value)
"""The types that a FIP's health is made of."""

FipRows = Mapping[tuple[Tag, str], Rollup]
"""Sums of one FIP over all AAs, by tag and type code."""


class FipHealth(Struct, frozen=True):
    """The health of one FIP over all AAs.

    Each worker keeps it of all FIPs, so it is without the distributions that it is made of:
    those are fifteen times as large.
    """

    apis: Mapping[str, Health]
    """By type code, of those with calls."""
    outcomes: FiOutcomes
    ready: ResponseTime | None
    """From FI request to data ready."""

    def of(self, code: str) -> Health:
        """Returns the health of one type of request."""
        return self.apis.get(code, _NO_CALLS)


def fip_health(rows: FipRows) -> FipHealth:
    """Returns the health of one FIP."""
    return FipHealth(
        {
            code: health_of_calls(rows[Tag.REQUESTS, code])
            for code in REQUESTS_SHOWN
            if (Tag.REQUESTS, code) in rows
        },
        fi_outcomes(rows.get((Tag.NOTIFICATIONS, NotificationType.FI), EMPTY)),
        response_time(rows.get((Tag.REQUESTS, RequestType.FI_READY_TIME), EMPTY).times),
    )


def health_of_fips(totals: Mapping[Cell, Rollup]) -> Mapping[str, FipHealth]:
    """Returns the health of each FIP of these sums over all AAs."""
    rows: dict[str, dict[tuple[Tag, str], Rollup]] = defaultdict(dict)
    for cell, sums in totals.items():
        rows[cell.fip_id][cell.tag, cell.type] = sums
    return {fip_id: fip_health(of_one) for fip_id, of_one in rows.items()}


def published(
    seen: Mapping[str, FipHealth], live: Iterable[str], onboarded: Container[str]
) -> Mapping[str, FipHealth]:
    """Returns the health of the live FIPs, and of onboarded ones with calls."""
    with_calls = {fip_id: one for fip_id, one in seen.items() if fip_id in onboarded}
    return dict.fromkeys(live, NOTHING_REPORTED) | with_calls


_NO_CALLS: Final = health_of_calls(EMPTY)
NOTHING_REPORTED: Final = fip_health({})
