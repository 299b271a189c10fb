"""FIPs that fell at once: one headline with its members, and the provider that serves them all."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.incidents.incident import Ending, Incident
from mudra.metrics.incidents.subject import fip_of
from mudra.metrics.payload.catalogue import WINDOW

MIN_FIPS: Final = 3
"""Two may fall in one window by chance."""


class AtOnce(Struct, frozen=True):
    """FIPs whose incidents began in one window or the next; `provider` is the GSP of all."""

    began: datetime
    incident_ids: tuple[str, ...]
    fips: tuple[str, ...]
    provider: str = ""

    @property
    def text(self) -> str:
        """Return the headline, in the current language."""
        if self.provider:
            return gettext(
                "%(count)s FIPs at once, all served by %(provider)s",
                count=len(self.fips),
                provider=self.provider,
            )
        return gettext("%(count)s FIPs at once", count=len(self.fips))


def at_once(incidents: Mapping[str, Incident], providers: Mapping[str, str]) -> Sequence[AtOnce]:
    """Returns the groups among incidents, by ID; `providers` has the GSP of each FIP with one.

    A window later is still at once: a small FIP shows less in the first. Slow calls and failures
    are no group.
    """
    found = []
    for failing in (True, False):
        left = sorted(
            (one.began, name)
            for name, one in incidents.items()
            if one.failing is failing and _counts(one)
        )
        while left:
            began = left[0][0]
            names = [name for at, name in left if at <= began + WINDOW]
            left = left[len(names) :]
            fips = {fip_of(incidents[name].subject) or "" for name in names}
            if len(fips) >= MIN_FIPS:
                of_all = {providers.get(fip, "") for fip in fips}
                provider = of_all.pop() if len(of_all) == 1 else ""
                found.append(AtOnce(began, tuple(names), tuple(sorted(fips)), provider))
    return found


def _counts(incident: Incident) -> bool:
    is_one = incident.ending not in {Ending.WITHDRAWN, Ending.MERGED}
    return is_one and not incident.refused and fip_of(incident.subject) is not None
