"""What feed and public status tell of a FIP's APIs, over all AAs."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from mudra.metrics.health.health import FiOutcomes, Health, fi_outcomes, health_of_calls
from mudra.metrics.payload.catalogue import NotificationType, RequestType, Tag
from mudra.metrics.sums.rollup import EMPTY, ResponseTime

if TYPE_CHECKING:
    from mudra.metrics.sums.totals import Totals

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


class FipHealth(Struct, frozen=True):
    """The health of one FIP over all AAs."""

    apis: Mapping[str, Health]
    """By type code, of those with calls."""
    outcomes: FiOutcomes
    ready: ResponseTime | None
    """From FI request to data ready; None where nothing became ready."""

    def of(self, code: str) -> Health:
        """Returns the health of one type of request."""
        return self.apis.get(code, _NO_CALLS)


def health_of_fips(totals: "Totals") -> Mapping[str, FipHealth]:
    """Returns the health of each FIP, of sums over all AAs."""
    apis: dict[str, dict[str, Health]] = defaultdict(dict)
    outcomes: dict[str, FiOutcomes] = {}
    ready: dict[str, ResponseTime | None] = {}
    for cell, sums in totals.items():
        of_fip = apis[cell.fip_id]
        if cell.tag is Tag.NOTIFICATIONS:
            if cell.type == NotificationType.FI:
                outcomes[cell.fip_id] = fi_outcomes(sums)
        elif cell.type == RequestType.FI_READY_TIME:
            ready[cell.fip_id] = sums.time
        elif cell.type in REQUESTS_SHOWN:
            of_fip[cell.type] = health_of_calls(sums)
    return {
        fip_id: FipHealth(of_fip, outcomes.get(fip_id, _NO_OUTCOMES), ready.get(fip_id))
        for fip_id, of_fip in apis.items()
    }


def published(
    seen: Mapping[str, FipHealth], live: Iterable[str], onboarded: Container[str]
) -> Mapping[str, FipHealth]:
    """Returns the health of the live FIPs, and of onboarded ones with calls."""
    with_calls = {fip_id: one for fip_id, one in seen.items() if fip_id in onboarded}
    return dict.fromkeys(live, NOTHING_REPORTED) | with_calls


_NO_CALLS: Final = health_of_calls(EMPTY)
_NO_OUTCOMES: Final = fi_outcomes(EMPTY)
NOTHING_REPORTED: Final = FipHealth({}, _NO_OUTCOMES, None)
