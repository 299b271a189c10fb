"""The evidence of one window, as plain arrays over AAs and FIPs.

Built by the caller from the reports of one closed window. Indices of AAs and
FIPs are the caller's, and stay the same from window to window.
"""

from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.lanes import (
    CALL_APIS,
    FIP_STATUSES,
    TIMED_APIS,
    Flags,
    Floats,
)

WINDOWS_PER_HOUR: Final = 6
WINDOWS_PER_DAY: Final = 144
_FIRST_WEEKDAY: Final = 3  # 1 January 1970 was a Thursday
PERCENTILE_POINTS: Final = 4


class Evidence(Struct, frozen=True):
    """The evidence of one window's reports; arrays are indexed API first, then AA, then FIP."""

    window: int
    """Start of the window in seconds since 1970, divided by 600."""
    expected: Flags
    """AAs that were to report this window."""
    reported: Flags
    """AAs whose request metrics are in, also with `fips: []`; the others are gaps."""
    notified: Flags
    """AAs whose notification metrics are in: without them, none is missing."""
    late: Flags
    """AAs whose report came after its time: evidence like any other, but the agent was silent."""
    total: Floats
    """Calls by `CALL_APIS`: position 1 of the counts."""
    failed: Floats
    """5xx and no answer."""
    client_errors: Floats
    """4xx."""
    samples: Floats
    """Calls behind the percentiles, by `TIMED_APIS`."""
    percentiles: Floats
    """p50, p95, p99, p100 in milliseconds, on the last axis."""
    statuses: Floats
    """The seven values of `status` of finot, spec 2.6."""
    maintained_aas: Flags
    """In planned maintenance: no verdict, no baseline."""
    maintained_fips: Flags
    volumes_checked: bool = False
    """Whether reports of implausible volume were held when they were pushed, and those that are
    here were admitted by an operator: then none is left out for its volume."""

    @property
    def hour(self) -> int:
        """Hour of day, UTC."""
        return self.window // WINDOWS_PER_HOUR % 24

    @property
    def weekday(self) -> int:
        """0 is Monday, UTC."""
        return (self.window // WINDOWS_PER_DAY + _FIRST_WEEKDAY) % 7

    @property
    def aas(self) -> int:
        """Number of AAs."""
        return len(self.expected)

    @property
    def fips(self) -> int:
        """Number of FIPs."""
        return len(self.maintained_fips)

    @property
    def evaluated_cells(self) -> Flags:
        """AA x FIP cells with a report and outside maintenance."""
        aas = self.reported & ~self.maintained_aas
        return np.asarray(aas[:, None] & ~self.maintained_fips[None, :])


def empty_evidence(window: int, aas: int, fips: int, *, volumes_checked: bool = False) -> Evidence:
    """A window in which all AAs reported and no one called; fill its arrays in place."""
    calls = (len(CALL_APIS), aas, fips)
    timed = (len(TIMED_APIS), aas, fips)
    return Evidence(
        window=window,
        expected=np.ones(aas, np.bool_),
        reported=np.ones(aas, np.bool_),
        notified=np.ones(aas, np.bool_),
        late=np.zeros(aas, np.bool_),
        total=np.zeros(calls, np.float32),
        failed=np.zeros(calls, np.float32),
        client_errors=np.zeros(calls, np.float32),
        samples=np.zeros(timed, np.float32),
        percentiles=np.zeros((*timed, PERCENTILE_POINTS), np.float32),
        statuses=np.zeros((FIP_STATUSES, aas, fips), np.float32),
        maintained_aas=np.zeros(aas, np.bool_),
        maintained_fips=np.zeros(fips, np.bool_),
        volumes_checked=volumes_checked,
    )
