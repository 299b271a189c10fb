"""Silent agents: AAs whose reports do not come."""

from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.active import Active, new_active
from mudra.metrics.attribution.cause import Cause, Kind, Locus, Standing
from mudra.metrics.attribution.evidence import Evidence
from mudra.metrics.attribution.lanes import Floats, Symptom

OPEN_AFTER: Final = 2
"""Missing windows in a row; one alone is a blip."""
CLOSE_AFTER: Final = 2
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
    """Open a cause for each AA that missed windows in a row, and end those that report again."""
    missing = evidence.expected & ~evidence.reported & ~evidence.maintained_aas
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
            standing = Standing.NEW
            one = replace(one, strength=_NATS_PER_WINDOW * float(silent[aa]))
        elif missing[aa]:
            standing = Standing.BAD
            one = replace(one, good=0, strength=one.strength + _NATS_PER_WINDOW)
        else:
            one = replace(one, good=one.good + int(evidence.reported[aa]))
            standing = Standing.RECOVERED if one.good >= CLOSE_AFTER else Standing.GOOD
        causes.append(_cause(one, standing, missing=bool(missing[aa])))
        if standing is not Standing.RECOVERED:
            still.append(one)
    return Agents(tuple(still), tuple(causes), next_number), silent


def _cause(one: Active, standing: Standing, *, missing: bool) -> Cause:
    return Cause(
        one.number, one.locus, (Symptom.MISSING,), one.since, standing,
        calls=1.0, failures=float(missing), expected=0.0, strength=one.strength,
        affected_aas=(one.locus.aa,), affected_fips=(), affected_apis=(),
    )  # fmt: skip
