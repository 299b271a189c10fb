"""The check of each log by `agent check`: it reads the last lines as the running agent would."""

import contextlib
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from mudra.agent.clock import Clock
from mudra.agent.counting.event import NO_STATUS
from mudra.agent.host.config import Config, LogSettings
from mudra.agent.sources.left_out import MEANING, UNREADABLE, Reason, SourceMetrics
from mudra.agent.sources.logs.access_log import LineReader
from mudra.agent.sources.logs.log_formats import FORMATS, Fields
from mudra.agent.sources.logs.log_source import open_source
from mudra.agent.sources.route import Peers, SourceContext
from mudra.agent.sources.tolerant_json import decoded
from mudra.shared.text.undecodable import UNDECODABLE

_READ: Final = 256 << 10
_LINES: Final = 200
_OBJECT: Final = msgspec.json.Decoder(dict[str, object])
_REFERENCE: Final = "docs/reference/agent-sources.md"


class CheckResult(msgspec.Struct, frozen=True):
    """The result of one check."""

    name: str
    ok: bool
    found: str
    way_out: str = ""


class _AnyTime(SourceContext):
    """Takes lines of every age: a log that is not written at the moment is read too."""

    def is_reportable(self, wall: int, now: int) -> bool:
        return wall > 0 or now > 0


def check_log(config: Config, log: LogSettings, clock: Clock) -> CheckResult:
    """Read the end of one log, and say which form it has and what would count."""
    try:
        lines = _last_lines(Path(log.path))
    except OSError as error:
        return _wrong(
            f"{log.path} cannot be read: {error.strerror}",
            "let the agent's user read it (group adm on many systems), correct log.path, or remove "
            "[[log]] where you follow no access log",
        )
    if not lines:
        return _right(f"{log.path} can be read, and has no line yet")
    peers = Peers({host.lower(): fip for host, fip in config.fips.items()})
    context = _AnyTime(clock, peers=peers)
    reader = LineReader(log.names, context, inbound=log.direction == "from-fips", name=log.path)
    calls, metrics = reader.calls(lines), context.metrics
    number = f"the last {len(lines)} lines of {log.path}"
    if metrics.unreadable == len(lines):
        return _unread(log, number, lines, metrics)
    if metrics.counts[Reason.UNPROVEN]:
        return _wrong(
            f"{number} are of {log.format}, and do not say whether the FIP itself answered",
            f"{metrics.samples[Reason.UNPROVEN]}: log it as {_REFERENCE} shows",
        )
    unknown = metrics.counts[Reason.UNKNOWN_PEER]
    said = f"{number} are of {log.format}: {_summary(len(calls), metrics)}"
    if unknown and not calls:
        return _wrong(
            f"{said} ({metrics.samples[Reason.UNKNOWN_PEER]})",
            "list the hosts of the FIPs under [fips]",
        )
    unanswered = sum(call.status == NO_STATUS for call in calls)
    if unanswered:
        said += f", {unanswered} without an answer of the FIP"
    return _right(said)


def _unread(
    log: LogSettings, number: str, lines: list[bytes], metrics: SourceMetrics
) -> CheckResult:
    """Say which form lines have that are of another one than the configured."""
    other = _other_format(lines, log.format)
    if other:
        return _wrong(f"{number} are of {other}, not {log.format}", f'set log.format = "{other}"')
    reason = next(iter(metrics.samples.values()), "").removeprefix(f"{log.path}: ")
    return _wrong(
        f"{number} cannot be read as {log.format}: {reason}",
        f"write the log in JSON with the fields of {log.format}, as {_REFERENCE} shows",
    )


def _other_format(lines: list[bytes], configured: str) -> str:
    """Return the format whose fields most of these lines have; empty for none."""
    found: Counter[str] = Counter()
    for line in lines:
        try:
            names = decoded(_OBJECT, line.strip()).keys()
        except UNDECODABLE:
            continue
        for kind, fields in FORMATS.items():
            found[kind] += kind != configured and _names(fields) <= names
    return next((kind for kind, number in found.most_common(1) if number > len(lines) // 2), "")


def _names(fields: Fields) -> set[str]:
    """Return the members that every line of a format has."""
    needed = (fields.time, fields.status, fields.path)
    return {name.partition(".")[0] for name in needed}


def _summary(calls: int, metrics: SourceMetrics) -> str:
    bad = sum(metrics.counts[reason] for reason in UNREADABLE)
    left = {
        MEANING[reason]: metrics.counts[reason]
        for reason in (Reason.OTHER_CALL, Reason.UNKNOWN_PEER)
    }
    parts = [f"{number} {name}" for name, number in left.items() if number]
    parts += [f"{bad} unreadable"] if bad else []
    return ", ".join((f"{calls} calls that count", *parts))


def _last_lines(path: Path) -> list[bytes]:
    """Return the last whole lines. Raises OSError."""
    with contextlib.closing(open_source(path)) as source:
        size = source.status().st_size
        text = source.read_at(max(0, size - _READ), _READ)
    lines = text.split(b"\n")[:-1]
    if size > _READ:
        lines = lines[1:]
    return [line for line in lines if line.strip(b"\0 \t\r")][-_LINES:]


def _right(found: str) -> CheckResult:
    return CheckResult("log", ok=True, found=found)


def _wrong(found: str, way_out: str) -> CheckResult:
    return CheckResult("log", ok=False, found=found, way_out=way_out)
