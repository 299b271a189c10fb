"""`mudra agent`: check, status, replay, and their texts when something is wrong."""

import asyncio
import bz2
import gzip
import json
import lzma
import os
import random
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import PUSH, HostileOperator
from tests.support.manual_clock import SECOND, WINDOW, MovedClock
from typer.testing import CliRunner

from mudra.agent.counting.payload import format_time
from mudra.agent.host.check import check
from mudra.agent.spool.dead_letter import dead_letters
from mudra.cli.commands.entity.agent import app


def _file(tmp_path: Path, more: str = "") -> Path:
    (tmp_path / "secret").write_text("s3cret")
    (tmp_path / "secret").chmod(0o600)
    path = tmp_path / "agent.toml"
    path.write_text(
        f'aa_id = "AA-1"\ndirectory = "{tmp_path}/spool"\n'
        f'[operator]\ntoken_url = "http://127.0.0.1:9/iam"\npush_url = "http://127.0.0.1:9{PUSH}"\n'
        f'[credentials]\nid.value = "AA-1"\nsecret.file = "{tmp_path}/secret"\n'
        f'[http]\nlisten = ["127.0.0.1:9"]\n[fips]\n"fip-1.test" = "FIP-1"\n{more}'
    )
    return path


def _checked(tmp_path: Path, hostile: HostileOperator, clock: MovedClock, **changes: object):
    hostile.now = clock.datetime
    config = agents.config(tmp_path, **changes)
    found = asyncio.run(check(config, clock, random.uniform, hostile.transport))
    return {one.name: one for one in found}


def test_a_spool_that_others_can_read_is_found_before_the_start(tmp_path: Path) -> None:
    """`run` refuses it, so `check` does."""
    assert _checked(tmp_path, HostileOperator(1), MovedClock())["disk"].ok
    Path(agents.config(tmp_path).directory).chmod(0o755)

    wrong = _checked(tmp_path, HostileOperator(1), MovedClock())["disk"]

    assert not wrong.ok
    assert "has mode 0755 and is open to others" in wrong.found
    assert wrong.way_out.startswith("chmod -R go= ")


def test_a_good_installation_passes_every_check(tmp_path: Path) -> None:
    found = _checked(tmp_path, HostileOperator(1), MovedClock())

    assert set(found) == {"configuration", "secret", "disk", "credentials", "reachability", "clock"}
    assert all(one.ok for one in found.values()), found


def test_each_thing_that_is_wrong_is_named_with_the_way_out(tmp_path: Path) -> None:
    operator, clock = HostileOperator(1, secret="other"), MovedClock()
    agents.config(tmp_path)
    (tmp_path / "secret").chmod(0o644)
    (tmp_path / "spool").write_text("a file, where a directory is needed")

    found = _checked(
        tmp_path,
        operator,
        clock,
        log=[{"path": "/none.json", "format": "nginx", "direction": "to-fips"}],
    )
    operator.now = lambda: MovedClock(clock.now + 120 * SECOND).datetime()
    late = {
        one.name: one
        for one in asyncio.run(
            check(agents.config(tmp_path), clock, random.uniform, operator.transport)
        )
    }
    operator.down = True
    down = {
        one.name: one
        for one in asyncio.run(
            check(agents.config(tmp_path), clock, random.uniform, operator.transport)
        )
    }

    wrong = {name for name, one in found.items() if not one.ok}
    assert wrong == {"secret", "disk", "credentials", "log"}
    assert all(found[name].way_out for name in wrong)
    assert "chmod 600" in found["secret"].way_out
    assert "+120.0 s" in late["clock"].found
    assert not late["clock"].ok
    assert "firewall" in down["reachability"].way_out
    assert "s3cret" not in str(found)


@pytest.mark.parametrize(
    ("mode", "ok"),
    [(0o400, True), (0o600, True), (0o440, True), (0o460, False), (0o444, False), (0o604, False)],
    ids=oct,
)
def test_the_secret_may_be_read_by_the_agents_own_group_as_kubernetes_mounts_it(
    tmp_path: Path, mode: int, ok: bool
) -> None:
    config = agents.config(tmp_path)
    (tmp_path / "secret").chmod(mode)
    operator, clock = HostileOperator(1), MovedClock()
    found = asyncio.run(check(config, clock, random.uniform, operator.transport))

    assert [one.ok for one in found if one.name == "secret"] == [ok]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to a group of others")
def test_the_secret_may_not_be_read_by_a_group_of_others(tmp_path: Path) -> None:
    config = agents.config(tmp_path)
    (tmp_path / "secret").chmod(0o440)
    os.chown(tmp_path / "secret", -1, 54_321)
    operator, clock = HostileOperator(1), MovedClock()
    found = asyncio.run(check(config, clock, random.uniform, operator.transport))

    assert [one.ok for one in found if one.name == "secret"] == [False]


def test_a_secret_in_its_grace_period_is_a_warning_of_check(tmp_path: Path) -> None:
    operator = HostileOperator(1, secret="new", old_secret="s3cret")

    found = _checked(tmp_path, operator, MovedClock())

    assert not found["grace"].ok
    assert "no restart" in found["grace"].way_out


