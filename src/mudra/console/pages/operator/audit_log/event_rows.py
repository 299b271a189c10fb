"""Rows of the audit's table: an event as a sentence; many of a kind in one minute as one."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.event import EventName, Outcome
from mudra.audit.search import ActedBy, AuditRow
from mudra.console.framework.navigation import operator_path
from mudra.console.framework.table import Column, Table
from mudra.console.health.health_query import written
from mudra.console.pages.event_sentence import PERSON, detail_json, event_sentence
from mudra.console.pages.operator.labels import tone
from mudra.localization.language import current, gettext, ngettext, translatable

_RECEIPT: Final = "receiptId"
"""In the detail: of a report that was taken; the search shows what it is a receipt of."""
_IMPLIED: Final = frozenset(
    {
        EventName.USER_SIGN_IN_SUCCEED.value,
        EventName.USER_PASSWORD_REHASH.value,
        EventName.USER_FACTOR_USE.value,
    }
)
"""Events without which the act of the same call would not have been."""
ROUTINE: Final = _IMPLIED | frozenset(
    {
        EventName.USER_TOKEN_ISSUE.value,
        EventName.USER_SESSION_BEGIN.value,
        EventName.USER_SESSION_END.value,
        EventName.ENTITY_SECRET_READ.value,
        EventName.LEVELS_REPORT_MAKE.value,
    }
)
"""Acts that people's programs do all day: those of one kind and minute are one row."""
_MINUTE: Final = timedelta(minutes=1)
_MAX_NAMES: Final = 20
EACH: Final = "each"
"""In the address: `yes` for a row of its own for each event."""


class EventRow(Struct, frozen=True):
    """An event as a sentence, with a person's address in the place of its ID.

    `more` are further events of a person's same call, or of the same kind and minute.
    """

    row: AuditRow
    actor: str
    person: str
    entity: str
    more: Sequence["EventRow"] = ()
    title: str = ""
    """Of the announcement that the event is of, where the event itself has none."""

    @property
    def parts(self) -> tuple[str, str, str]:
        """The sentence in three: what is before the thing that it is about, that thing, the rest.

        Without such a thing the first is all of it.
        """
        what = self.what
        after_actor = what.find(" ") + 1
        for one in (self.entity, str(self.row.detail.get("title", self.title)), self.person):
            at = what.find(one, after_actor) if one else -1
            if at >= 0:
                return what[:at], one, what[at + len(one) :]
        return what, "", ""

    @property
    def what(self) -> str:
        """The sentence; made for what is shown or searched, of a thousand rows a page reads."""
        if self.more and self.row.event == EventName.METRICS_REPORT_ACCEPT:
            reports = current().number(len(self.more) + 1)
            return ngettext(
                "%(reports)s reports of %(num)s AA were stored",
                "%(reports)s reports of %(num)s AAs were stored",
                len(self.entities),
                reports=reports,
            )
        one = event_sentence(self.row, self.actor, self.person, self.entity, self.title)
        if not self.more:
            return one
        if self.is_one_call:
            further = sum(not _is_implied(each) for each in self.more)
            if not further:
                return one
            return ngettext(
                "%(one)s, with %(num)s more event of the same call",
                "%(one)s, with %(num)s more events of the same call",
                further,
                one=one,
            )
        if self.by_person and len(self.actors) > 1:
            return gettext(
                "%(one)s, and %(more)s more like it, by %(people)s people",
                one=one,
                more=len(self.more),
                people=len(self.actors),
            )
        return ngettext(
            "%(one)s, and %(num)s more like it",
            "%(one)s, and %(num)s more like it",
            len(self.more),
            one=one,
        )

    @property
    def by_person(self) -> bool:
        """Report whether an admin or an operator acted."""
        return ActedBy.PEOPLE.has(self.row.actor)

    @property
    def is_one_call(self) -> bool:
        """Report whether its events are of one call of a person."""
        txn = self.row.txn_id
        return self.by_person and all(one.row.txn_id == txn for one in self.more)

    @property
    def actors(self) -> Sequence[str]:
        """The persons of the row, each once."""
        return tuple(dict.fromkeys(one.actor for one in (self, *self.more)))

    @property
    def entities(self) -> Sequence[str]:
        """The names of all members that the row is about, each once."""
        return tuple(dict.fromkeys(one.entity for one in (self, *self.more) if one.entity))

    @property
    def each(self) -> str:
        """The address of its events in rows of their own; empty for a row of one event."""
        if not self.more:
            return ""
        if self.is_one_call:
            return f"?{urlencode({'txn': self.row.txn_id, EACH: 'yes'})}"
        begin = _minute(self.row.at)
        asked = {
            "event": self.row.event,
            "outcome": self.row.outcome,
            "by": ActedBy.PEOPLE.value if self.by_person else ALL,
            "since": written(begin),
            "until": written(begin + _MINUTE),
            EACH: "yes",
        }
        return f"?{urlencode(asked)}"

    @property
    def detail(self) -> str:
        """The detail as JSON, without the receipt, which is a link of its own."""
        known = {PERSON: self.person} if self.person else {}
        detail = {**self.row.detail, **known}
        return detail_json({name: value for name, value in detail.items() if name != _RECEIPT})

    def of_one(self, value: str) -> str | None:
        """Return a value of the event, and none for a row of many."""
        return None if self.more else value or None


