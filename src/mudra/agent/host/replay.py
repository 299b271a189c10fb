"""`agent replay FILE`: the payloads that a log gives. Nothing is sent or stored.

Windows without a line are left out: a log does not say whether the agent ran in them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.payload import Payload, Reporter, payloads
from mudra.agent.counting.window import CLOSE_DELAY, WINDOW, Windows
from mudra.agent.sources.left_out import SourceMetrics
from mudra.agent.sources.logs.access_log import LineReader
from mudra.agent.sources.logs.log_formats import Fields
from mudra.agent.sources.logs.log_source import pieces
from mudra.agent.sources.route import Peers, SourceContext
from mudra.shared.build_version import version

_MAX_LINE: Final = 1 << 20


class UnreadableLog(Exception):
    """The log cannot be read, and why."""


@dataclass(slots=True)
class ReplayClock:
    """A clock that shows the time of the latest line: a replay has no time of its own."""

    now: int = 0

    @property
    def boot(self) -> str:
        """Return a constant: a replay is never restarted."""
        return "replay"

    def wall(self) -> int:
        """Return milliseconds since 1970 of the latest line."""
        return self.now

    def monotonic(self) -> int:
        """Return the same: a log has one time only."""
        return self.now


class ReplayContext(SourceContext):
    """Accepts lines of every age: nothing is delivered."""

    def is_reportable(self, wall: int, now: int) -> bool:
        """Return whether there is a time at all."""
        return wall > 0 or now > 0


class Replay:
    """Turns one log into payloads."""

    def __init__(self, aa_id: str, fields: Fields, fips: dict[str, str], *, inbound: bool) -> None:
        self._aa_id, self._fields, self._inbound = aa_id, fields, inbound
        self._clock = ReplayClock()
        self._context = ReplayContext(self._clock, peers=Peers(fips))
        self.counter = Counter(Windows(), FiSessionTracker())

    @property
    def metrics(self) -> SourceMetrics:
        """Counts of the lines that are in no payload."""
        return self._context.metrics

    @property
    def lines_read(self) -> bool:
        """Return whether any line was one of the format."""
        return self._clock.now > 0

    def payloads(self, path: Path) -> Iterator[Payload]:
        """Return the payloads of this log, plain or packed, window by window.

        Raises UnreadableLog.
        """
        reader = LineReader(self._fields, self._context, inbound=self._inbound, name=str(path))
        for lines in _lines(path):
            self.counter.apply(reader.calls(lines))
            self._clock.now = max(self._clock.now, reader.latest)
            yield from self._closed(self._clock.now)
        yield from self._closed(self._clock.now + WINDOW + CLOSE_DELAY)

    def _closed(self, now: int) -> Iterator[Payload]:
        self.counter.expire(now)
        by = Reporter(self._aa_id, f"mudra-{version()}")
        for start in self.counter.windows.due(now):
            yield from payloads(start, self.counter.close(start), by)


def _lines(path: Path) -> Iterator[list[bytes]]:
    """Return the lines; one without an end in a megabyte comes in parts, none of them readable."""
    rest = b""
    try:
        for piece in pieces(path):
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > _MAX_LINE:
                lines, rest = [*lines, rest], b""
            yield lines
    except OSError as error:
        raise UnreadableLog(error.strerror or str(error)) from None
    if rest:
        yield [rest]