def test_the_wrong_push_address_is_distinguished_from_the_right_one(tmp_path: Path) -> None:
    elsewhere = {"token_url": "http://operator.test/iam", "push_url": "http://operator.test/none"}

    found = _checked(tmp_path, HostileOperator(1), MovedClock(), operator=elsewhere)

    assert not found["reachability"].ok
    assert "404" in found["reachability"].found


def test_status_of_an_agent_that_is_down_comes_from_its_disk(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW + 91 * SECOND)
        await agent.tick()
        await agents.drain(agent, clock, at_most=100)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW + 91 * SECOND)
        await agent.tick()
        await agent.aclose()

    asyncio.run(story())
    answer = CliRunner().invoke(app, ["status", "--json", "--config", str(_file(tmp_path))])
    status = json.loads(answer.stdout)

    assert answer.exit_code == 1
    assert status["running"] is False
    assert status["lastWindow"] == "2026-04-01T10:10:00Z"
    assert status["lastReceipt"] == "r-2"
    assert status["backlogPayloads"] == 2
    assert status["delivered"] == 2


def test_status_without_a_spool_says_what_to_look_at(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["status", "--config", str(_file(tmp_path))])

    assert answer.exit_code == 1
    assert "has the agent run there" in answer.output


def test_replay_turns_a_log_into_payloads_and_sends_nothing(tmp_path: Path) -> None:
    log = tmp_path / "old.json"
    line = {
        "time": "1775037600.5",
        "method": "POST",
        "uri": "/Consent",
        "host": "fip-1.test",
        "status": 200,
        "request_time": "0.1",
        "upstream_status": "200",
    }
    log.write_text(json.dumps(line) + "\n" + json.dumps({**line, "uri": "/other"}) + "\nbad\n")

    answer = CliRunner().invoke(
        app, ["replay", str(log), "--format", "nginx", "--config", str(_file(tmp_path))]
    )

    assert answer.exit_code == 0
    payload = msgspec.json.decode(answer.stdout.splitlines()[0])
    assert payload["fips"][0]["metrics"][0]["counts"][:2] == [1, 1]
    assert "1 calls of other kinds" in answer.stderr
    arguments = [
        "replay",
        str(log),
        "--format",
        "nginx",
        "--config",
        str(_file(tmp_path)),
        "--json",
    ]
    document = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert document["payloads"][0]["fips"] == msgspec.to_builtins(payload["fips"])
    counts = {"otherCalls": 1, "unknownFip": 0, "unproven": 0, "unreadable": 1}
    assert document["notCounted"] == counts
    assert not (tmp_path / "spool").exists()
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        packed = pack(log.read_bytes())
        log.with_suffix(".1").write_bytes(packed)
        log.with_suffix(".2").write_bytes(packed[:-9])
        arguments[1] = str(log.with_suffix(".1"))
        assert json.loads(CliRunner().invoke(app, arguments).stdout) == document
        arguments[1] = str(log.with_suffix(".2"))
        cut = CliRunner().invoke(app, arguments)
        assert (cut.exit_code, "cannot be unpacked to its end" in cut.stderr) == (1, True)


def test_replay_knows_a_log_of_the_configuration_by_any_path_and_once_rotated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "fips.json"
    config = _file(tmp_path, f'[[log]]\npath = "{log}"\nformat = "nginx"\ndirection = "to-fips"\n')
    monkeypatch.chdir(tmp_path)
    for name in ("fips.json", "fips.json.1"):
        (tmp_path / name).write_text("")

        assert CliRunner().invoke(app, ["replay", name, "--config", str(config)]).exit_code == 0
    (tmp_path / "other.json").write_text("")
    for name, code, message in (("other.json", 2, "--format must be"), ("gone", 1, "no such file")):
        answer = CliRunner().invoke(app, ["replay", name, "--config", str(config)])

        assert (answer.exit_code, message in answer.stderr) == (code, True)


def test_replay_takes_the_longest_name_of_logs_that_begin_alike(tmp_path: Path) -> None:
    log = tmp_path / "fips.json-inner"
    log.write_text(
        '{"time": "1775037600.5", "method": "POST", "uri": "/Consent",'
        ' "host": "fip-1.test", "status": 200, "request_time": "0.1"}\n'
    )
    logs = "".join(
        f'[[log]]\npath = "{tmp_path / name}"\nformat = "{form}"\ndirection = "to-fips"\n'
        for name, form in (("fips.json", "envoy"), ("fips.json-inner", "nginx"))
    )
    config = str(_file(tmp_path, logs))

    answer = CliRunner().invoke(app, ["replay", str(log), "--config", config, "--json"])

    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["notCounted"]["unreadable"] == 0


