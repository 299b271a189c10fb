"""The fields of each proxy's lines, and those that prove that the FIP itself answered.

A proxy at the AA answers in the FIP's place when it cannot resolve or reach it, when time is up,
when a rule of its own refuses the request. Such a call was made and had no answer of the FIP,
whatever status its line has. So a status counts where the line proves it, and not where nothing
speaks against it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import Final

from mudra.agent.counting.event import NO_STATUS
from mudra.shared.text.whole_number import number, whole_number

STATUSES: Final = range(100, 600)
_SUCCESSES: Final = range(200, 300)
_NONE: Final = frozenset({"", "-"})
_OF_NGINX_ITSELF: Final = frozenset({502, 504})
"""What nginx writes into `upstream_status` when it got no answer there."""
_CLIENT_GONE: Final = 499
_VIA_UPSTREAM: Final = "via_upstream"
_UPSTREAM: Final = "upstream"
_NO_SERVER: Final = "<"


@dataclass(frozen=True, slots=True)
class Fields:
    """The field names and units of one format; a name with dots is that of a member of a member."""

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
    """What the proxy says of the answer: nginx's and Kong's upstream status, flags of Envoy and
    HAProxy."""
    answered: str = ""
    """How long the FIP took to answer; none where it did not."""
    details: str = ""
    """Who answered, in words."""
    server: str = ""
    """The server that was asked."""
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
        flags="response_flags", answered="upstream_service_time",
        details="response_code_details", server="upstream_host",
    ),
    "haproxy": Fields(
        "haproxy", time="time", took="ta", took_unit=1, time_is_end=True,
        path="path", flags="termination_state", answered="tr", server="server",
    ),
    "kong": Fields(
        "kong", time="started_at", took="latencies.request", took_unit=1, time_is_end=False,
        method="request.method", path="request.uri", status="response.status",
        host="service.host", size="response.size", flags="upstream_status",
        answered="latencies.proxy", details="source",
    ),
    "apigee": Fields(
        "apigee", time="time", took="took", took_unit=1, time_is_end=False,
        path="path", answered="target_received",
    ),
}  # fmt: skip  # one format a paragraph


def renamed(fields: Fields, names: Mapping[str, str]) -> Fields:
    """Return the format with other field names."""
    return replace(fields, **dict(names))  # type: ignore[arg-type]  # config.py allows text fields only


def names_of(fields: Fields) -> set[str]:
    """Return the names of the fields that a line may have."""
    names = {str(getattr(fields, one.name)) for one in dataclass_fields(fields)}
    return names - {"", fields.kind, str(fields.took_unit), str(fields.time_is_end)}


def value_of(line: Mapping[str, object], name: str) -> object:
    """Return a member of a line, or of a member of it; None where there is none."""
    found: object = line.get(name)
    if found is None and "." in name:
        found = line
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    return found


@dataclass(frozen=True, slots=True)
class Evidence:
    """The fields of a line that speak of its answer."""

    flags: str | None
    """None: the line has no such field."""
    answered: str | None
    details: str | None
    server: str | None

    @classmethod
    def of(cls, line: Mapping[str, object], fields: Fields) -> "Evidence":
        """Read the evidence of a line."""
        flags, details = line.get(fields.flags), line.get(fields.details)
        return cls(
            None if flags is None else str(flags).strip(),
            _logged(line, fields.answered),
            None if details is None else str(details).strip(),
            _logged(line, fields.server),
        )


def _logged(line: Mapping[str, object], name: str) -> str | None:
    """Return a field as a text; null, Envoy's way to say that no server was asked, is empty."""
    if name not in line:
        return None
    value = line[name]
    return "" if value is None else str(value).strip()


def proven_status(kind: str, status: int, evidence: Evidence) -> int | None:
    """Return the FIP's own status; NO_STATUS where the proxy answered in its place.

    None where the line has no field that could say.
    """
    return _PROOFS[kind](status, evidence)


