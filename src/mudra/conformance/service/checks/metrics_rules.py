"""Pushes that break one rule each (specification 2.5, 2.6): refused, and the field is named."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.conformance.check import Basis, Check, Need, Steps
from mudra.conformance.expectation import error
from mudra.conformance.service.checks.metrics_push import push, window
from mudra.conformance.service.checks.payloads import (
    GONE,
    Document,
    notification_metrics,
    request_metrics,
    spoiled,
)
from mudra.conformance.service.implementation import Implementation
from mudra.shared.time_text import iso_ms

_DISCOVERY: Final = "fips.0.metrics.0"
_TIMING: Final = "fips.0.metrics.1"
_FETCH: Final = "fips.0.metrics.2"
_FI: Final = "fips.0.metrics.0"
_LINK: Final = "fips.0.metrics.1"
_COUNTS: Final = "fips[].metrics[].counts | array of int | 15 counts in the fixed order below"
_PXX: Final = "response-time percentiles in milliseconds, in order [p50, p95, p99, p100]"
_SIZE: Final = "sum of encrypted FI fetch packet sizes; present only for type fif"
_STATUS: Final = "fips[].metrics[].status | array of int | 7 values; only for type finot"
_BOTH: Final = "positions 1 and 2 both hold the number of FI requests that ended so in the window"
_EXACT: Final = "A payload matches 2.5 or 2.6 exactly"
_SUM: Final = "Position 1 may exceed the sum of 2 to 15 (no answer came), never fall short"


class _Rule(Struct, frozen=True):
    """A rule, and the change to a right payload that breaks it."""

    title: str
    line: str
    changes: Mapping[str, object]
    naming: str


def _missing(path: str, line: str) -> _Rule:
    name = path.rpartition(".")[2]
    return _Rule(f"without {name}: refused", line, {path: GONE}, name)


_REQUEST_RULES: Final = (
    _missing("agentVersion", "agentVersion | string"),
    _missing("jsonVersion", "jsonVersion | string"),
    _Rule("another tag: refused", "tag | string | constant req-fipMetrics-aa", {"tag": "req"},
          "tag"),
    _missing("txnId", "txnId | string | unique transaction ID of the push"),
    _missing("fromDateTime", "fromDateTime | string | start of the 10-minute window"),
    _Rule("fromDateTime that is no time: refused", "ISO 8601, UTC", {"fromDateTime": "today"},
          "fromDateTime"),
    _missing("toDateTime", "toDateTime | string | end of the window"),
    _Rule("another duration: refused", "duration | int | window length in seconds (600)",
          {"duration": 601}, "duration"),
    _Rule("duration as a text: refused", "duration | int | window length in seconds (600)",
          {"duration": "600"}, "duration"),
    _missing("fips", "fips[].fipId | string"),
    _missing("fips.0.fipId", "fips[].fipId | string | entity ID of the FIP the block reports"),
    _Rule("a type of the other payload: refused", "metric type code (table below)",
          {f"{_DISCOVERY}.type": "finot"}, "type"),
    _Rule("three percentiles: refused", _PXX, {f"{_DISCOVERY}.pxx": [1, 2, 3]}, "pxx"),
    _Rule("14 counts: refused", _COUNTS, {f"{_DISCOVERY}.counts": [0] * 14}, "counts"),
    _Rule("a count that is a fraction: refused", _COUNTS, {f"{_DISCOVERY}.counts.2": 1.5},
          "counts"),
    _missing(f"{_FETCH}.sumOfSizeOfDataPackets", _SIZE),
    _Rule("sumOfSizeOfDataPackets of another type: refused", _SIZE,
          {f"{_DISCOVERY}.sumOfSizeOfDataPackets": "1"}, "sumOfSizeOfDataPackets"),
    _Rule("sumOfSizeOfDataPackets as a number: refused",
          "fips[].metrics[].sumOfSizeOfDataPackets | string",
          {f"{_FETCH}.sumOfSizeOfDataPackets": 1}, "sumOfSizeOfDataPackets"),
)  # fmt: skip

_NOTIFICATION_RULES: Final = (
    _Rule("a type of the other payload: refused", "one of finot, alnot, cnot",
          {f"{_LINK}.type": "adisc"}, "type"),
    _missing(f"{_FI}.status", _STATUS),
    _Rule("six status values: refused", _STATUS, {f"{_FI}.status": [0] * 6}, "status"),
    _Rule("status of another type: refused", _STATUS, {f"{_LINK}.status": [0] * 7}, "status"),
    _Rule("16 counts: refused", _COUNTS, {f"{_FI}.counts": [0] * 16}, "counts"),
    _Rule("percentiles of a notification: refused",
          "fips[].metrics[].type … fips[].metrics[].counts … fips[].metrics[].status",
          {f"{_LINK}.pxx": [1, 2, 3, 4]}, "pxx"),
)  # fmt: skip

_DECIDED_RULES: Final = (
    _Rule("falling percentiles: refused", "4 percentiles not falling",
          {f"{_DISCOVERY}.pxx": [9, 8, 7, 6]}, "pxx"),
    _Rule("a negative count: refused", "whole numbers ≥ 0 below 2^53",
          {f"{_DISCOVERY}.counts.2": -1}, "counts"),
    _Rule("a total below the sum of its answers: refused", _SUM, {f"{_DISCOVERY}.counts.0": 1},
          "counts"),
    _Rule("errors in a block of times: refused", _BOTH, {f"{_TIMING}.counts.2": 1}, "counts"),
    _Rule("an unknown member: refused", _EXACT, {"colour": "blue"}, "colour"),
    _Rule("a type twice: refused", "no FIP twice, no type twice in a FIP",
          {f"{_TIMING}.type": "adisc"}, "type"),
)  # fmt: skip


def _check(
    check_id: str, rule: _Rule, right: Callable[[str, datetime], Document]
) -> Check[Implementation]:
    part = check_id.split("-")[1]
    basis = Basis.NETWORK if part.startswith("D") else Basis.SPECIFICATION

    def steps(one: Implementation) -> Steps:
        document = right(one.aa.entity_id, window(one, 9))
        yield from error(push(one, spoiled(document, rule.changes)), 400, naming=rule.naming)

    return Check(check_id, part, rule.title, rule.line, basis, (Need.AA, Need.PUSH), steps)


def _shifted(
    check_id: str, title: str, line: str, begin_s: int, end_s: int, naming: str
) -> Check[Implementation]:
    def steps(one: Implementation) -> Steps:
        start = window(one, 9)
        document = request_metrics(one.aa.entity_id, start) | {
            "fromDateTime": iso_ms(start + timedelta(seconds=begin_s)),
            "toDateTime": iso_ms(start + timedelta(seconds=end_s)),
        }
        yield from error(push(one, document), 400, naming=naming)

    basis = Basis.NETWORK if "-D" in check_id else Basis.SPECIFICATION
    part = check_id.split("-")[1]
    return Check(check_id, part, title, line, basis, (Need.AA, Need.PUSH), steps)


CHECKS: Final = (
    *(_check(f"M-2.5-{n}", rule, request_metrics) for n, rule in enumerate(_REQUEST_RULES, 2)),
    _shifted("M-8-1", "a window of 20 minutes: refused",
             "Metrics reporting window | 10 minutes (duration 600 seconds)", 0, 1200, "toDateTime"),
    *(
        _check(f"M-2.6-{n}", rule, notification_metrics)
        for n, rule in enumerate(_NOTIFICATION_RULES, 2)
    ),
    *(_check(f"M-D5-{n}", rule, request_metrics) for n, rule in enumerate(_DECIDED_RULES, 13)),
    _shifted("M-D5-19", "a start off the ten-minute boundary: refused",
             "start on a ten-minute boundary of UTC", 60, 660, "fromDateTime"),
)  # fmt: skip
