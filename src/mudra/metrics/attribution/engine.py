"""Evaluate one window: from its evidence and the state before to its causes and the state after."""

from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.baselines.latency_baseline import (
    learn_latency,
    slower_together,
    thresholds,
    usual_median,
)
from mudra.metrics.attribution.baselines.lessons import Seen
from mudra.metrics.attribution.baselines.rate_baseline import learn_rates, usual_rates
from mudra.metrics.attribution.baselines.reporters import (
    Implausible,
    find_implausible,
    learn_history,
)
from mudra.metrics.attribution.baselines.usual import ALL, Usual
from mudra.metrics.attribution.baselines.wandering import wander
from mudra.metrics.attribution.causes.active import (
    HEARTBEAT,
    Active,
    View,
    follow,
    is_twin,
    look,
    mark,
    new_active,
)
from mudra.metrics.attribution.causes.admission import Finding, admit
from mudra.metrics.attribution.causes.agents import follow_agents
from mudra.metrics.attribution.causes.breadth import (
    BUSY,
    is_the_aas,
    lost,
    nearly_all,
    seen_by_others,
)
from mudra.metrics.attribution.causes.cause import (
    ENDINGS,
    Cause,
    CauseStatus,
    Kind,
    Locus,
)
from mudra.metrics.attribution.causes.changed import with_changed, with_slower
from mudra.metrics.attribution.causes.cover import Candidate, Fallen, cover
from mudra.metrics.attribution.causes.only_aa import of_the_only_aa
from mudra.metrics.attribution.causes.view_of_cause import cause_of
from mudra.metrics.attribution.evidence.evidence import WINDOWS_PER_DAY, Evidence
from mudra.metrics.attribution.evidence.lane_counts import (
    LaneCounts,
    accepted_requests,
    lane_counts,
)
from mudra.metrics.attribution.evidence.lanes import LANES_OF, TIMED_APIS, Flags, Floats, Symptom
from mudra.metrics.attribution.likelihood import Ratios, no_ratios, ratios, ratios_without
from mudra.metrics.attribution.sequential import add_window, alarm_level
from mudra.metrics.attribution.state import State

_SEEN_SHARE: Final = 0.25
_SHOWN: Final = 5.0
_MEDIAN_MOVED: Final = 0.4
_DENIED: Final = -2.0
"""Nats of the other APIs that speak against a cause of the whole place: one call that succeeds
where nine of ten heartbeats fail says as much."""
_SUSPECT: Final = 0.4
_FEWEST_PAIRS: Final = 4
_ACROSS: Final = tuple(
    {aa, fip} for aa in (Kind.AA, Kind.AA_API) for fip in (Kind.FIP, Kind.FIP_API)
)


class Evaluation(Struct, frozen=True):
    """The result of one window."""

    state: State
    causes: tuple[Cause, ...]
    """All causes that are known, also those of earlier windows, by number."""
    implausible: tuple[Implausible, ...]
    """Reports that were left out."""


def evaluate_window(evidence: Evidence, state: State) -> Evaluation:
    """Judge the window after the last one that the state knows."""
    implausible = find_implausible(evidence, state.history)
    reported = evidence.reported.copy()
    reported[[one.aa for one in implausible]] = False
    evaluated = replace(evidence, reported=reported).evaluated_cells
    slower = slower_together(state.latency, evidence, evaluated)
    limits = thresholds(state.latency, evidence.hour, slower)
    counts = lane_counts(evidence, evaluated, limits, state.previous_requests)
    wandering = wander(state.rates, counts.events, evidence.hour, evidence.weekday)
    usual = usual_rates(state.rates, wandering.log_odds, evidence.hour, evidence.weekday)
    work = _Window(evidence, counts, usual, wandering.voice, state)
    del counts  # the work lets them go when it has learned of them
    work.follow_known()
    work.find_new()
    agents, silent = follow_agents(evidence, work.known, state.silent_windows, work.next_number)
    known = (*(one for one in work.known if one.locus.kind is not Kind.AGENT), *agents.known)
    after = replace(
        state,
        window=evidence.window,
        running=work.running,
        known=known,
        next_number=agents.next_number,
        previous_requests=(accepted_requests(evidence) * evaluated).astype(np.float32),
        silent_windows=silent,
        history=learn_history(state.history, evidence, implausible),
        **work.learned(evaluated),
    )
    causes = sorted((*work.causes, *agents.causes), key=lambda cause: cause.number)
    return Evaluation(after, tuple(causes), implausible)


