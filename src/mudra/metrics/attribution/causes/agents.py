"""Silent agents: AAs whose reports do not come."""

from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.causes.active import Active, new_active
from mudra.metrics.attribution.causes.cause import ENDINGS, Cause, CauseStatus, Kind, Locus
from mudra.metrics.attribution.causes.closing import SILENT_CLOSE_AFTER
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import Floats, Symptom

OPEN_AFTER: Final = 2
"""Missing windows in a row; one alone is a blip."""
_NATS_PER_WINDOW: Final = 7.0
"""About one report in a thousand is lost by chance."""


class Agents(Struct, frozen=True):
    """The silent agents after this window."""

    known: tuple[Active, ...]
    causes: tuple[Cause, ...]
    next_number: int


def follow_agents(
    evidence: Evidence, known: tuple[Active, ...], silent: Floats, next_number: int
) -> tuple[Agents, Floats]:
    """Open a cause for each AA that missed windows in a row, and end those that report again.

    That of an AA that need not report any more ends for want of data.
    """
    in_time = evidence.reported & ~evidence.late
    missing = evidence.expected & ~in_time & ~evidence.maintained_aas
    silent = np.where(missing, silent + 1.0, 0.0).astype(np.float32)
    still: list[Active] = []
    causes: list[Cause] = []
    agents = {one.locus.aa: one for one in known if one.locus.kind is Kind.AGENT}
    for aa in range(evidence.aas):
        one = agents.get(aa)
        if one is None:
            if silent[aa] < OPEN_AFTER:
                continue
            since = evidence.window - int(silent[aa]) + 1
            one = new_active(
                next_number, Locus(Kind.AGENT, aa), Symptom.MISSING, since,
                evidence.window, evidence.aas, evidence.fips,
            )  # fmt: skip
            next_number += 1
            status = CauseStatus.NEW
            earlier = tuple(range(since, evidence.window))
            one = replace(one, strength=_NATS_PER_WINDOW * float(silent[aa]), earlier=earlier)
        elif missing[aa]:
            status = CauseStatus.BAD
            one = replace(one, good=0, earlier=(), strength=one.strength + _NATS_PER_WINDOW)
        elif not evidence.expected[aa]:
            status = CauseStatus.NO_DATA
        else:
            one = replace(one, good=one.good + int(in_time[aa]))
            status = CauseStatus.RECOVERED if one.good >= SILENT_CLOSE_AFTER else CauseStatus.GOOD
        causes.append(_cause(one, status, missing=bool(missing[aa])))
        if status not in ENDINGS:
            still.append(one)
    return Agents(tuple(still), tuple(causes), next_number), silent


def _cause(one: Active, status: CauseStatus, *, missing: bool) -> Cause:
    return Cause(
        one.number, one.locus, (Symptom.MISSING,), one.since, status,
        calls=1.0, failures=float(missing), expected=0.0, strength=one.strength,
        affected_aas=(one.locus.aa,), affected_fips=(), affected_apis=(), earlier=one.earlier,
    )  # fmt: skip