def _nginx(status: int, evidence: Evidence) -> int | None:
    if evidence.flags is None:
        return None
    own = whole_number(_last(evidence.flags))
    if own not in STATUSES or status == _CLIENT_GONE:
        return NO_STATUS
    if evidence.answered is not None:
        return own if number(_last(evidence.answered)) is not None else NO_STATUS
    return NO_STATUS if own in _OF_NGINX_ITSELF else own


def _envoy(status: int, evidence: Evidence) -> int | None:
    if evidence.details is not None and evidence.details not in _NONE:
        return status if evidence.details == _VIA_UPSTREAM else NO_STATUS
    if evidence.flags is not None and evidence.flags not in _NONE:
        return NO_STATUS
    known = [one for one in (evidence.answered, evidence.server) if one is not None]
    if known:
        return status if any(one not in _NONE for one in known) else NO_STATUS
    if evidence.flags is None:
        return None
    # Without details, a failure of no flag may be a filter's; a success is made by no filter.
    return status if status in _SUCCESSES else None


def _haproxy(status: int, evidence: Evidence) -> int | None:
    if evidence.server is not None and evidence.server.startswith(_NO_SERVER):
        return NO_STATUS
    if evidence.answered is not None:
        took = whole_number(evidence.answered)
        if took is None or took < 0:
            return NO_STATUS
    if evidence.flags is None:
        return None if evidence.answered is None else status
    # The first character says who ended the session, the second in which phase: before the
    # server's headers (R, Q, C, H, T), while or after the data came (D, L), or normally.
    ended, phase = evidence.flags[:1], evidence.flags[1:2]
    return status if ended in set("-cCsSDKU") and phase in set("-DL") else NO_STATUS


def _kong(status: int, evidence: Evidence) -> int | None:
    if evidence.details is not None and evidence.details != _UPSTREAM:
        return NO_STATUS
    took = None if evidence.answered is None else number(evidence.answered)
    if took is not None and took < 0:
        return NO_STATUS
    if evidence.flags is None:
        return None if evidence.details is None and took is None else status
    own = whole_number(_last(evidence.flags))
    if own not in STATUSES:
        return NO_STATUS
    is_sure = evidence.details is not None or took is not None
    return NO_STATUS if own in _OF_NGINX_ITSELF and not is_sure else own


def _apigee(status: int, evidence: Evidence) -> int | None:
    if evidence.answered is None:
        return None
    return status if (number(evidence.answered) or 0) > 0 else NO_STATUS


_PROOFS: Final[Mapping[str, Callable[[int, Evidence], int | None]]] = {
    "nginx": _nginx,
    "envoy": _envoy,
    "haproxy": _haproxy,
    "kong": _kong,
    "apigee": _apigee,
}


def _last(text: str) -> str:
    """Return the last of several tries, and of the servers of internal redirects."""
    if text.isalnum():
        return text
    return text.replace(" : ", ",").rpartition(",")[2].strip()


_REQUEST: Final = rb'"[A-Z]+ [^"]*"|"-"'
_FORMS: Final = (
    (
        "combined log format",
        re.compile(rb"\S+ \S+ \S+ \[[^\]]+\] (?:" + _REQUEST + rb') \d{3} (?:\d+|-) "[^"]*" "'),
    ),
    (
        "common log format",
        re.compile(rb"\S+ \S+ \S+ \[[^\]]+\] (?:" + _REQUEST + rb") \d{3} (?:\d+|-)"),
    ),
    (
        "default text format of Envoy",
        re.compile(rb"\[\d{4}-\d\d-\d\dT[^\]]+\] (?:" + _REQUEST + rb")"),
    ),
    (
        "HTTP log format of HAProxy",
        re.compile(rb"(?:.*: )?[0-9a-fA-F.:]+:\d+ \[[^\]]+\] \S+ \S+ [-+\d/]+ "),
    ),
    ("error log of nginx", re.compile(rb"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]+\] ")),
)


def form_of(line: bytes) -> str:
    """Return the name of the format of a line that is no JSON object."""
    for name, pattern in _FORMS:
        if pattern.match(line):
            return name
    return "form of no known format"
