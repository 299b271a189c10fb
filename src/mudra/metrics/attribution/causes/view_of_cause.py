"""A known cause as others see it."""

from typing import Final

import numpy as np

from mudra.metrics.attribution.causes.active import Active, View, bad_apis
from mudra.metrics.attribution.causes.cause import Cause, CauseStatus

_SHOWN: Final = 1.0


def cause_of(one: Active, view: View, status: CauseStatus, absorbed: tuple[int, ...] = ()) -> Cause:
    """The cause with this window's evidence."""
    return Cause(
        number=one.number,
        locus=one.locus,
        symptoms=tuple(sorted(one.symptoms)),
        since=one.since,
        status=status,
        calls=view.counted.calls,
        failures=view.counted.failures,
        expected=view.counted.expected,
        strength=one.strength,
        affected_aas=tuple(int(aa) for aa in np.flatnonzero(one.part_aa > _SHOWN)),
        affected_fips=tuple(int(fip) for fip in np.flatnonzero(one.part_fip > _SHOWN)),
        affected_apis=bad_apis(one),
        ambiguous_with=one.ambiguous_with,
        earlier=one.earlier,
        of_heartbeats=view.counted.of_heartbeats,
        absorbed=absorbed,
    )
