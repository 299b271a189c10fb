"""Wrong payloads: name, how a right one is spoiled, where the fault must be found, and its words."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.support.metrics.metrics_payloads import as_value, notification_metrics, request_metrics

from mudra.metrics.payload.catalogue import (
    NOTIFICATION_COUNT_NAMES,
    PERCENTILE_NAMES,
    REQUEST_COUNT_NAMES,
    STATUS_NAMES,
)

_STEP = re.compile(r"\.([A-Za-z]+)|\[(\d+)\]")


class Wrong(NamedTuple):
    name: str
    payload: dict[str, Any]
    path: str
    words: str


def _steps(path: str) -> list[str | int]:
    return [name or int(place) for name, place in _STEP.findall(path)]


def _damaged(payload: dict[str, Any], path: str, act: Callable[[Any, Any], None]) -> dict[str, Any]:
    value = copy.deepcopy(payload)
    *way, last = _steps(path)
    holder: Any = value
    for step in way:
        holder = holder[step]
    act(holder, last)
    return value


REQUESTS = as_value(request_metrics())
NOTIFICATIONS = as_value(notification_metrics())
BOTH = (("requests", REQUESTS), ("notifications", NOTIFICATIONS))
TYPES = [block["type"] for block in REQUESTS["fips"][0]["metrics"]]
FIF, READY, FAILED = (TYPES.index(code) for code in ("fif", "sfireqnot", "ffireqnot"))
NOT_WHOLE = [
    (None, "whole number, not null"),
    (True, "whole number, not true"),
    (False, "whole number, not false"),
    ("7", "whole number, not a string"),
    ("", "whole number, not an empty string"),
    (1.5, "whole number, not 1.5"),
    (1.5, "whole number, not 1.5"),
    ([], "whole number, not an array"),
    ({}, "whole number, not an object"),
    (-1, "is -1"),
    (2**53, "is 9007199254740992"),
    (10**30, "is 1000000000000000000000000000000"),
]
NOT_ARRAYS = [(None, "null"), ("x", "a string"), ({}, "an object"), (3, "3"), (True, "true")]
NOT_TEXT = [(None, "null"), (5, "5"), ([], "an array"), ({}, "an object"), (False, "false")]


def set_to(value: Any) -> Callable[[Any, Any], None]:
    def act(holder: Any, last: Any) -> None:
        holder[last] = value

    return act


def remove(holder: Any, last: Any) -> None:
    del holder[last]


def wrong_payloads() -> Iterator[Wrong]:
    for kind, payload in BOTH:
        yield from _wrong_roots(kind, payload)
        yield from _wrong_fips(kind, payload)
    yield from _wrong_request_blocks()
    yield from _wrong_notification_blocks()


def _wrong_roots(kind: str, payload: dict[str, Any]) -> Iterator[Wrong]:  # noqa: C901, PLR0912 - a table
    def at(what: str, path: str, act: Callable[[Any, Any], None], words: str) -> Wrong:
        return Wrong(f"{kind}: {what}", _damaged(payload, path, act), path, words)

    for name in payload:
        yield at(f"{name} missing", f"$.{name}", remove, "is missing")
    for name in ("agentVersion", "jsonVersion", "txnId", "fromDateTime", "toDateTime", "aaId"):
        for value, words in NOT_TEXT:
            yield at(
                f"{name} {value}", f"$.{name}", set_to(value), f"must be a string, not {words}"
            )
    for name in ("agentVersion", "jsonVersion", "txnId"):
        for value in ("", " ", " a", "a ", "a\n", "a\x00b", "é", "x" * 129, "a\ud800"):
            words = "another form" if value else "is empty"
            yield at(f"{name} {value[:9]!a}", f"$.{name}", set_to(value), words)
    for value in ("", "a b", "aa/1", "ü", "x" * 65, "aa@x\n"):
        yield at(f"aaId {value[:9]!a}", "$.aaId", set_to(value), "form" if value else "is empty")
    for value in ("req-fipmetrics-aa", "", "REQ", None, 5, [], "not-fipMetrics"):
        yield at(f"tag {value}", "$.tag", set_to(value), "req-fipMetrics-aa or not-fipMetrics-aa")
    for value in (601, 599, 0, -600, "600", None, True, 600.5, [600], 10**40):
        yield at(f"duration {value}", "$.duration", set_to(value), "the number 600, in seconds")
    for text in (
        "", "yesterday", "2026-03-04 10:20:00", "2026-03-04T10:20:00", "2026-03-04T10:20",
        "2026-03-04T10:20:00+24:00", "2026-02-31T10:20:00Z", "2026-03-04T25:20:00Z",
        "2026-03-04T10:20:61Z", "20260304T102000Z", "1772619600", "2026-03-04T10:20:00.Z",
        "2026-03-04T10:20:00Z ",
    ):  # fmt: skip
        yield at(f"from {text}", "$.fromDateTime", set_to(text), "not a time in UTC")
        yield at(f"to {text}", "$.toDateTime", set_to(text), "not a time in UTC")
    for text in (
        "2026-03-04T10:21:00Z", "2026-03-04T10:20:01Z", "2026-03-04T10:25:00Z",
        "2026-03-04T10:20:00.001Z", "2026-03-04T10:20:00.000000001Z", "2026-03-04T10:19:59.999Z",
    ):  # fmt: skip
        yield at(f"from {text}", "$.fromDateTime", set_to(text), "not the start of a ten-minute")
    for text, words in (
        ("2026-03-04T10:20:00Z", "is 0 seconds after"),
        ("2026-03-04T10:10:00Z", "is -600 seconds after"),
        ("2026-03-04T10:40:00Z", "is 1200 seconds after"),
        ("2026-03-04T10:29:59Z", "is 599 seconds after"),
        ("2026-03-04T10:30:00.5Z", "is 600.5 seconds after"),
    ):
        yield at(f"to {text}", "$.toDateTime", set_to(text), words)
    for days, words in ((1, "lies in the future"), (-8, "more than 7 days ago")):
        moved = copy.deepcopy(payload)
        day = f"2026-03-{4 + days:02}" if days > 0 else "2026-02-24"
        moved |= {"fromDateTime": f"{day}T10:20:00Z", "toDateTime": f"{day}T10:30:00Z"}
        yield Wrong(f"{kind}: window {words}", moved, "$.toDateTime", words)
    for name, meant in (
        ("txnid", ""), ("AgentVersion", ""), ("note", ""), ("from", ""), ("metrics", ""), ("ver", ""),
    ):  # fmt: skip
        yield at(f"unknown {name}", f"$.{name}", set_to("x"), f"is not a member{meant}")
    for value, words in NOT_ARRAYS:
        yield at(
            f"fips {value}", "$.fips", set_to(value), f"must be an array of objects, .*{words}"
        )


def _wrong_fips(kind: str, payload: dict[str, Any]) -> Iterator[Wrong]:  # noqa: C901, PLR0912 - a table
    def at(what: str, path: str, act: Callable[[Any, Any], None], words: str) -> Wrong:
        return Wrong(f"{kind}: {what}", _damaged(payload, path, act), path, words)

    for value, words in ((None, "null"), (3, "3"), ("x", "a string"), ([], "an array")):
        yield at(f"fip {value}", "$.fips[1]", set_to(value), f"must be an object, not {words}")
        path = "$.fips[2].metrics[1]"
        yield at(f"block {value}", path, set_to(value), f"must be an object, not {words}")
    for name in ("fipId", "metrics"):
        yield at(f"{name} missing", f"$.fips[2].{name}", remove, "is missing")
    for value, words in NOT_TEXT:
        yield at(f"fipId {value}", "$.fips[0].fipId", set_to(value), f"string, not {words}")
    for value in ("", "a b", "BANK/1", "x" * 65):
        words = "1 to 64 of the characters"
        yield at(f"fipId {value[:9]!r}", "$.fips[0].fipId", set_to(value), words)
    yield at("FIP twice", "$.fips[2].fipId", set_to("BANK-000"), r"FIP of \$.fips\[0\] again")
    for name in ("fipid", "id", "entityId"):
        yield at(f"unknown {name}", f"$.fips[1].{name}", set_to("x"), "is not a member")
    for value, words in NOT_ARRAYS:
        path = "$.fips[1].metrics"
        yield at(f"metrics {value}", path, set_to(value), f"must be an array of objects, .*{words}")
    again = payload["fips"][0]["metrics"][0]["type"]
    yield at("type twice", "$.fips[1].metrics[2].type", set_to(again), "again; allowed: each type")
    for name in ("type", "counts"):
        yield at(f"{name} missing", f"$.fips[1].metrics[2].{name}", remove, "is missing")
    for value, words in NOT_TEXT:
        path = "$.fips[0].metrics[0].type"
        yield at(f"type {value}", path, set_to(value), f"must be a string, not {words}")
    for value in ("", "ADISC", "unknown", "accounts"):
        yield at(f"type {value}", "$.fips[0].metrics[0].type", set_to(value), "not a known type")
    for name in ("Type", "count", "value", "route"):
        yield at(f"unknown {name}", f"$.fips[0].metrics[0].{name}", set_to(1), "not a member")
    names = REQUEST_COUNT_NAMES if kind == "requests" else NOTIFICATION_COUNT_NAMES
    for place, name in enumerate(names):
        value, words = NOT_WHOLE[place % len(NOT_WHOLE)]
        path = f"$.fips[2].metrics[1].counts[{place}]"
        yield at(f"{name} {value}", path, set_to(value), re.escape(f"({name})") + f".*{words}")
    for length in (0, 1, 14, 16, 30):
        path = "$.fips[0].metrics[0].counts"
        yield at(f"{length} counts", path, set_to([0] * length), f"has {length} values.*exactly 15")
    for value, words in NOT_ARRAYS:
        path = "$.fips[0].metrics[0].counts"
        yield at(f"counts {value}", path, set_to(value), f"array of 15 whole numbers, not {words}")
    short = [9, *[1] * 10, 0, 0, 0, 0]
    path = "$.fips[0].metrics[0].counts"
    damaged = _damaged(payload, path, set_to(short))
    yield Wrong(f"{kind}: total too small", damaged, f"{path}[0]", "is 9, less than the sum .* 10")


def _wrong_request_blocks() -> Iterator[Wrong]:  # noqa: C901 - a table
    def at(what: str, path: str, act: Callable[[Any, Any], None], words: str) -> Wrong:
        return Wrong(f"requests: {what}", _damaged(REQUESTS, path, act), path, words)

    block = "$.fips[1].metrics[4]"
    yield at("pxx missing", f"{block}.pxx", remove, "is missing")
    yield at("status", f"{block}.status", set_to([0] * 7), "not a member")
    for code in ("finot", "alnot"):
        yield at(f"type {code}", f"{block}.type", set_to(code), "belongs to .* not-fipMetrics-aa")
    for length in (0, 1, 3, 5, 100):
        words = f"has {length} values.*exactly 4, in the order p50, p95, p99, p100"
        yield at(f"{length} percentiles", f"{block}.pxx", set_to([1] * length), words)
    for value, words in NOT_ARRAYS:
        yield at(f"pxx {value}", f"{block}.pxx", set_to(value), f"4 whole numbers, not {words}")
    for place, name in enumerate(PERCENTILE_NAMES):
        for value, words in NOT_WHOLE[place::4]:
            path = f"{block}.pxx[{place}]"
            yield at(f"{name} {value}", path, set_to(value), rf"\({name}\) .*{words}")
    for place, times in ((1, [9, 8, 9, 9]), (2, [1, 9, 8, 9]), (3, [1, 2, 9, 8])):
        damaged = _damaged(REQUESTS, f"{block}.pxx", set_to(times))
        yield Wrong(f"falling at {place}", damaged, f"{block}.pxx[{place}]", "is 8, less than p")
    size = f"$.fips[0].metrics[{FIF}].sumOfSizeOfDataPackets"
    yield at("size missing", size, remove, "is missing; allowed: for the type fif")
    for value in (
        "",
        "-1",
        "+1",
        "1.5",
        "1e9",
        "0x1F",
        "007",
        "00",
        " 1",
        "1 ",
        "1,000",
        "٣",
    ):
        yield at(f"size {value[:9]!a}", size, set_to(value), "decimal string without leading zeros")
    yield at("size null", size, set_to(None), "is missing")
    for value, words in (*NOT_TEXT[1:], (12345678, "12345678")):
        yield at(f"size {value}", size, set_to(value), f"must be a string, not {words}")
    for place, code in enumerate(TYPES):
        if code != "fif":
            path = f"$.fips[0].metrics[{place}].sumOfSizeOfDataPackets"
            yield at(
                f"size on {code}", path, set_to("5"), f"of the type {code}; allowed: the type fif"
            )
    for place in (READY, FAILED):
        counts = f"$.fips[0].metrics[{place}].counts"
        damaged = _damaged(REQUESTS, counts, set_to([5, 4, *[0] * 13]))
        yield Wrong(
            f"{TYPES[place]} unequal", damaged, f"{counts}[1]", "is 4, not 5 as totalSentCnt"
        )
        for other in (2, 6, 10, 14):
            values = [9, 9, *[0] * 13]
            values[other] = 1
            damaged = _damaged(REQUESTS, counts, set_to(values))
            yield Wrong(
                f"{TYPES[place]} {other}", damaged, f"{counts}[{other}]", "is 1; allowed: 0"
            )


def _wrong_notification_blocks() -> Iterator[Wrong]:
    def at(what: str, path: str, act: Callable[[Any, Any], None], words: str) -> Wrong:
        return Wrong(f"notifications: {what}", _damaged(NOTIFICATIONS, path, act), path, words)

    finot = "$.fips[1].metrics[0]"
    yield at("status missing", f"{finot}.status", remove, "is missing; allowed: for the type finot")
    for place in (1, 2):
        path = f"$.fips[1].metrics[{place}].status"
        yield at(f"status on {place}", path, set_to([0] * 7), "allowed: the type finot only")
        path = f"$.fips[1].metrics[{place}].pxx"
        yield at(f"pxx on {place}", path, set_to([0] * 4), "not a member")
    for length in (0, 6, 8, 15):
        words = f"has {length} values.*exactly 7"
        yield at(f"{length} statuses", f"{finot}.status", set_to([0] * length), words)
    yield at("status null", f"{finot}.status", set_to(None), "is missing")
    for value, words in NOT_ARRAYS[1:]:
        yield at(
            f"status {value}", f"{finot}.status", set_to(value), f"7 whole numbers, not {words}"
        )
    for place, name in enumerate(STATUS_NAMES):
        value, words = NOT_WHOLE[place]
        path = f"{finot}.status[{place}]"
        yield at(f"{name} {value}", path, set_to(value), rf"\({name}\) .*{words}")
    for code in ("fif", "hbt", "sfireqnot"):
        path = "$.fips[0].metrics[1].type"
        yield at(f"type {code}", path, set_to(code), "belongs to .* req-fipMetrics-aa")
    path = "$.fips[0].metrics[0].sumOfSizeOfDataPackets"
    yield at("size", path, set_to("5"), "not a member")
