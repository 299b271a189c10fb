"""Institutions on the public status: those with troubles first, found by words, by the page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.pages.public.status.status_groups import GroupLink, group_links, title_of
from mudra.localization.language import gettext, ngettext, translatable
from mudra.metrics.incidents.incident import FEW_FAIL_ABOVE_PERCENT, Effect
from mudra.metrics.public_status.status_history import (
    Day,
    DayState,
    FipHistory,
    PublicIncident,
    StatusSnapshot,
    maintained_now,
)

PAGE: Final = 15
WHOLE: Final = 100
"""Institutions that are shown without pages."""
MAX_WORDS: Final = 100
_MAX_DIGITS: Final = 9
_BAR: Final = 4
_FEWEST_DAYS: Final = 14
_FEW_DAYS: Final = 7
_HEIGHTS: Final = {  # top and height of a day's bar: states differ by shape, not only by color
    DayState.GOOD: (7, 26),
    DayState.PARTLY: (3, 30),
    DayState.BAD: (0, 33),
    DayState.NO_DATA: (27, 6),
    DayState.TOO_FEW: (23, 10),
}
STATES: Final = {
    DayState.GOOD: (translatable("Operational"), "good"),
    DayState.PARTLY: (translatable("Disrupted earlier"), "warn"),
    DayState.BAD: (translatable("Disrupted"), "bad"),
    DayState.NO_DATA: (translatable("No data"), "quiet"),
    DayState.TOO_FEW: (translatable("Too few calls"), "quiet"),
}
LESSER: Final = {
    Effect.POSSIBLY_DISRUPTED: (
        translatable("Possibly disrupted"),
        translatable("Possibly disrupted earlier"),
    ),
    Effect.DEGRADED: (translatable("Degraded"), translatable("Degraded earlier")),
}
"""While such an incident is open, and after it, the worse first."""
MAINTENANCE: Final = translatable("Planned maintenance")
_DAY: Final = timedelta(days=1)
_ORDER: Final = ("bad", "warn", "quiet", "good")


class FipState(Struct, frozen=True):
    """One FIP and how it is now."""

    fip: FipHistory
    state: str
    tone: str
    incidents: Sequence[PublicIncident] = ()
    """Of 90 days."""

    @property
    def rank(self) -> tuple[int, str]:
        """Its place: disrupted ones first, then by name."""
        first = 2 if self.state == MAINTENANCE else _ORDER.index(self.tone)
        last = self.tone == "quiet" and self.state != MAINTENANCE
        return len(_ORDER) if last else first, self.fip.name.casefold()


class FipLine(Struct, frozen=True):
    """The line of one FIP on the page; `days` are those that are drawn."""

    fip: FipHistory
    state: str
    tone: str
    bars: dict[str, str]
    marks: str
    """The first letter of each day's state, for the script that names the day under a pointer."""
    summary: str
    days: Sequence[Day]
    says_more: bool
    """Whether the summary says more than the bars: not of a few days that are all alike."""

    @property
    def width(self) -> int:
        """The width of the picture: no gap behind the last day."""
        return len(self.days) * _BAR - 1


class FipPage(Struct, frozen=True):
    """One page of the institutions that were looked for."""

    words: str
    found: int
    lines: Sequence[FipLine]
    number: int
    pages: int
    kept: Mapping[str, str]
    """What the address asks for besides: a language, a time zone."""
    group: str = ""
    groups: Sequence[GroupLink] = ()

    @property
    def is_filtered(self) -> bool:
        """Return whether only some institutions are shown."""
        return bool(self.words or self.group)

    @property
    def is_short(self) -> bool:
        """Return whether the page has room for the APIs of what was found."""
        return self.found <= PAGE

    @property
    def group_title(self) -> str:
        """The title of the group; empty for all."""
        return title_of(self.group) if self.group else ""

    @property
    def before(self) -> str:
        """The address of the page before it; empty for none."""
        return self._at(self.number - 1) if self.number > 1 else ""

    @property
    def after(self) -> str:
        """The address of the page after it; empty for none."""
        return self._at(self.number + 1) if self.number < self.pages else ""

    def _at(self, number: int) -> str:
        values = {
            "q": self.words,
            "group": self.group,
            "page": str(number) if number > 1 else "",
            **self.kept,
        }
        return "?" + urlencode({name: text for name, text in values.items() if text})


