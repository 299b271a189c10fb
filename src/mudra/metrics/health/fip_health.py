"""The statements of feed and public status about a FIP's APIs, over all AAs."""

from collections.abc import Container, Iterable, Mapping
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import NO_CALLS, NO_OUTCOMES, FiOutcomes, Health
from mudra.metrics.payload.catalogue import FEED_APIS, NotificationType, RequestType
from mudra.metrics.sums.rollup import ResponseTime

APIS_SHOWN: Final = {name: one for name, one in FEED_APIS.items() if isinstance(one, RequestType)}
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
        return self.apis.get(code, NO_CALLS)


def published(
    seen: Mapping[str, FipHealth], live: Iterable[str], onboarded: Container[str]
) -> Mapping[str, FipHealth]:
    """Returns the health of the live FIPs, and of onboarded ones with calls."""
    with_calls = {fip_id: one for fip_id, one in seen.items() if fip_id in onboarded}
    return dict.fromkeys(live, NOTHING_REPORTED) | with_calls


NOTHING_REPORTED: Final = FipHealth({}, NO_OUTCOMES, None)
