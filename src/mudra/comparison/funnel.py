"""The consent and data funnel: seven steps from discovery to fetched data, and what is lost.

The two payloads count calls, not people, and nothing joins a call of one step to one of the next,
but for an FI request, whose outcome is counted (spec 2.5). So each step has the calls of its own
that went on and those that were lost; between steps there is a ratio, no loss. Pure.
"""

import enum
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import NO_CALLS, NO_OUTCOMES, ErrorDetails, FiOutcomes, Health
from mudra.metrics.health.judging import health_of, outcomes_of
from mudra.metrics.payload.catalogue import NotificationType, RequestType, Tag
from mudra.metrics.rollup.coverage import Proof
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.metrics.sums.totals import Totals

MIN_CALLS: Final = 100
"""Calls of a step below which its share says little: it is never the one that leaks."""
_CHANCE: Final = 3.1
"""Standard deviations that chance alone exceeds once in a thousand times."""


class Stage(enum.StrEnum):
    """The steps, in their order."""

    DISCOVERY = "discovery"
    LINKING = "linking"
    CONFIRM_LINKING = "confirm_linking"
    CONSENT = "consent"
    FI_REQUEST = "fi_request"
    DATA_READY = "data_ready"
    FI_FETCH = "fi_fetch"


TYPE_OF: Final[Mapping[Stage, RequestType]] = {
    Stage.DISCOVERY: RequestType.ACCOUNT_DISCOVERY,
    Stage.LINKING: RequestType.ACCOUNT_LINK,
    Stage.CONFIRM_LINKING: RequestType.ACCOUNT_LINK_VERIFY,
    Stage.CONSENT: RequestType.CONSENT,
    Stage.FI_REQUEST: RequestType.FI_REQUEST,
    Stage.FI_FETCH: RequestType.FI_FETCH,
}
"""The type that counts the calls of a step; data ready has two, which are outcomes."""
CODES: Final = frozenset((*TYPE_OF.values(), RequestType.FI_READY_TIME, RequestType.FI_FAILED_TIME))


class StepOfFunnel(Struct, frozen=True, gc=False):
    """One step: how many begun, and what became of each of them.

    Begun are calls; of data ready, FI requests whose outcome came in this time.
    """

    stage: Stage
    begun: int
    done: int
    not_found: int
    """404: of a discovery an ordinary answer, that the customer has no account here."""
    refused: int
    """Other 4xx."""
    failed: int
    """5xx; of data ready, FI requests of which every account was denied or timed out."""
    unanswered: int

    @property
    def lost(self) -> int:
        """Returns what was begun and not done, without 404."""
        return self.begun - self.done - self.not_found

    @property
    def done_share(self) -> float | None:
        """The share that was done, from 0 to 1; None of nothing."""
        return share_of(self.done, self.begun)

    @property
    def lost_share(self) -> float | None:
        """The share that was lost, from 0 to 1; None of nothing."""
        return share_of(self.lost, self.begun)


class Funnel(Struct, frozen=True):
    """The steps of one AA, FIP or pair in one time; an empty ID means all."""

    aa_id: str
    fip_id: str
    start: datetime
    end: datetime
    steps: tuple[StepOfFunnel, ...]
    outcomes: FiOutcomes
    """What the last notifications of FI requests said (spec 2.6)."""
    proof: Proof

    def step(self, stage: Stage) -> StepOfFunnel:
        """Returns one step."""
        return self.steps[_PLACES[stage]]

    def ratio(self, stage: Stage) -> float | None:
        """Returns what this step began for each that the step before did; None for none done."""
        place = _PLACES[stage]
        before = self.steps[place - 1].done if place else 0
        return self.steps[place].begun / before if before else None

    @property
    def undecided(self) -> int:
        """FI requests accepted in this time less those decided in it; below 0 when more were."""
        return self.step(Stage.FI_REQUEST).done - self.step(Stage.DATA_READY).begun

    @property
    def leak(self) -> Stage | None:
        """The step that loses the largest share of what it begins; None where none loses any.

        Steps of fewer than 100 calls are left out.
        """
        losing = [one for one in self.steps if one.begun >= MIN_CALLS and one.lost > 0]
        worst = max(losing, key=lambda one: one.lost_share or 0.0, default=None)
        return worst.stage if worst else None


