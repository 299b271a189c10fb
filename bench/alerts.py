"""Every alert broken for real: the seconds until it is pending, fires, and has ended again.

    python -m bench.alerts [ALERT ...]

Each scene is a real service with a PostgreSQL, scraped every 15 s as the how-to says by a
Prometheus with the shipped rules, and asked for tokens all the time; in it one thing after the
other is broken and repaired. Scenes run next to each other. A rule that holds or looks back for
more than five minutes is waited for in a copy whose durations are five minutes at most, and is
marked; so are the seconds of what then ends. `bench/alert_watch.py` has both.
Goals: each alert fires within two minutes or the longer time of its rule, and ends after the
repair; no text of it lacks a value. Needs root for a disk of its own, git, and `prometheus` and
`promtool`, which Debian has in one package. `ALERTS_FASTER` divides the scrape interval and every
duration of the rules; a short run does so by 15 and takes one fault.
"""

import contextlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import inf
from pathlib import Path
from traceback import format_exception
from typing import Any, Final

import httpx2
from msgspec import Struct
from tests.support.http_clients import NO_TLS

from bench import lasting_faults, moved_clock_faults, network_faults, process_faults
from bench.alert_faults import AnyScene, Fault, Place, again_and_again
from bench.alert_watch import FASTER, Prometheus, Watch, watch
from bench.process_faults import TOKENS
from bench.sizes import exit_code, sized
from bench.support import say, scratch

SCENES: Final[dict[str, AnyScene]] = {
    **process_faults.SCENES,
    **lasting_faults.SCENES,
    **moved_clock_faults.SCENES,
    **network_faults.SCENES,
}
ALERTS: Final = [
    name for scene in SCENES.values() for fault in scene.faults for name in fault.alerts
]
Turn = contextlib.AbstractContextManager[Any]
_TOO_LONG_S: Final = 600.0
_TICK_S: Final = 0.5
_COPY_LATER_S: Final = 60.0
"""The copy scrapes at other moments."""
_COPY: Final = " (copy)"


class Broken(Struct):
    """An alert that was broken; None is what did not come."""

    alert: str
    how: str
    goal_s: float
    severity: str = ""
    text: str = ""
    pending_s: float | None = None
    firing_s: float | None = None
    firing_in_copy: bool = False
    rang_in_copy: bool = False
    ended_s: float | None = None
    ended_in_copy: bool = False
    others: tuple[str, ...] = ()
    """What else fired by then."""
    problem: str = ""

    @property
    def is_late(self) -> bool:
        """Return whether a goal is missed."""
        return bool(self.problem) or (self.firing_s or inf) > self.goal_s / FASTER

    def row(self) -> str:
        """Return it as a row of a table."""
        firing = f"{_shown(self.firing_s)}{_COPY * self.firing_in_copy}"
        ended = f"{_shown(self.ended_s)}{_COPY * self.ended_in_copy}"
        parts = (self.alert, self.severity, self.how, _shown(self.pending_s), firing, ended)
        return f"| {' | '.join((*parts, self.problem or self.text))} |"


def _shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f}"


def main() -> int:
    """Break what each alert is about, and print the table; 1 where a goal is missed."""
    wanted = frozenset(sys.argv[1:] or sized(ALERTS, ["MudraNodeDown"]))
    scenes = [
        name
        for name, scene in SCENES.items()
        if any(wanted.intersection(fault.alerts) for fault in scene.faults)
    ]
    if len(scenes) == 1:
        found = _played(scenes[0], wanted, threading.Lock())
    else:
        apart = multiprocessing.get_context("spawn")
        with (
            apart.Manager() as shared,
            ProcessPoolExecutor(len(scenes), mp_context=apart) as processes,
        ):
            turn = shared.Lock()
            begun = [processes.submit(_played, name, wanted, turn) for name in scenes]
            found = [one for each in begun for one in each.result()]
    print("| alert | severity | broken by | pending, s | firing, s | ended, s | what it said |")
    print("|---|---|---|---|---|---|---|")
    for one in found:
        print(one.row())
    for one in found:
        if one.others:
            print(f"with {one.alert}: {', '.join(one.others)}")
    late = [one.alert for one in found if one.is_late]
    print(f"alerts broken for real: {len(found)}; goals missed: {', '.join(late) or 'none'}")
    return exit_code(met=not late)


def _played(name: str, wanted: Collection[str], turn: Turn) -> list[Broken]:
    """Play a scene; one that cannot be opened has broken nothing, and says so."""
    try:
        return _opened(SCENES[name], wanted, turn)
    except Exception as error:  # noqa: BLE001  # it is in the table, and the run fails
        say(f"{name}: {''.join(format_exception(error))}")
        return [
            Broken(alert, fault.how, fault.goal_s, problem=repr(error))
            for fault in SCENES[name].faults
            for alert in fault.alerts
            if alert in wanted
        ]


