"""`agent replay FILE`: what payloads would a log have made? Nothing is sent or kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.payload import Payload, Reporter, payloads
from mudra.agent.counting.window import CLOSE_DELAY, WINDOW, Windows
from mudra.agent.host.assembly import VERSION
from mudra.agent.sources.access_log import Fields, LineReader
from mudra.agent.sources.route import Peers, SourceContext, SourceMetrics

_LINES: Final = 5_000


@dataclass(slots=True)
class LogTime:
    """A clock that stands where the log is: a replay has no time of its own."""

    now: int = 0

    @property
    def boot(self) -> str:
        """A replay is never restarted."""
        return "replay"

    def wall(self) -> int:
        """Milliseconds since 1970 of the latest line."""
        return self.now

    def monotonic(self) -> int:
        """The same: a log has one time only."""
        return self.now


class AnyTime(SourceContext):
    """Takes lines of every age: the log is replayed for what it says, not for its delivery."""

    def is_reportable(self, wall: int, now: int) -> bool:
        """Every moment."""
        return wall > 0 or now > 0


class Replay:
    """One log on its way to payloads."""

    def __init__(self, aa_id: str, fields: Fields, fips: dict[str, str], *, inbound: bool) -> None:
        self._aa_id, self._fields, self._inward = aa_id, fields, inbound
        self._clock = LogTime()
        self._listener = AnyTime(self._clock, peers=Peers(fips))
        self.counter = Counter(Windows(), FiSessionTracker())

    @property
    def metrics(self) -> SourceMetrics:
        """What was in the log and is in no payload."""
        return self._listener.metrics

    def payloads(self, path: Path) -> Iterator[Payload]:
        """The payloads of this log, window by window. Raises OSError."""
        reader = LineReader(self._fields, self._listener, inbound=self._inward)
        with path.open("rb") as file:
            while lines := file.readlines(_LINES * 200):
                self.counter.apply(reader.calls(lines))
                self._clock.now = max(self._clock.now, reader.latest)
                yield from self._closed(self._clock.now)
        yield from self._closed(self._clock.now + WINDOW + CLOSE_DELAY)

    def _closed(self, now: int) -> Iterator[Payload]:
        self.counter.expire(now)
        by = Reporter(self._aa_id, f"mudra-{VERSION}")
        for start in self.counter.windows.due(now):
            yield from payloads(start, self.counter.close(start), by)