class Above(Struct, frozen=True):
    """The step that loses most above another funnel, by so many percentage points."""

    stage: Stage
    points: float


def furthest(one: Funnel, whole: Funnel) -> Above | None:
    """Returns the step that loses most above `whole`; None where none does by more than chance.

    Steps of fewer than 100 calls are left out. Points are the difference of the two shares as pages
    show them, so that a reader who subtracts finds the same.
    """
    found = [
        Above(mine.stage, round((percentage(mine.lost_share, 1) or 0.0) - usual, 1))
        for mine in one.steps
        if mine.begun >= MIN_CALLS
        if (usual := percentage(whole.step(mine.stage).lost_share, 1)) is not None
        if _is_beyond(mine, whole.step(mine.stage))
    ]
    return max((each for each in found if each.points > 0), key=_points, default=None)


def _points(one: Above) -> float:
    return one.points


def _is_beyond(mine: StepOfFunnel, whole: StepOfFunnel) -> bool:
    """Returns whether a step loses more than chance makes of the share that `whole` loses."""
    share = whole.lost_share or 0.0
    expected = mine.begun * share
    return mine.lost - expected > _CHANCE * math.sqrt(expected * (1 - share))


_PLACES: Final = {stage: place for place, stage in enumerate(Stage)}
_Key = tuple[str, str]


class Counted(Struct, frozen=True):
    """The steps of one subject, before its reports are known."""

    aa_id: str
    fip_id: str
    steps: tuple[StepOfFunnel, ...]
    outcomes: FiOutcomes


def counted(totals: Totals, *keys: str) -> Sequence[Counted]:
    """Returns the funnel of each AA, FIP or pair (`keys` of the sums), in their order.

    Without keys that of all together, with or without a call.
    """
    sums = Totals(totals.sums.without_times(), totals.ids).by(*keys, "type")
    requests: dict[_Key, dict[str, Health]] = {}
    outcomes: dict[_Key, FiOutcomes] = {}
    names = zip(sums.aa_ids(), sums.fip_ids(), sums.tags(), sums.codes(), strict=True)
    for (aa_id, fip_id, tag, code), health, outcome in zip(
        names, health_of(sums), outcomes_of(sums.cells), strict=True
    ):
        mine = requests.setdefault((aa_id, fip_id), {})
        if tag is Tag.REQUESTS:
            mine[code] = health
        elif code == NotificationType.FI:
            outcomes[aa_id, fip_id] = outcome
    if not keys:
        requests.setdefault(("", ""), {})
    return [
        Counted(*key, _steps(health), outcomes.get(key, NO_OUTCOMES))
        for key, health in sorted(requests.items())
        if not keys or health.keys() & CODES
    ]


def _steps(health: Mapping[str, Health]) -> tuple[StepOfFunnel, ...]:
    ready, failed = (
        health.get(code, NO_CALLS).total
        for code in (RequestType.FI_READY_TIME, RequestType.FI_FAILED_TIME)
    )
    decided = StepOfFunnel(Stage.DATA_READY, ready + failed, ready, 0, 0, failed, 0)
    return tuple(
        _step(stage, health.get(TYPE_OF[stage], NO_CALLS)) if stage in TYPE_OF else decided
        for stage in Stage
    )


def _step(stage: Stage, health: Health) -> StepOfFunnel:
    errors: ErrorDetails = health.errors
    return StepOfFunnel(
        stage,
        health.total,
        health.succeeded,
        errors.not_found_404,
        errors.other_4xx,
        errors.server_5xx,
        errors.no_answer,
    )
