"""Detects incidents: evaluates closed windows in their order, and stores and sends what changed.

The journal after the last evaluated window is kept, and those of hours of the last days
(evaluation_run.py). Windows follow one by one; where the reports of an evaluated window changed,
it is evaluated again from the journal before it, with all that follow.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.detection.days_again import DaysAgain, Marks
from mudra.metrics.detection.window_reports import (
    Before,
    Received,
    WindowReports,
    are_silent,
    is_complete,
    is_news,
    received_by,
    sent,
    suffices,
)
from mudra.metrics.health.level_change import LOOKS_BACK
from mudra.metrics.incidents.explanation import at_once
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.incident_change import Change
from mudra.metrics.incidents.silence import maintained_in
from mudra.metrics.notifications.escalation import to_escalate
from mudra.metrics.notifications.incident_notifications import (
    IncidentNotification,
    incident_notifications,
)
from mudra.metrics.notifications.notifier import Notifier
from mudra.metrics.payload.catalogue import WINDOW, Tag, hour_start, window_start
from mudra.metrics.ports import Detections, Members, Silences
from mudra.metrics.rollup.coverage import ReportingTimes, TimeRange

if TYPE_CHECKING:
    from mudra.metrics.detection.evaluation_run import EvaluationRun

WATCHED: Final = timedelta(days=8)
"""Windows of this time are evaluated, and evaluated again when their reports change."""
FIP_HISTORY: Final = timedelta(hours=6)
"""The states of FIPs in the feed follow from so much evidence."""
OWN_HOURS: Final = WATCHED + timedelta(days=1)
"""Hours of calls are kept so long, so that days that are judged again can be added up."""
MAX_AT_ONCE: Final = 24
"""Windows that follow in one transaction; a longer backlog takes several."""
SOON_AGAIN: Final = MAX_AT_ONCE * WINDOW
"""Windows of so long ago are judged again before those that follow, older ones some at once."""
_READ_AT_ONCE: Final = 6
_LONG_SILENCE: Final = timedelta(days=1)
_AHEAD: Final = timedelta(minutes=30)
"""Looked at before they are complete are so many windows at most: then each is due."""
_LEAD: Final = timedelta(hours=1)
_REOPENABLE: Final = timedelta(hours=4)
"""The journal may hold incidents that ended so long ago."""


class Detected(Struct, frozen=True):
    """The outcome of one pass, and whether more windows are waiting."""

    notifications: Sequence[IncidentNotification]
    more: bool


class DetectionService(Struct, frozen=True):
    """Judges windows in one transaction."""

    store: Detections
    members: Members
    silences: Silences
    notifier: Notifier
    new_id: Callable[[], str]

    async def detect(self, now: datetime, days: DaysAgain) -> Detected:
        """Judges the windows that are complete, and again those whose reports changed.

        `days` keeps what takes several passes; while `more` is true the next one needs it.
        """
        await self.store.lock(patient=False)
        marks = await self.store.stale_windows(now)
        changed = [window for window in marks if window >= now - WATCHED]
        last = await self.store.last_evaluated()
        if last is None:
            first = await self._first_window(changed, now)
            if first is None:
                await self._clear(marks, now, now)
                return Detected((), more=False)
            run = await self._run_from(first, frozenset(marks), now)
            return await self._complete(run, marks, now)
        start = min([last + WINDOW, *changed])
        if await self._goes_on(days) or last - start >= SOON_AGAIN:
            return await self._judge_days(start, last, marks, days, now)
        if not marks and start >= window_start(now):
            known = await self.store.since(last - _REOPENABLE)
            return Detected(await self._notify({}, known, now), more=False)
        run = await self._run_from(start, frozenset(marks), now)
        await self._evaluate_again(run, last, now)
        return await self._complete(run, marks, now)

    async def _complete(self, run: "EvaluationRun", marks: Marks, now: datetime) -> Detected:
        more = await self._follow(run, now)
        await self._clear(marks, run.next_window, now)
        found = await self._finish(run, now)
        return Detected(found if more else [*found, *await self._look_ahead(run, now)], more)

    async def _look_ahead(
        self, run: "EvaluationRun", now: datetime
    ) -> Sequence[IncidentNotification]:
        """Opens what the reports at hand show already, while others are late.

        Nothing else is kept of it: the windows are judged in their order once they are complete.
        What they do not show then is withdrawn. A doubt that a late report may settle waits for it.
        """
        ahead, within = run.ahead(), TimeRange(run.next_window, window_start(now))
        if within.start >= within.end or within.end - within.start > _AHEAD:
            return ()
        fips = await self.members.onboarded_fips()
        received = await self._reports(within, await self.members.reporting_aas())
        if not any(is_news(reports, now) for reports, _ in received):
            return ()
        none_is_late = False
        for reports, before in received:
            if not suffices(reports, run.journal.silent, now, before):
                break
            await self._judge(ahead, reports.at_hand, fips, now)
            none_is_late = are_silent(reports, run.journal.silent, before)
        if not ahead.evaluated:
            return ()
        await self._count(ahead)
        known = await self.store.since(run.base - _REOPENABLE)
        opened = ahead.opened(known, also_in_doubt=none_is_late)
        return await self._notify(opened, known, now) if opened else ()

    async def _goes_on(self, days: DaysAgain) -> bool:
        """Returns whether days are being judged again, and no other process has done it since."""
        read = [mark for found in days.marks.values() for mark in found]
        if days.run is not None and not await self.store.are_left(read):
            days.drop()
        return days.run is not None

    async def _judge_days(
        self, start: datetime, last: datetime, marks: Marks, days: DaysAgain, now: datetime
    ) -> Detected:
        """Judges some windows of days ago again, or those after the last one if any is complete."""
        if live := await self._live_first(last, marks, now):
            return live
        run = days.run or await self._run_from(start, frozenset(marks), now)
        # Marks of windows that were read before are of later content: they stay for the next time.
        days.marks |= {at: found for at, found in marks.items() if run.next_window <= at <= last}
        run.changed = frozenset(days.marks)
        until = min(last, run.next_window + (MAX_AT_ONCE - 1) * WINDOW)
        await self._evaluate_again(run, until, now)
        if until < last:
            days.run = run
            return Detected((), more=True)
        rest = {at: found for at, found in marks.items() if at > last or at < now - WATCHED}
        known = {**days.marks, **rest}
        days.drop()
        return await self._complete(run, known, now)

    async def _live_first(self, last: datetime, marks: Marks, now: datetime) -> Detected | None:
        """Judges the windows after the last one, if any is complete; others wait."""
        if window_start(now) <= last + WINDOW:
            return None
        run = await self._run_from(last + WINDOW, frozenset(marks), now)
        await self._follow(run, now)
        if not run.evaluated:
            return None
        live = {window: found for window, found in marks.items() if window > last}
        await self._clear(live, run.next_window, now)
        return Detected(await self._finish(run, now), more=True)

    async def evaluate_past(self, since: datetime, now: datetime) -> Sequence[IncidentNotification]:
        """Judges all windows from this one on again, each as of its own time.

        For a past that was stored whole: its incidents were detected when their windows
        were received, and only those still open are notified.
        """
        await self.store.lock(patient=True)
        marks = await self.store.stale_windows(now)
        last = await self.store.last_evaluated()
        first = min(since, last + WINDOW) if last else since
        # They have no marks, and may have been judged already, as windows without reports.
        stored = frozenset(TimeRange(since, now).windows)
        run = await self._run_from(first, frozenset(marks) | stored, now)
        await self._evaluate_again(run, last or since, now, past=True)
        while await self._follow(run, now, past=True):
            pass
        await self._clear(marks, run.next_window, now)
        return await self._finish(run, now)

    async def _first_window(self, changed: Sequence[datetime], now: datetime) -> datetime | None:
        """The first window of a network that was never evaluated; None when none has closed."""
        reporting = (await self.members.reporting_aas()).values()
        since = [window_start(one.open_since) for one in reporting if one.open_since is not None]
        known = [one for one in (*changed, *since) if one < window_start(now)]
        return max(min(known), window_start(now - WATCHED)) if known else None

    async def _run_from(
        self, window: datetime, changed: frozenset[datetime], now: datetime
    ) -> "EvaluationRun":
        # The jobs process alone loads the attribution.
        from mudra.metrics.detection.evaluation_run import EvaluationRun  # noqa: PLC0415  # loads numpy

        packed = await self.store.journal_before(window)
        return await asyncio.to_thread(EvaluationRun, packed, window, changed, self.new_id, now)

    async def _evaluate_again(
        self, run: "EvaluationRun", until: datetime, now: datetime, *, past: bool = False
    ) -> None:
        within = TimeRange(run.next_window, until + WINDOW)
        await self._evaluate(run, within, now, wait=False, past=past)

    async def _follow(self, run: "EvaluationRun", now: datetime, *, past: bool = False) -> bool:
        """Judges windows that are complete; returns whether more of them are."""
        closed = window_start(now)
        await self._skip_silence(run, closed)
        end = min(closed, run.next_window + MAX_AT_ONCE * WINDOW)
        within = TimeRange(run.next_window, end)
        return await self._evaluate(run, within, now, wait=True, past=past) and end < closed

    async def _skip_silence(self, run: "EvaluationRun", closed: datetime) -> None:
        """Leaves out a long time without any report: it says only that agents were silent."""
        if closed - run.next_window <= _LONG_SILENCE:
            return
        first = await self.store.first_received(run.next_window)
        until = min(first or closed, closed) - _LEAD
        if until > run.next_window:
            run.skip(until, _expected(await self.members.reporting_aas(), until))

    async def _evaluate(
        self, run: "EvaluationRun", within: TimeRange, now: datetime, *, wait: bool, past: bool
    ) -> bool:
        """Judges windows in their order; with `wait` up to the first incomplete one."""
        if within.start >= within.end:
            return True
        reporting = await self.members.reporting_aas()
        fips = await self.members.onboarded_fips()
        start = within.start
        while start < within.end:
            part = TimeRange(start, min(within.end, start + _READ_AT_ONCE * WINDOW))
            received = await self._reports(part, reporting)
            # After the receipts: what a push that is stored meanwhile adds is counted without its
            # receipt, and judged again. The other way round its receipt would say that it brought
            # nothing.
            called = await self.store.first_called(part)
            for reports, before in received:
                if wait and not is_complete(reports, run.journal.silent, now, before):
                    return False
                detected = min(received_by(reports), now) if past else now
                has_calls = called is not None and reports.window >= called
                await self._judge(run, reports, fips, detected, has_calls=has_calls)
            start = part.end
        return True

    async def _judge(
        self, run: "EvaluationRun", reports: WindowReports, fips: frozenset[str],
        detected: datetime, *, has_calls: bool = True,
    ) -> None:  # fmt: skip
        # As above.
        from mudra.metrics.detection.window_calls import no_calls  # noqa: PLC0415  # loads numpy

        calls = no_calls()
        if has_calls:
            heard = await self.store.heard(reports.window)
            reports = reports.without(heard.lost)  # as if they had not come
            calls = heard.calls
        await asyncio.to_thread(run.evaluate, reports, calls, fips, detected)

    async def _reports(
        self, within: TimeRange, reporting: Mapping[str, ReportingTimes]
    ) -> list[tuple[WindowReports, Before]]:
        """Returns who reported each window, and who the one before."""
        receipts = await self.store.received(TimeRange(within.start - WINDOW, within.end))
        silences = await self.silences.ending_after(within.start)
        received: dict[datetime, list[Received]] = defaultdict(list)
        for receipt in receipts:
            received[receipt.window].append(receipt)
        return [
            (
                WindowReports(
                    window,
                    _expected(reporting, window),
                    {one.aa_id: one.at for one in received[window] if one.tag is Tag.REQUESTS},
                    sent(received[window], Tag.NOTIFICATIONS),
                    maintained_in(window, silences),
                ),
                Before(*(sent(received[window - WINDOW], tag) for tag in Tag)),
            )
            for window in within.windows
        ]

    async def _clear(self, marks: Marks, evaluated_to: datetime, now: datetime) -> None:
        """Deletes the marks of windows that are evaluated, or too old to be."""
        await self.store.clear(
            [
                mark
                for window, found in marks.items()
                if window < max(evaluated_to, now - WATCHED)
                for mark in found
            ]
        )

    async def _finish(self, run: "EvaluationRun", now: datetime) -> Sequence[IncidentNotification]:
        """Stores the journals and what changed; notifies members, also of ended silences."""
        known = await self.store.since(run.base - _REOPENABLE)
        await self._count(run)
        changes = run.changes(known) if run.evaluated else {}
        if run.evaluated:
            await self.store.save_journals(
                _journals(run), since=run.base + WINDOW, drop_before=now - WATCHED
            )
            await self._save_fip_states(run)
            await self._save_own_calls(run, now)
        return await self._notify(changes, known, now)

    async def _notify(
        self, changes: Mapping[str, Change], known: Sequence[StoredIncident], now: datetime
    ) -> Sequence[IncidentNotification]:
        if not known and not changes:
            await self.notifier.send((), now)  # emails whose time has come
            return ()
        silences = await self.silences.ending_after(now)
        found = incident_notifications(changes, known, silences, now)
        if groups := at_once(_current(known, changes), {}):
            groups = at_once(_current(known, changes), await self.members.providers())
            of_group = {name: one for one in groups for name in one.incident_ids}
            found = tuple(replace(one, at_once=of_group.get(one.incident_id)) for one in found)
        await self.store.save(found, now)
        await self.notifier.send(found, now)
        await self._escalate(now)
        return found

    async def _escalate(self, now: datetime) -> None:
        rule = self.notifier.escalation
        silences = await self.silences.ending_after(now - rule.after)
        due = to_escalate(await self.store.since(now), silences, rule, now)
        heard = await self.notifier.escalate(due, now) if due else ()
        if heard:
            await self.store.mark_escalated([one.incident_id for one in heard], now)

    async def _count(self, run: "EvaluationRun") -> None:
        """Counts the calls of incidents whose earlier windows were not counted with them."""
        to_count = run.to_count()
        if to_count:
            run.take_counts({one.incident_id: await self.store.counted(one) for one in to_count})

    async def _save_fip_states(self, run: "EvaluationRun") -> None:
        """Store the states of FIPs for the feed, and announce them."""
        since = run.base + WINDOW
        before = await self.store.fip_counts(TimeRange(since - FIP_HISTORY, since))
        last = await self.store.fip_states(before=since)
        if last is None:  # judged again from before what is kept: the first one as it was
            last = await self.store.fip_states(before=run.states_from + WINDOW)
        rows = await asyncio.to_thread(run.fip_rows, before, last)
        await self.store.save_fip_states(
            rows, since=since, drop_before=run.next_window - FIP_HISTORY
        )

    async def _save_own_calls(self, run: "EvaluationRun", now: datetime) -> None:
        """Stores the calls that are the FIPs' own; the hour of the base may go on."""
        started = hour_start(run.base)
        goes_on = hour_start(run.base + WINDOW) == started
        begun = await self.store.own_hour(started) if goes_on else None
        hours = await asyncio.to_thread(run.own_hours, begun)
        await self.store.save_own_calls(
            hours, since=started if goes_on else run.base + WINDOW, drop_before=now - OWN_HOURS
        )
        if run.next_window.minute == 0:
            since = run.next_window - LOOKS_BACK
            stored = await self.store.own_hours(since)
            incidents = [one.incident for one in await self.store.since(since)]
            changes = await asyncio.to_thread(run.changed_rates, stored, incidents)
            await self.store.save_changes(changes, run.next_window)


async def _journals(run: "EvaluationRun") -> AsyncIterator[tuple[datetime, bytes]]:
    """The journals to keep, one after the other: together they are a quarter of a gigabyte."""
    for window in run.kept:
        yield window, await asyncio.to_thread(run.packed, window)


def _current(
    known: Sequence[StoredIncident], changes: Mapping[str, Change]
) -> Mapping[str, Incident]:
    """Returns the incidents as they are with these changes."""
    stored = {one.incident_id: one.incident for one in known}
    return stored | {name: change.incident for name, change in changes.items()}


def _expected(reporting: Mapping[str, ReportingTimes], window: datetime) -> frozenset[str]:
    return frozenset(aa_id for aa_id, times in reporting.items() if times.includes(window))
