"""The texts of disputes on pages."""

from collections.abc import Iterable, Mapping
from typing import Final

from mudra.console.framework.render import day_text
from mudra.disputes.dispute import About, Act, Dispute, Kind, Side, State
from mudra.disputes.raise_rule import days_within
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.incident import AaApi, FipApi, Incident, Path
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import text_of
from mudra.metrics.notifications.alarm import symptom_text
from mudra.storage.database.transaction import Transaction

STATES: Final = {
    State.NOTED: (translatable("published"), "quiet"),
    State.RAISED: (translatable("raised"), "warn"),
    State.UNDER_REVIEW: (translatable("under review"), "warn"),
    State.INFORMATION_WANTED: (translatable("more information wanted"), "warn"),
    State.ACCEPTED: (translatable("accepted"), "good"),
    State.PARTLY_ACCEPTED: (translatable("partly accepted"), "good"),
    State.REJECTED: (translatable("rejected"), "bad"),
    State.WITHDRAWN: (translatable("withdrawn"), "quiet"),
    State.LAPSED: (translatable("lapsed"), "quiet"),
}
"""The text of each state, and its tone."""
ACTS: Final = {
    Act.RAISE: translatable("disputed it"),
    Act.COMMENT: translatable("commented on it"),
    Act.INFORM: translatable("added to the statement"),
    Act.ATTACH: translatable("attached a file"),
    Act.WITHDRAW: translatable("withdrew it"),
    Act.REVIEW: translatable("took it for review"),
    Act.ASK: translatable("asked for more information"),
    Act.ANSWER: translatable("answered"),
    Act.ACCEPT: translatable("accepted it"),
    Act.ACCEPT_PARTLY: translatable("accepted a part of it"),
    Act.REJECT: translatable("rejected it"),
    Act.REOPEN: translatable("reopened it"),
    Act.LAPSE: translatable("ended it: the question was not answered in time"),
    Act.OVERDUE: translatable("noted that the operator is late"),
}
SIDES: Final = {
    Side.OPERATOR: translatable("The operator"),
    Side.SERVICE: translatable("The service"),
}
EFFECTS: Final = {
    "left_out": translatable("left out of the figures"),
    "not_against_member": translatable("failures not counted against the member"),
}


async def contested_incidents(tx: Transaction, found: Iterable[Dispute]) -> Mapping[str, Incident]:
    """Return the incidents that disputes are about, by the ID of the dispute."""
    about = {one.dispute_id: one.incident_id for one in found if one.incident_id}
    stored = await tx.service(IncidentService).of_ids(set(about.values()))
    incidents = {one.incident_id: one.incident for one in stored}
    return {of: incidents[one] for of, one in about.items() if one in incidents}


def _what_failed(incident: Incident, names: Mapping[str, str]) -> str:
    """Return the API and the figure: whose they are is clear from the dispute."""
    symptom = symptom_text(incident)
    match incident.subject:
        case FipApi(_, code) | AaApi(_, code):
            return f"{api_names(code)}, {symptom}"
        case Path():
            return f"{text_of(incident.subject, names)}, {symptom}"
    return symptom


def title_of(one: Dispute, incident: Incident | None, names: Mapping[str, str]) -> str:
    """Return the heading of a dispute, in the current language; `incident` is what it is about.

    Two disputes of one day differ by what failed. The time of an incident is written next to it.
    """
    if incident is not None:
        failed = _what_failed(incident, names)
        return failed if one.kind is Kind.DISPUTE else gettext(_COMMENT, incident=failed)
    first, last = (day_text(each) for each in days_within(one.start, one.end))
    days = first if first == last else gettext("%(first)s to %(last)s", first=first, last=last)
    apis = api_names(",".join(one.apis)) if one.apis else ""
    return gettext(_TITLES[one.kind, one.about], days=days, apis=apis)


_TITLES: Final[Mapping[tuple[Kind, About], str]] = {
    (Kind.DISPUTE, About.DAY): translatable("Dispute of the day %(days)s"),
    (Kind.DISPUTE, About.LINE): translatable("Dispute of %(apis)s, %(days)s"),
    (Kind.DISPUTE, About.INCIDENT): translatable("Dispute of an incident, %(days)s"),
    (Kind.COMMENT, About.DAY): translatable("Comment on the day %(days)s"),
    (Kind.COMMENT, About.LINE): translatable("Comment on %(apis)s, %(days)s"),
    (Kind.COMMENT, About.INCIDENT): translatable("Comment on an incident, %(days)s"),
}

_COMMENT: Final = translatable("Comment: %(incident)s")

_REFUSALS: Final = (
    translatable("no dispute of this ID"),
    translatable("no file of this ID at this dispute"),
    translatable("10 disputes of this member are open: withdraw one, or wait for a decision"),
    translatable("20 comments and disputes of this member were made in 24 hours: try again later"),
    translatable("a dispute has at most 200 steps: raise another one"),
    translatable(
        "a dispute has at most 5 files: join them into one, or name where they can be had"
    ),
    translatable("a member attaches at most 20 files in 24 hours: attach it later"),
    translatable("day must be a day that is over (IST)"),
    translatable("lastDay must not be earlier than firstDay"),
    translatable("incidentId is missing: the ID of an incident of this member"),
    translatable("day ended more than 62 days ago: it can no longer be contested"),
    translatable("text must be 1 to 4000 characters, without control ones but line ends"),
)
"""Texts of the API that a member can meet on these pages: `page_problem` translates them."""
