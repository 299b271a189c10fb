"""Lines of JSON access logs of nginx, Envoy and HAProxy.

Each format has its usual field names, which `agent.toml` may rename. A proxy
invents a status when the FIP gave none (504, 502, 499): its own flags
distinguish the two, so such a call counts as no answer and not as a 504 of the FIP.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from mudra.agent.counting.event import NO_STATUS, UNKNOWN, Call, plausible_size
from mudra.agent.counting.tally import MAX_LENGTH
from mudra.agent.sources.body import notification, parse_time, session_id
from mudra.agent.sources.route import SourceContext
from mudra.metrics.payload.catalogue import NotificationType

_FI_NOTIFICATION: Final = NotificationType.FI.value
_STATUSES: Final = range(100, 600)
_CLIENT_GONE: Final = 499
_MADE_BY_PROXY: Final = frozenset({502, 503, 504, _CLIENT_GONE})
_ENVOY_NO_ANSWER: Final = frozenset(
    {"UT", "UF", "UC", "UR", "UH", "UO", "URX", "NR", "NC", "DC", "LR", "UPE", "DT", "DPE", "SI"}
)
_LINE: Final = msgspec.json.Decoder(dict[str, object])


@dataclass(frozen=True, slots=True)
class Fields:
    """The field names and units of one format."""

    kind: str
    time: str
    took: str
    took_unit: int
    """Milliseconds in one unit of `took`."""
    time_is_end: bool
    method: str = "method"
    path: str = "uri"
    status: str = "status"
    host: str = "host"
    size: str = "bytes"
    flags: str = ""
    answered: str = ""
    """nginx: when the peer's headers came; `-` when they did not."""
    fip: str = "fip"
    session: str = "session"
    statuses: str = "fi_statuses"


FORMATS: Final = {
    "nginx": Fields(
        "nginx", time="time", took="request_time", took_unit=1000, time_is_end=True,
        flags="upstream_status", answered="upstream_header_time",
    ),
    "envoy": Fields(
        "envoy", time="start_time", took="duration", took_unit=1, time_is_end=False,
        path="path", status="response_code", host="authority", size="bytes_sent",
        flags="response_flags",
    ),
    "haproxy": Fields(
        "haproxy", time="time", took="ta", took_unit=1, time_is_end=False,
        path="path", flags="termination_state",
    ),
}  # fmt: skip  # one format a paragraph


def renamed(fields: Fields, names: Mapping[str, str]) -> Fields:
    """Return the format with other field names."""
    return replace(fields, **dict(names))  # type: ignore[arg-type]  # config.py allows text fields only


class LineReader:
    """Turns lines of one file into calls."""

    __slots__ = ("_context", "_fields", "_inbound", "latest")

    def __init__(self, fields: Fields, context: SourceContext, *, inbound: bool) -> None:
        self._fields, self._context, self._inbound = fields, context, inbound
        self.latest = 0
        """Wall time of the end of the latest call that was read."""

    def calls(self, lines: list[bytes]) -> list[Call]:
        """Return the counted calls in these lines; unreadable lines are noted in the metrics."""
        now, mono = self._context.clock.wall(), self._context.clock.monotonic()
        found: list[Call] = []
        decode, metrics = _LINE.decode, self._context.metrics
        for line in lines:
            if not line.strip():
                continue
            try:
                call = self._call(decode(line), now, mono)
            except (msgspec.DecodeError, ValueError, TypeError, OverflowError, RecursionError):
                metrics.unreadable += 1
                continue
            if call is not None:
                found.append(call)
        return found

    def _call(self, line: dict[str, object], now: int, mono: int) -> Call | None:
        fields, context, get = self._fields, self._context, line.get
        took = _milliseconds(get(fields.took), fields.took_unit)
        at = _time(line[fields.time]) if fields.time in line else UNKNOWN
        if at == UNKNOWN:
            context.metrics.unreadable += 1
            return None
        start = at - took if fields.time_is_end else at
        self.latest = max(self.latest, start + took)
        code = context.routes.code(
            str(get(fields.method, "")), str(get(fields.path, "")), inbound=self._inbound
        )
        if not code:
            context.metrics.other_calls += 1
            return None
        fip = str(get(fields.fip) or "") or context.peers.of_host(str(get(fields.host) or ""))
        if not fip or not context.peers.valid(fip):
            context.metrics.unknown_peer += 1
            return None
        if not context.is_reportable(start, now):
            return None
        session = session_id(str(get(fields.session) or ""))
        notified = None
        if self._inbound and code == _FI_NOTIFICATION:
            statuses = str(get(fields.statuses) or "")
            notified = notification(session, set(filter(None, statuses.split(","))))
        return Call(
            self._inbound, fip, code, start, mono - (now - start), took, self._status(line),
            plausible_size(_whole(get(fields.size))), session, notified,
        )  # fmt: skip  # the fields in their order

    def _status(self, line: Mapping[str, object]) -> int:
        fields = self._fields
        status = _whole(line.get(fields.status))
        if status not in _STATUSES or (status == _CLIENT_GONE and not self._inbound):
            return NO_STATUS
        if self._inbound or status not in _MADE_BY_PROXY:
            return status
        flags = str(line.get(fields.flags) or "")
        if fields.kind == "nginx":
            return (
                NO_STATUS if _made_by_nginx(flags, str(line.get(fields.answered, ""))) else status
            )
        if fields.kind == "envoy":
            return NO_STATUS if _ENVOY_NO_ANSWER.intersection(flags.split(",")) else status
        # HAProxy: the first character says that a session ended early, the second that
        # it ended before the server's headers had come.
        return NO_STATUS if flags[:1] not in {"", "-"} and flags[1:2] in set("CQH") else status


def _made_by_nginx(upstream_status: str, header_time: str) -> bool:
    """Return whether no upstream answered; of several tries the last one counts."""
    last_status = upstream_status.replace(":", ",").rpartition(",")[2].strip()
    last_time = header_time.replace(":", ",").rpartition(",")[2].strip()
    return last_status == "-" or last_time == "-"


def _time(value: object) -> int:
    """Return milliseconds since 1970 from ISO 8601, seconds, or milliseconds."""
    if isinstance(value, str):
        if not value[:11].replace(".", "").isdigit():
            return parse_time(value)
        value = float(value)
    if not isinstance(value, int | float):
        return UNKNOWN
    return round(value * 1000) if value < 1e11 else round(value)  # noqa: PLR2004 - seconds until the year 5138


def _milliseconds(value: object, unit: int) -> int:
    if isinstance(value, str):
        value = float(value) if value not in {"", "-"} else 0
    return min(max(round(value * unit), 0), MAX_LENGTH) if isinstance(value, int | float) else 0


def _whole(value: object) -> int:
    if isinstance(value, int):
        return max(value, 0)
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0  # noqa: PLR2004 - below 2^63
