"""`agent check` reads the end of each log, and says what it found there."""

import json
import os
from pathlib import Path

import pytest
from tests.support.agent import agents
from tests.support.manual_clock import MovedClock
from tests.unit.agent.sources.logs.test_access_log import LINES

from mudra.agent.host.config import LogSettings
from mudra.agent.host.log_check import CheckResult, check_log

COMMON = '127.0.0.1 - - [28/Nov/2026:10:00:00 +0000] "POST /Consent HTTP/1.1" 200 77'
COMBINED = COMMON + ' "-" "curl/7.88.1"'
ENVOY = (
    '[2026-11-28T10:00:00.000Z] "POST /Consent HTTP/1.1" 200 - 5 77 12 11 "-" "curl" "id" "a" "b"'
)
HAPROXY = (
    "Nov 28 10:00:00 host haproxy[7]: 10.0.0.1:5001 [28/Nov/2026:10:00:00.123] in out/fip "
    '0/0/1/2/3 200 77 - - ---- 1/1/0/0/0 0/0 "POST /Consent HTTP/1.1"'
)


def _check(tmp_path: Path, text: str, kind: str = "nginx") -> CheckResult:
    path = tmp_path / "access.log"
    path.write_text(text)
    log = LogSettings(path=str(path), format=kind, direction="to-fips")  # type: ignore[arg-type]
    return check_log(agents.config(tmp_path / "agent"), log, MovedClock())


def _lines(kind: str, **changes: object) -> str:
    return json.dumps({**LINES[kind], **changes}) + "\n"


@pytest.mark.parametrize("kind", LINES)
def test_a_log_in_its_format_is_read_and_said_with_what_counts(tmp_path: Path, kind: str) -> None:
    found = _check(tmp_path, _lines(kind) * 3, kind)

    assert found.ok
    assert f"the last 3 lines of {tmp_path}/access.log are of {kind}: 3 calls" in found.found


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (COMMON, "common log format"),
        (COMBINED, "combined log format"),
        (ENVOY, "default text format of Envoy"),
        (HAPROXY, "HTTP log format of HAProxy"),
        ("2026/11/28 10:00:00 [error] 7#7: *1 connect() failed", "error log of nginx"),
        ("hello", "no known format"),
    ],
)
def test_a_log_in_another_form_is_wrong_and_named(tmp_path: Path, line: str, name: str) -> None:
    found = _check(tmp_path, f"{line}\n" * 5)

    assert not found.ok
    assert name in found.found
    assert "agent-sources.md" in found.way_out


def test_the_format_of_another_proxy_is_named_with_its_setting(tmp_path: Path) -> None:
    found = _check(tmp_path, _lines("envoy") * 3, "nginx")

    assert (found.ok, found.way_out) == (False, 'set log.format = "envoy"')


def test_a_log_that_cannot_prove_an_answer_is_wrong(tmp_path: Path) -> None:
    line = {name: value for name, value in LINES["nginx"].items() if "upstream" not in name}

    found = _check(tmp_path, json.dumps(line) + "\n")

    assert not found.ok
    assert "need the field upstream_status" in found.way_out


def test_hosts_that_are_no_fip_are_named(tmp_path: Path) -> None:
    found = _check(tmp_path, _lines("nginx", host="other.test") * 2)

    assert not found.ok
    assert "other.test" in found.found
    assert "[fips]" in found.way_out


def test_a_log_without_lines_or_without_rights(tmp_path: Path) -> None:
    assert _check(tmp_path, "").ok
    log = LogSettings(path="/none.json", format="nginx", direction="to-fips")
    missing = check_log(agents.config(tmp_path / "agent"), log, MovedClock())
    assert (missing.ok, "cannot be read" in missing.found) == (False, True)


def test_a_pipe_in_place_of_a_log_is_said_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "access.log")
    log = LogSettings(path=str(path), format="nginx", direction="to-fips")

    found = check_log(agents.config(tmp_path / "agent"), log, MovedClock())

    assert (found.ok, "it is no file" in found.found) == (False, True)


def test_calls_without_an_answer_are_counted_apart(tmp_path: Path) -> None:
    found = _check(tmp_path, _lines("nginx") + _lines("nginx", upstream_status=""))

    assert found.ok
    assert "2 calls that count, 1 without an answer of the FIP" in found.found
