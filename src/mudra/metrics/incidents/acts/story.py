"""The story of an incident in the order of time: what the evidence showed, and what people did."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext, translatable
from mudra.metrics.incidents.acts.act import Act, ActKind
from mudra.metrics.incidents.incident import Ending, StoredIncident
from mudra.metrics.incidents.silence import Silence

_FIRST: Final = {
    "bad": translatable("first bad window"),
    "missing": translatable("first missing window"),
}
_TEXTS: Final = {
    ActKind.COMMENT: translatable("commented"),
    ActKind.CLOSE: translatable("closed it by hand"),
    ActKind.REOPEN: translatable("reopened it by hand"),
    ActKind.POST_MORTEM: translatable("wrote the post-mortem"),
}


class StoryLine(Struct, frozen=True):
    """One line. `by` is who did it, empty for the service; `note` what they wrote.

    `until` is the end of what it says, where that was fixed.
    """

    at: datetime
    text: str
    by: str = ""
    note: str = ""
    until: datetime | None = None


def story_of(
    stored: StoredIncident,
    changes: Iterable[tuple[datetime, str]],
    acts: Iterable[Act],
    silences: Iterable[Silence],
    now: datetime,
) -> Sequence[StoryLine]:
    """Returns all lines, the oldest first; `changes` are those of the evidence, with their texts.

    Post-mortems are left out but for who wrote them: the page has the text.
    """
    incident = stored.incident
    lines = [StoryLine(incident.began, gettext(_FIRST[incident.kind]))]
    changed = [StoryLine(at, text) for at, text in changes]
    lines += changed
    is_late = incident.detected > incident.last_bad or not incident.timeline
    if is_late and incident.detected not in {one.at for one in changed}:
        lines.append(StoryLine(incident.detected, gettext("detected")))
    if incident.ended is not None and incident.ending is Ending.RECOVERED:
        lines.append(StoryLine(incident.ended, gettext("good again")))
    if stored.escalated_at is not None:
        lines.append(StoryLine(stored.escalated_at, gettext("escalated: it had no owner")))
    lines += [_line(act) for act in acts]
    for one in silences:
        if one.is_about(incident.subject) and _overlaps(one, stored, now):
            lines += _silence_lines(one, now)
    if _bad_after_close(stored):
        lines.append(StoryLine(incident.last_bad, gettext("bad again after it was closed: open")))
    return sorted(lines, key=lambda line: line.at)


def post_mortem_of(acts: Iterable[Act]) -> Act | None:
    """Returns the act with the text that counts; None before the first."""
    return max(
        (one for one in acts if one.kind is ActKind.POST_MORTEM),
        key=lambda one: one.at,
        default=None,
    )


def hand_over_of(acts: Iterable[Act]) -> Act | None:
    """Returns the latest hand-over; None for none."""
    return max(
        (one for one in acts if one.kind is ActKind.HAND_OVER),
        key=lambda one: one.at,
        default=None,
    )


def _line(act: Act) -> StoryLine:
    match act.kind:
        case ActKind.ASSIGN if act.owner == act.actor:
            text = gettext("took it")
        case ActKind.ASSIGN:
            text = (
                gettext("assigned it to %(owner)s", owner=act.owner_name)
                if act.owner
                else gettext("gave it up: no owner")
            )
        case ActKind.HAND_OVER:
            text = (
                gettext("handed it over to %(owner)s", owner=act.owner_name)
                if act.owner_name
                else gettext("handed it over to the next shift")
            )
        case ActKind.CLOSE if act.owner:
            text = gettext("closed it by hand, and owns it now")
        case _:
            text = gettext(_TEXTS[act.kind])
    note = "" if act.kind is ActKind.POST_MORTEM else act.text
    return StoryLine(act.at, text, act.by, note)


def _overlaps(silence: Silence, stored: StoredIncident, now: datetime) -> bool:
    incident = stored.incident
    end = incident.ended if incident.ended is not None and not stored.is_open else now
    return silence.has_time and silence.begins <= end and silence.ends >= incident.began


def _silence_lines(one: Silence, now: datetime) -> list[StoryLine]:
    what = gettext("planned maintenance") if one.maintenance else gettext("alerts silenced")
    by, until = one.made_by.removeprefix("operator:"), None if one.ended_by else one.ends
    lines = [StoryLine(one.begins, what, by, one.reason, until)]
    if one.ends <= now:
        by = one.ended_by.removeprefix("operator:")
        lines.append(StoryLine(one.ends, gettext("silence ended"), by))
    return lines


def _bad_after_close(stored: StoredIncident) -> bool:
    decided = stored.decided_at
    closed = stored.decision is not None and stored.decision.value == "closed"
    return closed and decided is not None and stored.incident.last_bad >= decided