ALL: Final = "all"
"""As `by` in the address: of everyone and everything."""


def folded(rows: Iterable[EventRow]) -> Iterator[EventRow]:
    """Yields a person's events of one call as one row, and others of one kind and minute.

    Of people those are in one row that are routine, without what signed each of them in.
    """
    for _, of_minute in groupby(rows, key=lambda one: _minute(one.row.at)):
        alike: dict[tuple[str, str], list[EventRow]] = {}
        for one in of_minute:
            row = one.row
            is_call = one.by_person and row.outcome == Outcome.SUCCESS.value
            own = row.txn_id or str(row.seq) if is_call else str(row.seq)
            key = (row.actor, own) if one.by_person else (row.event, row.outcome)
            alike.setdefault(key, []).append(one)
        routine: dict[str, list[EventRow]] = {}
        calls = [sorted(events, key=_is_implied) for events in alike.values()]
        for first, *more in calls:
            if _is_routine(first, more):
                routine.setdefault(first.row.event, []).append(first)
        for first, *more in calls:
            if not _is_routine(first, more):
                yield _with(first, more)
                continue
            same = routine[first.row.event]
            if first is same[0]:
                yield _with(first, more if len(same) == 1 else same[1:])


def _with(first: EventRow, more: Sequence[EventRow]) -> EventRow:
    return replace(first, more=more)


def _is_routine(first: EventRow, more: Sequence[EventRow]) -> bool:
    row = first.row
    done = row.outcome == Outcome.SUCCESS.value
    return first.by_person and done and row.event in ROUTINE and all(map(_is_implied, more))


def _is_implied(one: EventRow) -> bool:
    return one.row.event in _IMPLIED


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def _members(row: EventRow) -> str | None:
    return _listed(row.entities) if row.more else None


def _listed(names: Sequence[str]) -> str | None:
    if not names:
        return None
    shown = ", ".join(names[:_MAX_NAMES])
    left = len(names) - _MAX_NAMES
    return f"{shown} {gettext('and %(count)s more', count=left)}" if left > 0 else shown


TABLE: Final = Table[EventRow](
    "events",
    translatable("Events"),
    (
        Column("what", translatable("What"), lambda r: r.what, "sentence"),
        Column("at", translatable("At"), lambda r: r.row.at, "moment"),
        Column(
            "outcome",
            translatable("Outcome"),
            lambda r: r.row.outcome,
            "tag",
            tone=lambda r: tone(r.row.outcome),
            usual=Outcome.SUCCESS.value,
        ),
        Column(
            "each",
            translatable("Each event"),
            lambda r: gettext("%(count)s rows", count=len(r.more) + 1) if r.more else None,
            folded=True,
            link=lambda r: r.each,
        ),
        Column("members", translatable("Members"), _members, folded=True),
        Column(
            "actor",
            translatable("Actor"),
            lambda r: _listed(r.actors) if r.by_person else r.of_one(r.actor),
            folded=True,
        ),
        Column(
            "entity",
            translatable("Entity"),
            lambda r: r.of_one(r.row.entity_id),
            "code",
            folded=True,
            link=lambda r: f"?entity={quote(r.row.entity_id)}" if r.row.entity_id else "",
        ),
        Column("address", translatable("Address"), lambda r: r.of_one(r.row.address), folded=True),
        Column("reason", translatable("Reason"), lambda r: r.of_one(r.row.reason), folded=True),
        Column("event", translatable("Event"), lambda r: r.row.event, folded=True),
        Column("detail", translatable("Detail"), lambda r: r.of_one(r.detail), folded=True),
        Column(
            "receipt",
            translatable("Receipt"),
            lambda r: r.of_one(str(r.row.detail.get(_RECEIPT, ""))),
            folded=True,
            link=lambda r: operator_path(f"search?q={quote(str(r.row.detail[_RECEIPT]), safe='')}"),
        ),
        Column(
            "txn",
            translatable("Transaction"),
            lambda r: r.of_one(r.row.txn_id),
            folded=True,
            link=lambda r: f"?txn={quote(r.row.txn_id, safe='')}",
        ),
        Column(
            "seq",
            translatable("Row"),
            lambda r: None if r.more else r.row.seq,
            "number",
            folded=True,
            order=lambda r: r.row.seq,
        ),
    ),
    first_sort="-seq",
    rows=20,
    filters=False,
)
