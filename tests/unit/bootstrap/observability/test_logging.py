"""Lines of the log stay whole, whatever else writes to it."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import structlog

from mudra.bootstrap.observability.logging import (
    RequestLine,
    RequestLog,
    level_of,
    name_traces,
    set_up_logging,
)


class Pieces(io.StringIO):
    """A stream that remembers each write: only what is one write cannot be cut in two."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)


@pytest.fixture
def stream() -> Iterator[Pieces]:
    pieces = Pieces()
    before = logging.root.handlers[:], logging.root.level
    set_up_logging("info", pieces)
    yield pieces
    structlog.reset_defaults()
    logging.root.handlers[:], logging.root.level = before


def test_a_line_and_its_end_are_one_write(stream: Pieces) -> None:
    structlog.get_logger().warning("first\nforged", address="127.0.0.1")
    logging.getLogger("a.library").error("second\r\nforged")

    events = [json.loads(write)["event"] for write in stream.writes]
    assert events == ["first\nforged", "second\r\nforged"]
    for write in stream.writes:
        assert write.count("\n") == 1
        assert write.endswith("\n")


UNSEEN = "\u2028forged\u2029\u0085\u009b31m\u202egnp.exe\u2066\x1b[2J"


def test_no_line_of_any_logger_has_a_raw_character_that_breaks_or_reorders_it(
    stream: Pieces,
) -> None:
    structlog.get_logger().warning(UNSEEN, entity_id=UNSEEN, nested={UNSEEN: [UNSEEN]})
    logging.getLogger("a.library").error("it said %s", UNSEEN)
    try:
        int(UNSEEN)
    except ValueError:
        logging.getLogger("a.library").exception("it failed")

    assert len(stream.writes) == 3
    for write in stream.writes:
        assert write.isascii()
        assert write.rstrip("\n").isprintable()
    assert json.loads(stream.writes[0])["entity_id"] == UNSEEN


def test_a_path_cannot_break_or_reorder_a_request_line() -> None:
    stream = io.StringIO()
    log = RequestLog(stream)
    path = "/a\u2028forged\u2029\u0085\u009b31m\u202egnp.exe\u2066"

    log.note(
        RequestLine(
            datetime(2026, 1, 1, tzinfo=UTC), "info", "request", "GET", path, 404, 1.0, "::1"
        )
    )
    log.flush()

    assert stream.getvalue().isascii()
    assert json.loads(stream.getvalue())["path"] == path


class FullDisk(Pieces):
    """A stream that takes nothing while `is_full`."""

    is_full = True

    def write(self, text: str) -> int:
        if self.is_full:
            raise OSError(28, "No space left on device")
        return super().write(text)


def test_a_full_disk_stops_no_one_who_logs_and_the_gap_is_named() -> None:
    stream = FullDisk()
    before = logging.root.handlers[:], logging.root.level
    set_up_logging("info", stream)
    try:
        log, requests = structlog.get_logger(), RequestLog(stream)
        for _ in range(3):
            log.error("unexpected fault")
            requests.note(
                RequestLine(
                    datetime(2026, 1, 1, tzinfo=UTC), "info", "request", "GET", "/", 404, 1.0, "::1"
                )
            )
        requests.flush()

        stream.is_full = False
        log.error("after it")
        requests.flush()
    finally:
        structlog.reset_defaults()
        logging.root.handlers[:], logging.root.level = before

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line.get("lines")) for line in lines] == [
        ("log lines were lost", 3),
        ("after it", None),
    ]


@pytest.mark.parametrize(
    ("path", "status", "level"),
    [
        ("/readyz", 200, "debug"),
        ("/livez", 200, "debug"),
        ("/readyz", 503, "warning"),
        ("/status", 200, "info"),
        ("/status", 404, "info"),
        ("/status", 500, "error"),
    ],
)
def test_a_request_line_has_the_level_of_its_status(path: str, status: int, level: str) -> None:
    assert level_of(path, status) == level


@pytest.mark.parametrize(
    ("least", "kept"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)]
)
def test_the_log_leaves_out_request_lines_below_its_level(least: str, kept: int) -> None:
    stream = io.StringIO()
    before = logging.root.handlers[:], logging.root.level
    set_up_logging(least, stream)
    try:
        log = RequestLog(stream)
        for level in ("debug", "info", "warning", "error"):
            log.note(
                RequestLine(
                    datetime(2026, 1, 1, tzinfo=UTC), level, "request", "GET", "/", 200, 1.0, "::1"
                )
            )
        log.flush()
    finally:
        set_up_logging("info", io.StringIO())
        structlog.reset_defaults()
        logging.root.handlers[:], logging.root.level = before

    levels = [json.loads(line)["level"] for line in stream.getvalue().splitlines()]
    assert levels == ["debug", "info", "warning", "error"][-kept:]


def test_all_lines_of_a_trace_name_it(stream: Pieces) -> None:
    ids = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
    name_traces(lambda: ids)
    try:
        structlog.get_logger().warning("of ours")
        logging.getLogger("a.library").error("of others")
        log = RequestLog(stream)
        log.note(
            RequestLine(
                datetime(2026, 1, 1, tzinfo=UTC), "info", "request", "GET", "/", 200, 1.0, "::1"
            )
        )
        log.flush()
    finally:
        name_traces(dict)

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["of ours", "of others", "request"]
    assert all(ids.items() <= line.items() for line in lines)
