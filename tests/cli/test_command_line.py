"""The mudra command: exit codes, JSON shapes, files, help."""

import contextlib
import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import structlog
import typer.main
from structlog.testing import capture_logs
from tests.support.members import Member, new_member, onboard
from tests.support.service import Service
from typer.testing import CliRunner

from mudra.bootstrap.command_line import app
from mudra.bootstrap.dependencies import Dependencies

MUDRA = str(Path(sys.executable).with_name("mudra"))


def commands(group: click.Command, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if hasattr(group, "commands"):
        return [
            found for name, sub in group.commands.items() for found in commands(sub, (*words, name))
        ]
    return [words]


COMMANDS = commands(typer.main.get_command(app))


@pytest.fixture(scope="module")
def admin(service: Service) -> Member:
    member = new_member(service)
    done = service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    assert "signed in as" in done.stdout
    return member


@functools.cache
def help_of(words: tuple[str, ...]) -> str:
    """The help of a command, which two tests look at."""
    done = CliRunner().invoke(app, [*words, "--help"])
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example_in_its_help(words: tuple[str, ...]) -> None:
    shown = help_of(words)

    assert f"mudra {' '.join(words)}" in " ".join(shown.split())
    assert "Example:" in shown


def test_the_help_shows_what_is_in_brackets() -> None:
    shown = CliRunner().invoke(app, ["metrics", "export", "--help"]).stdout

    assert "mudra-network[parquet]" in re.sub(r"[\s│]", "", shown)


NOTHING_BUT_JSON = {
    ("registry", "export"),
    ("jwk", "new"),
}
"""What these print is JSON always."""
RUN_ON = {("serve",)}
"""Runs on and prints no result."""


@pytest.mark.parametrize(
    "words", [w for w in COMMANDS if w not in RUN_ON | NOTHING_BUT_JSON], ids=" ".join
)
def test_every_command_speaks_json(words: tuple[str, ...]) -> None:
    assert "--json" in help_of(words)


def test_the_exit_codes_are_explained_in_the_help() -> None:
    assert "Exit codes: 0 done" in " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())


def test_a_mail_has_the_documented_members(service: Service) -> None:
    _, email = onboard(service)

    mails = json.loads(service.cli("mail", "list", "--to", email, "--json").stdout)

    documented = ["id", "to", "subject", "sentAt", "text", "links"]
    assert [list(mail) for mail in mails] == [documented]
    assert mails[0]["to"] == email
    assert mails[0]["links"][0].startswith(f"{service.issuer}/activate/")
    assert mails[0]["links"][0] in mails[0]["text"]


def test_onboarding_again_changes_nothing_and_other_particulars_are_refused(
    service: Service,
) -> None:
    entity_id, email = onboard(service)
    same = [
        "member",
        "onboard",
        entity_id,
        "--type",
        "FIP",
        "--name",
        "Kaveri Bank",
        "--admin",
        email,
        "--admin-name",
        "Asha Rao",
        "--json",
    ]
    mails_before = service.cli("mail", "list", "--to", email, "--json").stdout

    again = json.loads(service.cli(*same).stdout)
    other = service.cli(*[w if w != "Kaveri Bank" else "Another Bank" for w in same], check=False)

    assert again["result"] == "unchanged"
    assert again["entityId"] == entity_id
    assert other.exit_code == 1
    assert "nothing was changed" in other.stderr
    assert service.cli("mail", "list", "--to", email, "--json").stdout == mails_before


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        (
            [
                "member",
                "onboard",
                "no good ID",
                "--type",
                "FIP",
                "--name",
                "X Bank",
                "--admin",
                "a@b.example",
            ],
            "entity",
        ),
        (
            [
                "member",
                "onboard",
                "X-FIP",
                "--type",
                "BANK",
                "--name",
                "X Bank",
                "--admin",
                "a@b.example",
            ],
            "type",
        ),
        (
            [
                "member",
                "onboard",
                "X-FIP",
                "--type",
                "FIP",
                "--name",
                "X Bank",
                "--admin",
                "no address",
            ],
            "admin",
        ),
        (["secret", "reset", "X-FIP", "--expiry-days", "181"], "expiry-days"),
        (["secret", "reset", "X-FIP", "--keep-old-days", "8"], "keep-old-days"),
        (["token", "inspect", "nonsense"], "token"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_exits_with_2_and_names_what_is_wrong(
    service: Service, wrong: list[str], names: str
) -> None:
    done = service.cli(*wrong, check=False)

    assert done.exit_code == 2
    assert names in done.output.lower()


def test_the_agents_check_says_what_is_wrong_with_its_configuration(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    example = Path("deploy/agent.toml").read_text()
    config.write_text(example.replace("keep_hours = 24", "keep_hours = 900"))
    words = ["agent", "check", "--config", str(config)]

    shown, written = (CliRunner().invoke(app, [*words, *more]) for more in ([], ["--json"]))
    missing = CliRunner().invoke(app, [*words[:3], str(tmp_path / "none.toml")])

    assert (shown.exit_code, written.exit_code, missing.exit_code) == (1, 1, 1)
    assert shown.stdout.startswith("WRONG configuration")
    assert "keep_hours" in shown.stdout
    (found,) = json.loads(written.stdout)
    assert (found["name"], found["ok"]) == ("configuration", False)
    assert found["way_out"]
    assert missing.stdout.startswith("WRONG configuration")


def test_the_agents_check_says_what_to_do_where_no_access_log_is_followed(tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    shipped = Path("deploy/agent.toml").read_text()
    config.write_text(shipped.replace("/var/log/nginx/fips.json", str(tmp_path / "none.json")))

    shown = CliRunner().invoke(app, ["agent", "check", "--config", str(config)])

    assert "none.json cannot be read" in shown.stdout
    assert "remove [[log]]" in shown.stdout


def test_secret_and_token_commands_work_as_json(service: Service, admin: Member) -> None:
    read = json.loads(service.cli("secret", "read", admin.entity_id, "--json").stdout)
    token = service.cli("token", "entity", admin.entity_id).stdout
    inspected = json.loads(service.cli("token", "inspect", "--json", stdin=token).stdout)

    assert read["entityId"] == admin.entity_id
    assert isinstance(read["expiresOn"], int)
    assert inspected["claims"]["azp"] == admin.entity_id
    assert re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+\n", token)


def test_refusals_and_waits_have_codes_of_their_own(service: Service, admin: Member) -> None:
    others = service.cli("secret", "read", "NO-SUCH", check=False)
    first = service.cli("secret", "reset", admin.entity_id, "--keep-old-days", "1", "--json")
    too_soon = service.cli("secret", "reset", admin.entity_id, check=False)
    wrong_password = service.cli(
        "login", "x@y.example", "--password-stdin", stdin="wrong\n", check=False
    )

    assert (others.exit_code, first.exit_code) == (1, 0)
    assert too_soon.exit_code == 4
    assert "5 minutes" in too_soon.stderr
    assert wrong_password.exit_code == 1
    assert "Traceback" not in wrong_password.output


def test_no_one_signed_in_is_3_and_an_unreachable_service_5(
    service: Service, tmp_path: Path
) -> None:
    alone = {**service.environment, "MUDRA_CONFIG_DIR": str(tmp_path)}
    asked = CliRunner().invoke(app, ["secret", "read", "X"], env=alone)
    nowhere = CliRunner().invoke(
        app,
        ["login", "x@y.example", "--password-stdin", "--base-url", "http://127.0.0.1:9/iam"],
        input="pw\n",
        env=alone,
    )

    assert (asked.exit_code, nowhere.exit_code) == (3, 5)
    assert "mudra login EMAIL" in asked.stderr


@pytest.mark.parametrize("base_url", ["http://[::1/iam", "127.0.0.1:8080/iam"])
def test_an_address_that_is_none_is_said_so(base_url: str, tmp_path: Path) -> None:
    words = ["login", "x@y.example", "--password-stdin", "--base-url", base_url]
    done = CliRunner().invoke(
        app, words, input="pw\n", env={**os.environ, "MUDRA_CONFIG_DIR": str(tmp_path)}
    )

    assert done.exit_code == 1
    assert "is --base-url right?" in done.stderr
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_a_tokens_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").mkdir(mode=0o700)  # cannot be read by root either
    environment = {**os.environ, "MUDRA_CONFIG_DIR": str(tmp_path)}
    done = CliRunner().invoke(app, ["secret", "read", "X"], env=environment)

    assert done.exit_code == 3
    assert "tokens.json cannot be read" in done.stderr


def test_the_tokens_file_is_the_users_own_and_refused_when_others_can_read_it(
    service: Service, admin: Member
) -> None:
    path = Path(service.environment["MUDRA_CONFIG_DIR"]) / "tokens.json"
    assert path.stat().st_mode & 0o777 == 0o600

    path.chmod(0o644)
    refused = service.cli("token", "user", check=False)
    path.chmod(0o600)

    assert refused.exit_code == 3
    assert f"{path} can be read by others" in refused.stderr
    assert "chmod 600" in refused.stderr
    assert service.cli("token", "user").exit_code == 0


def test_a_missing_data_directory_is_said_so(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["member", "list", "--data-dir", str(tmp_path / "none")])

    assert done.exit_code in {1, 5}
    assert "none" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_complete_commands(shell: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }

    shown = subprocess.run(
        [MUDRA, "--show-completion", shell],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert shown.returncode == 0, shown.stderr
    assert "_MUDRA_COMPLETE" in shown.stdout


def test_doctor_finds_a_well_service_well(service: Service) -> None:
    findings = json.loads(service.cli("doctor", "--json").stdout)

    assert {f["check"] for f in findings} >= {
        "settings",
        "disk",
        "master key",
        "clock",
        "signing keys",
        "secrets",
        "invariants",
        "mail",
        "postgresql",
    }
    assert all(f["ok"] and not f["warning"] for f in findings)


def test_doctor_names_an_unknown_setting_and_the_one_meant(service: Service) -> None:
    environment = {**service.environment, "MUDRA_PROT": "8080"}

    done = CliRunner().invoke(app, ["doctor"], env=environment)

    assert done.exit_code == 1
    assert (
        "FAIL  settings: MUDRA_PROT is not a setting of Mudra; did you mean MUDRA_PORT?"
        in done.stdout
    )


def test_doctor_names_a_master_key_that_others_can_read(service: Service) -> None:
    path = service.data_dir / "master.key"
    path.chmod(0o644)
    done = service.cli("doctor", check=False)
    path.chmod(0o600)

    assert done.exit_code != 0
    assert "chmod 600" in done.output
    assert str(path) in done.output


@pytest.mark.parametrize("before", [contextlib.nullcontext, capture_logs])
def test_what_a_command_logs_stays_out_of_its_answer(
    service: Service,
    capsys: pytest.CaptureFixture[str],
    before: Callable[[], contextlib.AbstractContextManager[object]],
) -> None:
    """Also where other code of this process has set how a line is processed, but not where to."""
    structlog.reset_defaults()
    with before():
        pass

    async def act(_: Dependencies) -> None:
        structlog.get_logger().warning("channel lost")

    service.in_own_store(act)
    shown = capsys.readouterr()
    structlog.reset_defaults()

    assert shown.out == ""
    assert "channel lost" in shown.err


@pytest.mark.parametrize("description", ["{", "[]", "[" * 200_000, '{"a":' * 200_000])
def test_a_description_of_a_backup_that_is_none_is_named(description: str, tmp_path: Path) -> None:
    """A nesting that no parser follows was a traceback."""
    (tmp_path / "mudra.dump.age").write_bytes(b"")
    (tmp_path / "mudra.json").write_text(description)
    key = str(tmp_path / "backup.key")
    assert CliRunner().invoke(app, ["backup", "key", key]).exit_code == 0
    file = str(tmp_path / "mudra.dump.age")
    done = CliRunner().invoke(app, ["backup", "verify", file, "--identity", key])

    assert done.exit_code == 1
    assert "of this backup cannot be read" in " ".join(done.output.split())
