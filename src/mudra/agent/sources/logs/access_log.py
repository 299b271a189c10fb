"""Lines of JSON access logs of nginx, Envoy, HAProxy, Kong and Apigee.

Each format has its usual field names, which `agent.toml` may rename. Which status is the FIP's,
`log_formats.py` says.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from mudra.agent.counting.event import NO_STATUS, UNKNOWN, Call, plausible_size
from mudra.agent.counting.tally import MAX_LENGTH
from mudra.agent.sources.body import notification, parse_time, session_id
from mudra.agent.sources.left_out import Reason, Unreadable, shown
from mudra.agent.sources.logs.log_formats import (
    STATUSES,
    Evidence,
    Fields,
    form_of,
    names_of,
    proven_status,
    value_of,
)
from mudra.agent.sources.route import SourceContext
from mudra.agent.sources.tolerant_json import decoded
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.shared.text.byte_order_mark import MARK
from mudra.shared.text.undecodable import UNDECODABLE
from mudra.shared.text.whole_number import number, whole_number

_FI_NOTIFICATION: Final = NotificationType.FI.value
_FI_FETCH: Final = RequestType.FI_FETCH.value
_NO_VALUE: Final = frozenset({None, "", "-"})
_LINE: Final = msgspec.json.Decoder(dict[str, object])
_SYSLOG: Final = re.compile(rb"[^{\"]{0,200}[: ](?:" + MARK + rb")?(?=\{)")
"""What a log service writes in front of a line: RFC 3164, RFC 5424, a container's runtime."""
_PADDING: Final = b"\0 \t\r" + MARK


class LineReader:
    """Turns lines of one file into calls."""

    __slots__ = ("_context", "_dotted", "_fields", "_inbound", "_name", "latest")

    def __init__(
        self, fields: Fields, context: SourceContext, *, inbound: bool, name: str = "line"
    ) -> None:
        self._fields, self._context, self._inbound = fields, context, inbound
        self._name = name
        self._dotted = tuple(name for name in names_of(fields) if "." in name)
        self.latest = 0
        """Wall time of the end of the latest call that was read."""

    def calls(self, lines: list[bytes]) -> list[Call]:
        """Return the counted calls in these lines; others are noted in the metrics."""
        now, mono = self._context.clock.wall(), self._context.clock.monotonic()
        found: list[Call] = []
        for line in lines:
            # A file that was emptied under a writer that does not append begins with zeros.
            text = line.strip(_PADDING)
            if not text:
                continue
            try:
                read = _object(text)
                for name in self._dotted:
                    if (value := value_of(read, name)) is not None:
                        read[name] = value
                call = self._call(read, now, mono)
            except Unreadable as error:
                self._context.metrics.leave_out(error.reason, f"{self._name}: {error}")
                continue
            if call is not None:
                found.append(call)
        return found

    def _call(self, line: Mapping[str, object], now: int, mono: int) -> Call | None:
        fields, context = self._fields, self._context
        at = parse_time(line.get(fields.time))
        if at == UNKNOWN:
            raise Unreadable(
                Reason.BAD_TIME, f"{fields.time} is no time: {shown(line.get(fields.time))}"
            )
        took = self._took(line, at)
        start = at - (took or 0) if fields.time_is_end else at
        self.latest = max(self.latest, start + (took or 0))
        code = context.routes.code(
            self._text(line, fields.method), self._text(line, fields.path), inbound=self._inbound
        )
        if not code:
            if fields.path not in line:  # of another form, such as Docker's around each line
                raise Unreadable(Reason.BAD_FIELD, f"it has no field {fields.path}")
            context.metrics.leave_out(Reason.OTHER_CALL)
            return None
        host = self._text(line, fields.host)
        fip = self._text(line, fields.fip) or context.peers.of_host(host)
        if not fip or not context.peers.valid(fip):
            context.metrics.leave_out(
                Reason.UNKNOWN_PEER, f"{self._name}: {fields.host} {shown(fip or host)}"
            )
            return None
        if not context.is_reportable(start, now):
            return None
        status = self._status(line)
        if took is None and status != NO_STATUS and not self._inbound:
            raise Unreadable(Reason.BAD_FIELD, f"{fields.took} is missing")
        session = session_id(self._text(line, fields.session))
        notified = None
        if self._inbound and code == _FI_NOTIFICATION:
            notified = notification(session, self._statuses(line))
        size = whole_number(line.get(fields.size)) if code == _FI_FETCH else 0
        return Call(
            self._inbound, fip, code, start, mono - (now - start), took or 0, status,
            plausible_size(size or 0), session, notified,
        )  # fmt: skip  # the fields in their order

    def _took(self, line: Mapping[str, object], at: int) -> int | None:
        """Return milliseconds; None where the line does not say. Raises Unreadable."""
        fields = self._fields
        sent = line.get(fields.took)
        if (isinstance(sent, str) and sent in _NO_VALUE) or sent is None:
            # Apigee has the moments of a call, and no time that it took.
            ended = parse_time(line.get(fields.answered)) if fields.answered else UNKNOWN
            return max(0, ended - at) if fields.kind == "apigee" and ended > 0 else None
        took = number(sent)
        if took is None:
            raise Unreadable(Reason.BAD_NUMBER, f"{fields.took} is no number: {shown(sent)}")
        return round(min(max(took * fields.took_unit, 0), MAX_LENGTH))

    def _status(self, line: Mapping[str, object]) -> int:
        """Return the status that counts. Raises Unreadable for what is no status."""
        fields = self._fields
        sent = line.get(fields.status)
        if sent is None or (isinstance(sent, str) and sent in _NO_VALUE):
            return NO_STATUS
        status = whole_number(sent)
        if status is None:
            raise Unreadable(Reason.BAD_NUMBER, f"{fields.status} is no status: {shown(sent)}")
        if status not in STATUSES:
            return NO_STATUS
        if self._inbound:
            return status
        proven = proven_status(fields.kind, status, Evidence.of(line, fields))
        if proven is None:
            wanted = fields.details or fields.flags or fields.answered
            self._context.metrics.leave_out(
                Reason.UNPROVEN, f"{self._name}: lines of {fields.kind} need the field {wanted}"
            )
            return NO_STATUS
        return proven

    def _statuses(self, line: Mapping[str, object]) -> set[str]:
        """Return the names of the FI statuses, which are an array or separated by commas."""
        sent = line.get(self._fields.statuses)
        names = sent if isinstance(sent, list) else str(sent or "").split(",")
        return {str(name) for name in names if name}

    def _text(self, line: Mapping[str, object], name: str) -> str:
        found = line.get(name)
        if type(found) is str:
            return "" if found == "-" else found
        return "" if found is None else str(found)


def _object(line: bytes) -> dict[str, object]:
    """Return a line as an object. Raises Unreadable, which names the format where it is known."""
    if line[:1] != b"{":
        prefix = _SYSLOG.match(line)
        if prefix is None:
            raise Unreadable(Reason.MALFORMED, f"a line is no JSON: it has the {form_of(line)}")
        line = line[prefix.end() :]
    try:
        return decoded(_LINE, line)
    except UNDECODABLE as error:
        raise Unreadable(Reason.MALFORMED, f"a line is no JSON object: {error}") from None