def _opened(scene: AnyScene, wanted: Collection[str], turn: Turn) -> list[Broken]:
    """Open it in its turn: two cores start no ten services at once."""
    with scratch() as folder, contextlib.ExitStack() as held:
        with turn:
            place = held.enter_context(scene.opened(Path(folder)))
            both = held.enter_context(watch(Path(folder), place.telemetry))
        held.enter_context(_asked(place))
        _wait(
            lambda: both.shipped.is_watching() and both.short.is_watching(),
            "Prometheus sees no node",
        )
        return [
            one
            for fault in scene.faults
            if set(wanted).intersection(fault.alerts)
            for one in _measured(fault, place, both)
        ]


def _measured(fault: Fault[Place], place: Place, both: Watch) -> list[Broken]:
    """Break it and repair it; the other faults are measured also where this one fails."""
    broken = [Broken(name, fault.how, fault.goal_s) for name in fault.alerts]
    names = ", ".join(fault.alerts)
    try:
        _wait(lambda: not _ringing(both).intersection(fault.alerts), "it rings before the fault")
        say(f"{names}: {fault.how}")
        before = _firing(both.shipped)
        with fault.made(place):
            _until_firing(both, broken, time.monotonic(), before)
            began = time.monotonic()
        _until_ended(both, broken, began)
        _until_ready(place)
    except Exception as error:  # noqa: BLE001  # it is in the table, and the run fails
        say(f"{names}: {''.join(format_exception(error))}")
        for one in broken:
            one.problem = str(error) or repr(error)
    for one in broken:
        say(one.row())
    return broken


def _until_firing(
    both: Watch, broken: Sequence[Broken], began: float, before: Collection[str]
) -> None:
    rules = both.shipped.rules()

    def looked() -> bool:
        shipped, short, now = both.shipped.ringing(), both.short.ringing(), time.monotonic() - began
        for one in broken:
            seen, in_copy = shipped.get(one.alert), short.get(one.alert)
            one.rang_in_copy |= in_copy is not None and in_copy.fires
            if seen is not None and one.pending_s is None:
                one.pending_s = now
            fires_here = seen is not None and seen.fires
            fires_there = rules[one.alert].fires_late and in_copy is not None and in_copy.fires
            if one.firing_s is None and (fires_here or fires_there):
                ringing = seen if fires_here else in_copy
                assert ringing is not None
                one.firing_s, one.firing_in_copy = now, not fires_here
                one.severity, one.text = ringing.severity, ringing.texts[0]
                of_others = _firing(both.shipped) - set(before) - {each.alert for each in broken}
                one.others = tuple(sorted(of_others))
                if faults := ringing.faults_of_text():
                    one.problem = f"a text lacks a value: {faults[0]}"
        return all(
            one.firing_s is not None
            and (
                one.rang_in_copy
                or not rules[one.alert].ends_late
                or now > one.firing_s + _COPY_LATER_S
            )
            for one in broken
        )

    longest = max(one.goal_s for one in broken)
    _wait(looked, "does not fire", max(_TOO_LONG_S, 1.5 * longest))


def _until_ended(both: Watch, broken: Sequence[Broken], began: float) -> None:
    rules = both.shipped.rules()

    def looked() -> bool:
        shipped, short, now = both.shipped.ringing(), both.short.ringing(), time.monotonic() - began
        for one in broken:
            ends_here = one.alert not in shipped
            waits = rules[one.alert].ends_late and one.rang_in_copy
            ends_there = waits and one.alert not in short
            if one.ended_s is None and (ends_here or ends_there):
                one.ended_s, one.ended_in_copy = now, not ends_here
        return all(one.ended_s is not None for one in broken)

    _wait(looked, "does not end after the repair")


def _ringing(both: Watch) -> set[str]:
    return {*both.shipped.ringing(), *both.short.ringing()}


def _firing(prometheus: Prometheus) -> set[str]:
    return {name for name, one in prometheus.ringing().items() if one.fires}


def _until_ready(place: Place) -> None:
    address = f"http://127.0.0.1:{place.port}/readyz"

    def is_ready() -> bool:
        with contextlib.suppress(httpx2.HTTPError):
            return httpx2.get(address, timeout=10, verify=NO_TLS).is_success
        return False

    _wait(is_ready, "the service does not become ready again")


def _wait(condition: Callable[[], bool], problem: str, within_s: float = _TOO_LONG_S) -> None:
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(problem)
        time.sleep(_TICK_S)


@contextlib.contextmanager
def _asked(place: Place) -> Iterator[None]:
    """Ask for tokens until the end of the block, each for a few seconds at most."""
    form = {"id": place.entity_id, "secret": place.secret}
    with httpx2.Client(timeout=5, verify=NO_TLS) as client:

        def ask() -> None:
            with contextlib.suppress(httpx2.TransportError):
                client.post(f"http://127.0.0.1:{place.port}{TOKENS}", data=form)

        with again_and_again(ask, _TICK_S / FASTER):
            yield


if __name__ == "__main__":
    sys.exit(main())