def names_of(fips: Iterable[FipHistory]) -> dict[str, str]:
    """Returns the name of each institution by its ID, and the ID with it where names are equal."""
    listed = list(fips)
    bearers = Counter(fip.name.casefold() for fip in listed)
    return {
        fip.fip_id: f"{fip.name} ({fip.fip_id})" if bearers[fip.name.casefold()] > 1 else fip.name
        for fip in listed
    }


def states_of(snapshot: StatusSnapshot, now: datetime) -> list[FipState]:
    """Returns all institutions, those with troubles first."""
    recent: defaultdict[str, list[PublicIncident]] = defaultdict(list)
    every: defaultdict[str, list[PublicIncident]] = defaultdict(list)
    for one in snapshot.incidents:
        every[one.fip_id].append(one)
        if one.ended is None or one.ended > snapshot.as_of - _DAY:
            recent[one.fip_id].append(one)
    maintained = maintained_now(snapshot, now)
    of_network = snapshot.network_since is not None
    found = [
        FipState(
            fip,
            *(
                (MAINTENANCE, "quiet")
                if fip.fip_id in maintained
                else _state_of(fip, recent[fip.fip_id], of_network=of_network)
            ),
            every[fip.fip_id],
        )
        for fip in snapshot.fips
    ]
    return sorted(found, key=lambda one: one.rank)


def _state_of(
    fip: FipHistory, recent: Sequence[PublicIncident], *, of_network: bool
) -> tuple[str, str]:
    """Returns the state of an institution by its incidents of 24 hours, and its tone.

    While nearly the whole network is bad, each institution with calls is.
    """
    is_open = [one for one in recent if one.ended is None]
    has_calls = fip.last_24_hours is not DayState.NO_DATA
    now, lately = ({one.effect for one in some} for some in (is_open, recent))
    if Effect.DISRUPTED in now or (of_network and has_calls):
        return STATES[DayState.BAD]
    for effect, (text, _) in LESSER.items():
        if effect in now:
            return text, "warn"
    if fip.last_24_hours is DayState.PARTLY and Effect.DISRUPTED not in lately:
        for effect, (_, text) in LESSER.items():
            if effect in lately:
                return text, "warn"
        return LESSER[Effect.DEGRADED][1], "warn"  # the rule is broken, and there was no outage
    return STATES[fip.last_24_hours]


