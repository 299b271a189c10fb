"""Funnels as JSON and CSV; a share of nothing is null, never 0."""

from collections.abc import Iterable

from msgspec import Struct, field

from mudra.comparison.funnel import Funnel, StepOfFunnel
from mudra.http.response.health_responses import ProofDetails, proof_details
from mudra.http.response.response_body import ResponseBody
from mudra.metrics.health.health import FiOutcomes
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.text.csv_file import csv_text
from mudra.shared.time_text import iso_ms


class StepDetails(Struct, rename="camel", gc=False):
    """One step: calls begun, and what became of them; of `data_ready`, FI requests decided."""

    step: str
    begun: int
    done: int
    not_found_404: int = field(name="notFound404")
    refused_4xx: int = field(name="other4xx")
    failed: int
    no_answer: int
    done_share: float | None
    """Done of begun, from 0 to 1."""
    per_done_before: float | None
    """Begun for each that the step before did: a ratio of calls, no share of people."""


class FunnelDetails(Struct, rename="camel"):
    """The funnel of one subject in one time; an empty ID means all."""

    aa_id: str
    fip_id: str
    start: str = field(name="from")
    end: str = field(name="to")
    steps: list[StepDetails]
    undecided: int
    """FI requests accepted in this time less those decided in it; negative when more were."""
    leak: str | None
    """The step that loses the largest share, 404 left out, of those with 100 calls at least."""
    fi_requests: FiOutcomes
    proof: ProofDetails


class FunnelsResponse(ResponseBody, kw_only=True):
    """Funnels, each with the reports that it is made of."""

    start: str = field(name="from")
    end: str = field(name="to")
    funnels: list[FunnelDetails]


def funnels_response(within: TimeRange, found: Iterable[Funnel]) -> FunnelsResponse:
    """Return funnels as the wire has them."""
    return FunnelsResponse(
        start=iso_ms(within.start),
        end=iso_ms(within.end),
        funnels=[_funnel(one) for one in found],
    )


def funnels_as_csv(found: Iterable[Funnel]) -> str:
    """Return one line for each subject, time and step (RFC 4180)."""
    return csv_text(
        _CSV,
        (
            [
                *(iso_ms(funnel.start), iso_ms(funnel.end), funnel.aa_id, funnel.fip_id),
                *(step.stage.value, step.begun, step.done, step.not_found, step.refused),
                *(step.failed, step.unanswered, step.done_share, funnel.ratio(step.stage)),
                *(funnel.proof.windows_received, funnel.proof.windows_expected),
            ]
            for funnel in found
            for step in funnel.steps
        ),
    )


_CSV = [
    *("from", "to", "aaId", "fipId", "step", "begun", "done", "notFound404", "other4xx"),
    *("failed", "noAnswer", "doneShare", "perDoneBefore", "windowsHeard", "windowsExpected"),
]


def _funnel(one: Funnel) -> FunnelDetails:
    return FunnelDetails(
        one.aa_id,
        one.fip_id,
        iso_ms(one.start),
        iso_ms(one.end),
        [_step(one, step) for step in one.steps],
        one.undecided,
        one.leak.value if one.leak else None,
        one.outcomes,
        proof_details(one.proof),
    )


def _step(funnel: Funnel, one: StepOfFunnel) -> StepDetails:
    return StepDetails(
        one.stage.value,
        one.begun,
        one.done,
        one.not_found,
        one.refused,
        one.failed,
        one.unanswered,
        one.done_share,
        funnel.ratio(one.stage),
    )