@pytest.mark.parametrize("command", ["run", "check", "status", "replay", "resend"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    answer = CliRunner().invoke(app, [command, "--help"])

    assert answer.exit_code == 0
    assert "Example" in answer.output


@pytest.mark.parametrize(
    ("command", "code"), [(["run"], 2), (["check"], 1), (["status"], 2), (["replay", "x.json"], 2)]
)
def test_a_bad_configuration_ends_every_command_with_one_sentence(
    tmp_path: Path, command: list[str], code: int
) -> None:
    path = _file(tmp_path, "nonsense = 1\n")
    path.write_text(path.read_text().replace("aa_id", "aaid"))

    answer = CliRunner().invoke(app, [*command, "--config", str(path)])

    assert answer.exit_code == code
    assert "did you mean aa_id?" in answer.output


def test_a_dead_letter_is_sent_again_once_the_reason_is_gone(tmp_path: Path) -> None:
    async def story() -> None:
        now = int(time.time() * 1000)
        clock = MovedClock(now - now % WINDOW)
        operator = HostileOperator(1, refuse_windows={format_time(clock.now)})
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW + 91 * SECOND)
        await agent.tick()
        await agents.drain(agent, clock, at_most=100)
        assert len(dead_letters(tmp_path / "spool")) == 2

        operator.refuse_windows.clear()
        answer = CliRunner().invoke(app, ["resend", "--json", "--config", str(_file(tmp_path))])
        assert len(json.loads(answer.stdout)["resent"]) == 2
        assert dead_letters(tmp_path / "spool") == []
        clock.pass_time(61 * SECOND)
        await agent.push_once()
        await agents.drain(agent, clock, at_most=100)

        assert len(operator.stored) == 2
        assert not list((tmp_path / "spool" / "resend").iterdir())
        await agent.aclose()

    asyncio.run(story())


def test_dead_letters_that_are_too_old_stay_where_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "spool" / "dead-letters"
    folder.mkdir(parents=True)
    (folder / "1000000000000-req-fipMetrics-aa-1.json").write_text("{}")
    config = str(_file(tmp_path))

    answer = CliRunner().invoke(app, ["resend", "--config", config])
    unknown = CliRunner().invoke(app, ["resend", str(folder / "none.json"), "--config", config])

    assert answer.output == "0 will be sent again, 1 are too old\n"
    assert len(list(folder.iterdir())) == 1
    assert unknown.exit_code == 2
    assert str(folder) in unknown.output


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to another user")
def test_what_root_has_sent_again_can_be_read_by_the_agent(tmp_path: Path) -> None:
    spool, now = tmp_path / "spool", int(time.time() * 1000)
    (spool / "dead-letters").mkdir(parents=True)
    (spool / "dead-letters" / f"{now}-req-fipMetrics-aa-1.json").write_text("{}")
    (spool / "resend").mkdir(mode=0o700)  # as an earlier release made it for root
    os.chown(spool, 4044, 4045)

    answer = CliRunner().invoke(app, ["resend", "--config", str(_file(tmp_path))])

    assert answer.output == "1 will be sent again, 0 are too old\n"
    status = (spool / "resend").stat()
    assert (status.st_uid, status.st_gid) == (4044, 4045)


def test_dead_letters_that_cannot_be_read_are_an_error_and_not_none(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "dead-letters").write_text("a file, where a folder is needed")

    answer = CliRunner().invoke(app, ["resend", "--config", str(_file(tmp_path))])

    assert answer.exit_code == 1
    assert f"{tmp_path}/spool/dead-letters cannot be read" in answer.output


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """Root would move files of the agent's choice wherever it leads."""
    spool, elsewhere, now = tmp_path / "spool", tmp_path / "elsewhere", int(time.time() * 1000)
    (spool / "dead-letters").mkdir(parents=True)
    (spool / "dead-letters" / f"{now}-req-fipMetrics-aa-1.json").write_text("{}")
    elsewhere.mkdir()
    (spool / "resend").symlink_to(elsewhere)

    answer = CliRunner().invoke(app, ["resend", "--config", str(_file(tmp_path))])

    assert answer.exit_code == 1
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_the_agent_cannot_read_is_reported(tmp_path: Path) -> None:
    async def story() -> None:
        agent = agents.agent(tmp_path, MovedClock(), HostileOperator(1))
        warned: list[str] = []
        agent.pusher.warn = warned.append
        (tmp_path / "spool" / "resend").write_text("a file, where a folder is needed")
        await agent.push_once()

        assert "cannot be queued" in warned[0]
        assert "to the agent's user" in warned[0]
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("as_json", [True, False])
def test_a_replay_of_which_no_line_can_be_read_fails_and_names_the_form(
    tmp_path: Path, *, as_json: bool
) -> None:
    log = tmp_path / "access.log"
    log.write_text('1.2.3.4 - - [28/Nov/2026:10:00:00 +0000] "POST /Consent HTTP/1.1" 200 7\n' * 3)
    words = ["replay", str(log), "--format", "nginx", "--config", str(_file(tmp_path))]

    answer = CliRunner().invoke(app, [*words, *(["--json"] if as_json else [])])

    assert answer.exit_code == 1
    assert "common log format" in answer.stderr


def test_a_byte_order_mark_in_the_configuration_is_no_mistake(tmp_path: Path) -> None:
    path = _file(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    answer = CliRunner().invoke(app, ["check", "--config", str(path)])

    assert "no unknown keys" in answer.stdout
