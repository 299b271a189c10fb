"""Logs: one JSON object a line on standard error, control characters escaped.

Request lines are gathered and written twice a second: a write for each would
cost more than the line.
"""

import logging
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TextIO

import msgspec
import structlog

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_MAX_WAITING: Final = 20_000
_FAULT: Final = 500
_UNAVAILABLE: Final = 503
_PROBES: Final = frozenset({"/livez", "/readyz"})
_LINKS: Final = ("/activate/", "/status/subscription/")

TraceIds = Callable[[], Mapping[str, str]]
"""Returns trace_id and span_id of the current span in hexadecimal; nothing outside of one."""


def _no_trace() -> Mapping[str, str]:
    return {}


_target: TextIO = sys.stderr
_least = _LEVELS["info"]
_trace_ids: TraceIds = _no_trace


def set_up_logging(level: str, stream: TextIO | None = None) -> None:
    """Send structlog and the standard library's loggers to `stream` as JSON lines."""
    target = stream or sys.stderr
    global _target, _least  # one log of a process, as the standard library has it
    _target, _least = target, _LEVELS[level]
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _with_trace,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(ensure_ascii=True)],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        # In one write with its end: another thread's line could come between the two.
        logger_factory=lambda *_: LogWriter(target),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processor=structlog.processors.JSONRenderer(ensure_ascii=True),
            foreign_pre_chain=shared,
        )
    )
    logging.basicConfig(level=max(_LEVELS[level], logging.WARNING), handlers=[handler], force=True)


def name_traces(trace_ids: TraceIds) -> None:
    """Give each line of this process the IDs of the trace in which it is written."""
    global _trace_ids  # noqa: PLW0603  # one log of a process
    _trace_ids = trace_ids


def _with_trace(_: object, __: str, line: structlog.types.EventDict) -> structlog.types.EventDict:
    return {**line, **_trace_ids()}


def shown_path(path: str) -> str:
    """Return a path without the token of an email's link, at most 200 characters."""
    for kind in _LINKS:
        head, link, _ = path.partition(kind)
        if link:
            return f"{head}{link}***"
    return path[:200]


def level_of(path: str, status: int) -> str:
    """Return the level of a request line: debug for a probe that is answered 200, as every second.

    503 is a warning: another line, or the one who stops the node, has its cause.
    """
    if status >= _FAULT:
        return "warning" if status == _UNAVAILABLE else "error"
    return "debug" if path in _PROBES else "info"


class LogWriter:
    """Writes lines that nothing depends on: a full or broken disk stops no request.

    Lines that the stream did not take are counted; the next one that it takes says how many.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.lost = 0

    def write(self, text: str, lines: int = 1) -> None:
        """Write whole lines, or count them."""
        with self._lock:
            gap = f'{{"event":"log lines were lost","lines":{self.lost}}}\n' if self.lost else ""
            try:
                self._stream.write(gap + text)
                self._stream.flush()
                self.lost = 0
            except (OSError, ValueError):  # ValueError: the stream is closed
                self.lost += lines

    def msg(self, message: str) -> None:
        """Write one line of structlog."""
        self.write(message + "\n")

    debug = info = warning = error = critical = msg


class RequestLine(msgspec.Struct, omit_defaults=True):
    """One answered request. The body is never logged, nor the query of an address."""

    timestamp: datetime
    level: str
    event: str
    method: str
    path: str
    status: int
    ms: float
    address: str
    txn_id: str = ""
    trace_id: str = ""
    span_id: str = ""


class RequestLog:
    """Gathers request lines; `flush` writes them."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._writer = LogWriter(stream or _target)
        self._encoder = msgspec.json.Encoder()
        self._waiting: list[RequestLine] = []
        self._lock = threading.Lock()
        self.dropped = 0

    def note(self, line: RequestLine) -> None:
        """Note a request with its trace, unless the log leaves out lines of its level.

        Beyond a bound lines are dropped and counted, never kept waiting.
        """
        if _LEVELS[line.level] < _least:
            return
        if ids := _trace_ids():
            line = msgspec.structs.replace(line, **ids)
        if len(self._waiting) < _MAX_WAITING:
            self._waiting.append(line)
        else:
            self.dropped += 1

    def flush(self) -> None:
        """Write what was gathered, in one piece."""
        with self._lock:
            lines, self._waiting = self._waiting, []
            if lines:
                text = b"".join(self._encoder.encode(line) + b"\n" for line in lines)
                self._writer.write(_ascii(text.decode()), len(lines))


def _ascii(text: str) -> str:
    r"""Escape what is not ASCII as JSON does.

    A path may hold U+2028, C1 controls or bidirectional marks, which a terminal or a log
    viewer takes for line ends or reorders.
    """
    if text.isascii():
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2] for at in range(0, len(units), 2))
    return "".join(chr(one[1]) if one < b"\0\x80" else f"\\u{one.hex()}" for one in pairs)