def page_of(
    states: Sequence[FipState], query: Mapping[str, str], kept: Mapping[str, str]
) -> FipPage:
    """Returns the page that a query asks for: `q` has words of names, or IDs, in any order.

    `group` is one of those that the institutions are in.
    """
    words = " ".join(query.get("q", "")[:MAX_WORDS].split())
    wanted = words.casefold().split()
    found = [one for one in states if _has_all(one.fip, wanted)] if wanted else states
    if wanted:  # those found by an ID that few readers know come after the names
        found = sorted(found, key=lambda one: not _has_all(one.fip, wanted, by_name=True))
    asked_group = query.get("group", "")
    group = asked_group if any(asked_group in one.fip.groups for one in states) else ""
    groups = group_links([one.fip for one in found], group, words, kept)
    found = [one for one in found if group in one.fip.groups] if group else found
    size = WHOLE if len(found) <= WHOLE else PAGE
    pages = max(-(-len(found) // size), 1)
    asked = query.get("page", "1")
    number = (
        min(max(int(asked), 1), pages) if asked.isdecimal() and len(asked) <= _MAX_DIGITS else 1
    )
    shown = found[(number - 1) * size : number * size]
    days = days_shown(one.fip for one in states)
    lines = [line_of(one, days) for one in shown]
    return FipPage(words, len(found), lines, number, pages, kept, group, groups)


def days_shown(fips: Iterable[FipHistory]) -> int:
    """Returns how many days are drawn: since the first of which anything is known, but a fortnight.

    A new network would have 88 grey days of 90.
    """
    known = 0
    for fip in fips:
        days = fip.days
        at = next((at for at, day in enumerate(days) if day.state is not DayState.NO_DATA), None)
        known = max(known, 0 if at is None else len(days) - at)
        if known == len(days):
            break
    return max(known, _FEWEST_DAYS)


def line_of(one: FipState, count: int = 0) -> FipLine:
    """Returns an institution with so many of its latest days, 0 for all; the summary is of all."""
    days = one.fip.days[-count:]
    drawn = days
    if one.tone == "bad" and days and days[-1].state is DayState.PARTLY:
        # What is disrupted now is no amber day, next to a red one of what recovered.
        drawn = [*days[:-1], replace(days[-1], state=DayState.BAD)]
    return FipLine(
        *(one.fip, one.state, one.tone, _bars(drawn), _marks(drawn), _summary(one), days),
        _says_more(_counted_days(one.fip.days, one.incidents)),
    )


def _summary(one: FipState) -> str:
    """Returns how many days had no disruption, and how many are in doubt."""
    days = _counted_days(one.fip.days, one.incidents)
    if not days.known:
        return gettext("no data yet")
    if days.known == len(one.fip.days):
        text = ngettext(
            "%(good)s of %(num)s day without disruption",
            "%(good)s of %(num)s days without disruption",
            days.known,
            good=days.undisturbed,
        )
    else:
        text = _of_measured_days(days.undisturbed, days.known)
    if not days.in_doubt:
        return text
    return gettext("%(days)s; %(num)s possibly disrupted", days=text, num=days.in_doubt)


class _CountedDays(Struct, frozen=True):
    """Days with data of a FIP: all, days without a disruption, and days in doubt."""

    known: int
    undisturbed: int
    in_doubt: int
    """With an incident that one AA alone sees, and none else that is a disruption."""


def _says_more(days: _CountedDays) -> bool:
    few = days.known < _FEW_DAYS
    return not few or days.in_doubt > 0 or (days.known > 1 and days.undisturbed < days.known)


def _counted_days(days: Iterable[Day], incidents: Sequence[PublicIncident]) -> _CountedDays:
    """Returns how many days of a FIP had what, by their states and the FIP's incidents.

    Slow or refused calls are no disruption, nor is it one that the rule is broken without an outage
    and by fewer than one call in ten: a rate that has changed for good.
    """
    known, undisturbed, in_doubt = 0, 0, 0
    for day in days:
        if day.state in {DayState.NO_DATA, DayState.TOO_FEW}:
            continue
        known += 1
        effects = set() if day.state is DayState.GOOD else _effects_of(day, incidents)
        is_lesser = effects == {Effect.DEGRADED}
        if day.state is DayState.BAD:
            few_fail = (day.success_percentage or 0.0) > FEW_FAIL_ABOVE_PERCENT
            is_lesser = few_fail and effects <= {Effect.DEGRADED}
        is_whole = day.state is DayState.GOOD or is_lesser
        undisturbed += is_whole
        in_doubt += Effect.POSSIBLY_DISRUPTED in effects and Effect.DISRUPTED not in effects
    return _CountedDays(known, undisturbed, in_doubt)


def _effects_of(day: Day, incidents: Iterable[PublicIncident]) -> set[Effect]:
    start = datetime.combine(day.day, time(), UTC)
    end = start + _DAY
    return {one.effect for one in incidents if one.began < end and (one.ended or end) > start}


def _of_measured_days(good: int, known: int) -> str:
    """Returns the same of a part of 90 days: the others have no data, or too few calls to rate."""
    if good == known:
        return ngettext(
            "No disruption on the %(num)s day measured so far",
            "No disruption on the %(num)s days measured so far",
            known,
        )
    if not good:
        return ngettext(
            "Disrupted on the only day measured so far",
            "Disrupted on all %(num)s days measured so far",
            known,
        )
    return ngettext(
        "%(good)s of %(num)s measured day without disruption",
        "%(good)s of %(num)s measured days without disruption",
        known,
        good=good,
    )


def _has_all(fip: FipHistory, words: Sequence[str], *, by_name: bool = False) -> bool:
    name, fip_id = fip.name.casefold(), fip.fip_id.casefold()
    return all(word in name or (not by_name and _begins(fip_id, word)) for word in words)


def _begins(fip_id: str, word: str) -> bool:
    """Returns whether a word finds an ID: one without a digit may be what many begin with."""
    has_digit = any(one.isdigit() for one in word)
    return fip_id == word or (has_digit and fip_id.startswith(word))


def _marks(days: Sequence[Day]) -> str:
    return "".join(day.state.value[0] for day in days)


def _bars(days: Sequence[Day]) -> dict[str, str]:
    """Returns the days as one SVG path for each state: short, and without inline styles."""
    paths: dict[str, str] = {}
    for place, day in enumerate(days):
        top, height = _HEIGHTS[day.state]
        piece = f"M{place * _BAR} {top}h3v{height}h-3z"
        paths[day.state.value] = paths.get(day.state.value, "") + piece
    return paths


def find_state(snapshot: StatusSnapshot, fip_id: str, now: datetime) -> FipState | None:
    """Returns one institution; None for one that is not registered."""
    return next((one for one in states_of(snapshot, now) if one.fip.fip_id == fip_id), None)