class _Window:
    """The work on one window: what is explained so far, and by what."""

    def __init__(
        self, evidence: Evidence, counts: LaneCounts, usual: Usual, voice: Floats, state: State
    ) -> None:
        self.evidence = evidence
        self.counts = counts
        self.usual = usual
        self.voice = voice[:, None, :]
        self.state = state
        self.known: tuple[Active, ...] = state.known
        self.running = state.running
        self.next_number = state.next_number
        self.explained = np.zeros(counts.bad.shape, np.bool_)
        self.causes: list[Cause] = []
        self.changed: list[Active] = []
        self.ratios = no_ratios(evidence.aas, evidence.fips)

    def follow_known(self) -> None:
        """Return how each known cause does; what it still explains is taken out."""
        still: list[Active] = []
        for one in self.known:
            if one.locus.kind is Kind.AGENT:
                still.append(one)
                continue
            across = self._across(one)
            view = self._look(one, across)
            moved, status = follow(replace(one, earlier=()), view, self.evidence.window)
            if self._has_left(one.locus.aa):
                status = CauseStatus.NO_DATA
            if moved.locus != one.locus:
                view = self._look(moved, across)
            twin = next((other for other in still if is_twin(other, moved)), None)
            if twin is not None:
                self._absorb(twin.number, moved.number)
                continue
            self.causes.append(cause_of(moved, view, status))
            if status not in ENDINGS:
                still.append(moved)
            elif status is CauseStatus.CHANGED:
                self.changed.append(moved)
            if status not in {CauseStatus.RECOVERED, CauseStatus.NO_DATA}:
                mark(self.explained, moved)
        self.known = tuple(still)

    def _has_left(self, aa: int) -> bool:
        """Return whether this AA need not report any more, and does not: it is suspended."""
        return aa >= 0 and not (self.evidence.expected[aa] or self.evidence.reported[aa])

    def _across(self, one: Active) -> Flags | None:
        """Return the cells of an AA that a bad FIP explains, and of a FIP that a bad AA does.

        Else an AA that has recovered is bad as long as two of its FIPs are down for all.
        """
        explained = None
        for other in self.known:
            if not other.good and {one.locus.kind, other.locus.kind} in _ACROSS:
                if explained is None:
                    explained = np.zeros(self.counts.bad.shape, np.bool_)
                mark(explained, other)
        return explained

    def _look(self, one: Active, without: Flags | None = None) -> View:
        place = (ALL, *one.locus.cells)
        bad, events = self.counts.bad[place], self.counts.events[place]
        if without is not None:
            kept = ~without[place]
            bad, events = bad * kept, events * kept
        inside = LaneCounts(bad, events)
        return look(one, inside, self.usual.rates(*place), self.usual.limits(*place))

    def _absorb(self, number: int, absorbed: int) -> None:
        self.causes = [
            replace(cause, absorbed=(*cause.absorbed, absorbed))
            if cause.number == number
            else cause
            for cause in self.causes
        ]

    def find_new(self) -> None:
        """Cover what is left with new causes."""
        level = alarm_level(self.evidence.aas, self.evidence.fips)
        self.ratios = window = self._ratios()
        self.running = add_window(self.running, window, level)
        cover(self.running, window, level, self._take_out, self._fallen(), self._is_wide)
        self.ratios = no_ratios(0, 0)  # of no use to what is learned

    def learned(self, evaluated: Flags) -> dict[str, object]:
        """The baselines; a cause that lasts longer than a day teaches nothing any more.

        Nor does one of the whole network from its first window on: what all do at once would
        otherwise pass for wandering, and the cause dissolve into those that wander least.
        """
        stays = np.zeros_like(self.explained)
        for one in self.known:
            lasting = self.evidence.window - one.since > WINDOWS_PER_DAY
            if one.locus.kind is Kind.NETWORK or (lasting and one.locus.kind is not Kind.AGENT):
                mark(stays, one)
        self.counts.events[stays] = 0.0
        unknown = _slow(stays) | ~evaluated
        del stays
        doubtful = self._suspected()
        doubtful |= self.explained
        seen = Seen(self.counts.bad, self.counts.events, doubtful)
        rates = learn_rates(
            self.state.rates, seen, self.usual, self.evidence.hour, self.evidence.weekday
        )
        del seen, self.counts
        samples = np.where(unknown, np.float32(0.0), self.evidence.samples)
        latency = learn_latency(self.state.latency, self.evidence, samples, _slow(doubtful))
        return {
            "rates": with_changed(rates, self.changed),
            "latency": with_slower(latency, self.changed, self._median_shift),
        }

    def _suspected(self) -> Flags:
        """Cells with evidence that may still become a cause, and would be learned as usual."""
        level = alarm_level(self.evidence.aas, self.evidence.fips) * _SUSPECT
        sums = self.running.bounded
        fips, aas = sums.fip.max(0) > level, sums.aa.max(0) > level
        cells = fips[:, None, :] | aas[:, :, None] | (sums.path.max(0) > level)
        return np.repeat(cells, [lanes.stop - lanes.start for lanes in LANES_OF], axis=0)

    def _take_out(self, candidate: Candidate, ambiguous_with: tuple[Locus, ...]) -> Ratios:
        window = self.evidence.window
        earlier = tuple(
            window - ago
            for ago in range(candidate.spoke.bit_length() - 1, 0, -1)
            if candidate.spoke >> ago & 1
        )
        since = min(earlier, default=window)
        locus = self._beyond_heartbeats(candidate)
        others = tuple(one for one in ambiguous_with if one.apis != HEARTBEAT and one != locus)
        others = (*others, *of_the_only_aa(locus, self.counts.events))
        finding = Finding(locus, candidate.symptom, since, earlier, others)
        fresh = new_active(
            self.next_number, finding.locus, finding.symptom, finding.since,
            window, self.evidence.aas, self.evidence.fips,
        )  # fmt: skip
        fresh = replace(fresh, earlier=earlier)
        admitted = admit(self.known, finding, fresh, self._traffic)
        self.next_number += admitted.number == self.next_number
        number = admitted.number
        one = next(active for active in admitted.known if active.number == number)
        one = self._with_right_latency(one)
        view = self._look(one)
        one, _ = follow(one, view, self.evidence.window)
        self.known = tuple(one if active.number == number else active for active in admitted.known)
        known_before = any(active.number == number for active in self.state.known)
        gone = {number, *admitted.absorbed}
        absorbed = admitted.absorbed + tuple(
            other for cause in self.causes if cause.number in gone for other in cause.absorbed
        )
        self.causes = [cause for cause in self.causes if cause.number not in gone]
        said = CauseStatus.BAD if known_before else CauseStatus.NEW
        self.causes.append(cause_of(one, view, said, tuple(sorted(set(absorbed)))))
        return self._ratios_without(one)

    def _beyond_heartbeats(self, candidate: Candidate) -> Locus:
        """Name the whole FIP, AA or network where heartbeats show a cause and no call denies it.

        Of a FIP that is seldom called heartbeats are nearly all there is: it is down, not they.
        """
        locus = candidate.locus
        if locus.apis != HEARTBEAT:
            return locus
        match locus.kind:
            case Kind.FIP_API:
                sums, whole = self.ratios.fip_lane[..., locus.fip], Kind.FIP
            case Kind.AA_API:
                sums, whole = self.ratios.aa_lane[..., locus.aa], Kind.AA
            case Kind.NETWORK:
                sums, whole = self.ratios.network_lane, Kind.NETWORK
            case _:
                return locus
        tilt = int(np.argmax(sums[:, candidate.lane]))
        rest = float(sums[tilt, LANES_OF[candidate.symptom]].sum() - sums[tilt, candidate.lane])
        return locus if rest <= _DENIED else Locus(whole, locus.aa, locus.fip)

    def _with_right_latency(self, one: Active) -> Active:
        """Say `SLOW` when the median moved, and only `TAIL` when it did not."""
        latency = one.symptoms & {Symptom.SLOW, Symptom.TAIL}
        if not latency:
            return one
        right = latency | {Symptom.SLOW}
        if self._median_shift(one.locus) < _MEDIAN_MOVED:
            tail = replace(one, symptoms=frozenset({Symptom.TAIL}))
            shown = self._look(tail).total.max() > _SHOWN
            right = frozenset({Symptom.TAIL}) if shown else latency
        return replace(one, symptoms=(one.symptoms - latency) | right)

    def _median_shift(self, locus: Locus) -> float:
        """Logarithm of p50 against the usual, over the calls of the place."""
        apis = [not locus.apis or api in locus.apis for api in TIMED_APIS]
        aas, fips = locus.cells
        weight = self.evidence.samples[apis][:, aas, fips]
        p50 = np.log(np.maximum(self.evidence.percentiles[apis][:, aas, fips, 0], 1.0))
        usual = usual_median(self.state.latency, self.evidence.hour)[apis][:, aas, fips]
        return float((weight * (p50 - usual)).sum() / max(float(weight.sum()), 1.0))

    def _unexplained(self, lanes: slice = ALL, aas: slice = ALL, fips: slice = ALL) -> LaneCounts:
        """The counts that no cause explains, as far as they have a voice."""
        voice, explained = self.voice[lanes, :, fips], self.explained[lanes, aas, fips]
        bad = self.counts.bad[lanes, aas, fips] * voice
        events = self.counts.events[lanes, aas, fips] * voice
        bad[explained] = events[explained] = 0.0
        return LaneCounts(bad, events)

    def _ratios(self) -> Ratios:
        each = ((self._unexplained(lanes), self.usual.limits(lanes)) for lanes in LANES_OF)
        return ratios(self.evidence.aas, self.evidence.fips, each)

    def _ratios_without(self, one: Active) -> Ratios:
        """The ratios of what is left, now that a cause explains what it does."""
        aas, fips = one.locus.cells
        if aas == fips == ALL:
            mark(self.explained, one)
            self.ratios = self._ratios()
            return self.ratios
        if aas != ALL:
            fips = ALL
        gone = self._unexplained(ALL, aas, fips)
        mark(self.explained, one)
        kept = self._unexplained(ALL, aas, fips)
        limits = self.usual.limits(ALL, aas, fips)
        self.ratios = ratios_without(self.ratios, gone, kept, limits, aas, fips)
        return self.ratios

    def _fallen(self) -> Fallen:
        """FIPs and AAs that lose most of very many calls, as most of their other sides see."""
        lanes = LANES_OF[Symptom.FAILURES]
        bad, events = self.counts.bad[lanes].sum(0), self.counts.events[lanes].sum(0)
        busy = events >= BUSY
        seen = busy & (bad >= _SEEN_SHARE * events)
        alone = seen & ~seen_by_others(seen, busy)  # what most others lose too is not the AA's
        return Fallen(lost(bad, events, busy, seen, 0, 2), lost(bad, events, busy, alone, 1, 4))

    def _is_wide(self, candidate: Candidate) -> bool:
        """Return whether nearly all pairs, AAs and FIPs with calls enough show the symptom.

        Of an AA, a good part of its pairs: two paths of many that fail are not the AA. Any other
        place is wide enough.
        """
        if candidate.locus.kind not in {Kind.NETWORK, Kind.AA, Kind.AA_API}:
            return True
        lanes = LANES_OF[candidate.symptom]
        if candidate.lane >= 0:
            lanes = slice(candidate.lane, candidate.lane + 1)
        left = ~self.explained[lanes]
        bad, events = self.counts.bad[lanes] * left, self.counts.events[lanes] * left
        usual, limit = self.usual.rates(lanes), self.usual.limits(lanes)
        worse = np.sign(limit - usual)
        if candidate.aa >= 0:
            beyond = ((bad - events * limit) * worse).sum(0)
            return is_the_aas(candidate.aa, beyond, events.sum(0))
        # Half the way to what may still be nothing: few calls show a change of all by halves.
        beyond = ((bad - events * (usual + limit) / 2) * worse).sum(0)
        calls = events.sum(0)
        return bool((calls >= BUSY).sum() >= _FEWEST_PAIRS) and all(
            nearly_all(beyond.sum(axes), calls.sum(axes)) for axes in ((), (0,), (1,))
        )

    def _traffic(self, locus: Locus, symptom: Symptom) -> tuple[Flags, Flags, Flags]:
        lanes = LANES_OF[symptom]
        aas = slice(None) if locus.aa < 0 or locus.kind is Kind.PATH else [locus.aa]
        fips = slice(None) if locus.fip < 0 or locus.kind is Kind.PATH else [locus.fip]
        events = self.counts.events[lanes]
        if locus.kind is Kind.PATH:
            by_aa = events[:, :, locus.fip].sum(0)
            by_fip = events[:, locus.aa, :].sum(0)
            return by_aa >= BUSY, by_fip >= BUSY, np.zeros(0, np.bool_)
        block = events[:, aas, :][:, :, fips]
        by_lane = np.zeros(self.counts.events.shape[0], np.bool_)
        by_lane[lanes] = block.sum((1, 2)) >= BUSY
        return by_lane[:0], by_lane[:0], by_lane


def _slow(cells: Flags) -> Flags:
    """Return whether any lane of slow calls is set, by `TIMED_APIS`."""
    return np.asarray(cells[LANES_OF[Symptom.SLOW]])
