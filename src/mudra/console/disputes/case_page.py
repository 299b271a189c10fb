"""Parts that both pages of one dispute share: its facts, its files, and the refusal of a form."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from mudra.console.disputes.labels import ACTS, EFFECTS, SIDES, STATES
from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome
from mudra.disputes.dispute import Case, Dispute, Side
from mudra.disputes.dispute_service import DisputeService
from mudra.disputes.evidence import MAX_FILES
from mudra.disputes.step_rule import MAX_TEXT, possible
from mudra.metrics.health.api_names import api_names
from mudra.shared.refusal import Refusal

_DOWNLOADED: Final = "application/octet-stream"
"""Whatever a file is, a browser gets nothing that it would show or run."""


class RefusedForm(Struct, frozen=True):
    """A form that was not carried out: which, why, and what was typed."""

    form: str = ""
    problem: str = ""
    status: int = 200
    typed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, form: str, refusal: Refusal, typed: Mapping[str, str]) -> "RefusedForm":
        """Return the form with why it was refused."""
        problem = page_problem(refusal)
        return cls(form, refusal_text(refusal), problem.status, typed)


def case_facts(
    page_context: PageContext, case: Case, by: Side, refused: RefusedForm, title: str
) -> dict[str, object]:
    """Return what a page of one dispute shows, with the steps that its side may take now."""
    one = case.dispute
    return {
        "one": one,
        "title": title,
        "state": STATES[one.state],
        "steps": case.steps,
        "acts": ACTS,
        "sides": SIDES,
        "effects": EFFECTS,
        "files": case.evidence,
        "more_files": len(case.evidence) < MAX_FILES,
        "corrections": [
            (correction, api_names(correction.api) if correction.api else "")
            for correction in case.corrections
        ],
        "possible": {act.value for act in possible(one, by, page_context.now)},
        "overdue": one.is_overdue(page_context.now),
        "refused": refused,
        "max_text": MAX_TEXT,
    }


async def download_of(page_context: PageContext, one: Dispute, evidence_id: str) -> Outcome:
    """Return a file to be downloaded; the reading is audited."""
    read = await page_context.tx.service(DisputeService).read(one, evidence_id, page_context.caller)
    if isinstance(read, Refusal):
        return read
    evidence, content = read
    return Download(evidence.name, _DOWNLOADED, content)
