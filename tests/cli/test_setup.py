"""mudra setup: a machine that is ready to start, by a few answers; a second run changes nothing."""

import json
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.support.database.own_postgres import own_postgres
from tests.support.depth import with_every_change
from tests.support.forked_command import run_mudra
from tests.support.smtp_sink import SmtpSink, smtp_sink
from typer.testing import CliRunner

from mudra.bootstrap.command_line import app
from mudra.bootstrap.set_up.set_up import read_settings, with_settings
from mudra.storage.crypto.master_key import parse_master_keys

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH:UserWarning")

EMBEDDED = """
base_url = "https://tokens.network.example/iam"
operator = "chief@network.example"
smtp_url = "smtp://tokens:p%24a%22s%5Cs%20w%40rd@127.0.0.1:1"
mail_from = "tokens@network.example"
"""


@pytest.fixture(scope="module")
def sink() -> Iterator[SmtpSink]:
    """A mail server that takes the password of the answers."""
    with smtp_sink(login=True, password='p$a"s\\s w@rd') as sink:
        yield sink


@pytest.fixture(scope="module")
def answers(sink: SmtpSink) -> str:
    """Return the answers with that mail server."""
    return EMBEDDED.replace("127.0.0.1:1", f"127.0.0.1:{sink.port}")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, answers: str) -> Path:
    """A machine that was set up once, with the embedded database."""
    folder = tmp_path_factory.mktemp("machine")
    done = set_up(folder, answers)
    (folder / "first.json").write_text(json.dumps(done))
    return folder


def set_up(folder: Path, answers: str) -> dict[str, object]:
    done = run(folder, answers)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def run(folder: Path, answers: str):
    (file := folder / "answers.toml").write_text(answers)
    file.chmod(0o600)
    return run_mudra("setup", "--answers", str(file), "--to", str(folder), "--json")


def settings_of(folder: Path) -> dict[str, str]:
    return read_settings(folder / "etc/mudra/mudra.env")


def test_a_machine_is_ready_to_start(machine: Path, sink: SmtpSink) -> None:
    done = json.loads((machine / "first.json").read_text())
    env, settings = machine / "etc/mudra/mudra.env", settings_of(machine)
    units = {one.name for one in (machine / "etc/systemd/system").iterdir()}
    environment = {**settings, "MUDRA_DATA_DIR": str(machine / "var/lib/mudra")}
    operators = run_mudra("operator", "list", "--json", **environment)

    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert settings["MUDRA_SMTP_URL"] == (
        f"smtp://tokens:p%24a%22s%5Cs%20w%40rd@127.0.0.1:{sink.port}"
    )
    assert {"mudra.service", "mudra.socket", "mudra-audit-verify.timer"} <= units
    socket = (machine / "etc/systemd/system/mudra.socket").read_text()
    assert socket.count("\nListenStream=") == int(settings["MUDRA_WORKERS"])
    assert stat.S_IMODE((machine / "usr/local/bin/mudra").stat().st_mode) == 0o755
    assert re.fullmatch(r"https://tokens\.network\.example/iam/activate/\S+", done["operatorLink"])
    assert "chief@network.example" in operators.stdout


def test_the_service_reaches_its_folders_and_others_only_what_is_no_secret(machine: Path) -> None:
    open_to_all = ("etc", "etc/mudra", "etc/systemd/system", "usr/local/bin", "var/backups")
    private = ("etc/mudra/keep", "var/lib/mudra", "var/backups/mudra")

    assert {one: mode_of(machine / one) for one in open_to_all} == dict.fromkeys(open_to_all, 0o755)
    assert {one: mode_of(machine / one) for one in private} == dict.fromkeys(private, 0o700)


def mode_of(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


def test_what_to_keep_elsewhere_opens_what_is_here(machine: Path) -> None:
    done, settings = json.loads((machine / "first.json").read_text()), settings_of(machine)
    kept = {Path(one).name: Path(one) for one in done["keepElsewhere"]}
    environment = {**settings, "MUDRA_DATA_DIR": str(machine / "var/lib/mudra")}
    made = run_mudra("backup", "create", "--to", str(machine / "made"), "--json", **environment)
    read = run_mudra(
        "backup", "verify", json.loads(made.stdout)["file"], "--identity", str(kept["backup.key"])
    )

    assert sorted(kept) == ["backup.key", "master.key"]
    assert {stat.S_IMODE(one.stat().st_mode) for one in kept.values()} == {0o600}
    assert read.returncode == 0, read.stderr
    both = kept["master.key"].read_text(), settings["MUDRA_MASTER_KEY"]
    first, second = (parse_master_keys(one, "here").keys[1].reveal() for one in both)
    assert first == second


def test_a_second_run_changes_nothing_and_another_answer_that_alone(
    machine: Path, answers: str
) -> None:
    before = settings_of(machine)
    env = machine / "etc/mudra/mudra.env"
    env.write_text(env.read_text() + "# our own\nMUDRA_LANGUAGE=hi\n")
    again = set_up(machine, answers)
    other = set_up(machine, answers.replace("tokens.network.example/iam", "other.example/iam"))
    plain = run_mudra("setup", "--answers", str(machine / "answers.toml"), "--to", str(machine))

    assert (again["written"], again["operatorLink"]) == ([], "")
    assert "\n  mudra admin invite chief@network.example\n" in plain.stdout
    assert other["written"] == [str(env)]
    assert settings_of(machine) == {
        **before,
        "MUDRA_BASE_URL": "https://other.example/iam",
        "MUDRA_LANGUAGE": "hi",
    }
    assert "# our own\n" in env.read_text()


def test_a_master_key_in_a_file_of_another_place_is_left_there(machine: Path, answers: str) -> None:
    env = machine / "etc/mudra/mudra.env"
    before, key = env.read_text(), machine / "kept-by-others"
    key.write_text(settings_of(machine)["MUDRA_MASTER_KEY"] + "\n")
    lines = [one for one in before.splitlines() if not one.startswith("MUDRA_MASTER_KEY=")]
    env.write_text("\n".join([*lines, f"MUDRA_MASTER_KEY_FILE={key}", ""]))
    try:
        set_up(
            machine, answers + 'network_name = "Own Network"\nsecurity_contact = "a@b.example"\n'
        )
        found = settings_of(machine)
    finally:
        env.write_text(before)

    assert "MUDRA_MASTER_KEY" not in found
    assert found["MUDRA_MASTER_KEY_FILE"] == str(key)
    assert found["MUDRA_NETWORK_NAME"] == "Own Network"
    assert found["MUDRA_SECURITY_CONTACT"] == "a@b.example"


REFUSED = ("p%24a", "topsecret", "refuses the sign-in (535", "check user and password")


@pytest.mark.parametrize(
    ("right", "wrong", "said", "way_out"),
    with_every_change(
        [REFUSED],
        [
            REFUSED,
            ("{port}", "{free}", "cannot be reached", "check scheme, host and port"),
            (
                "{port}",
                "{port}?starttls=always",
                "STARTTLS extension not supported",
                "check scheme",
            ),
        ],
    ),
)
def test_a_mail_server_that_cannot_be_used_is_named_with_all_else_done(
    machine: Path, answers: str, sink: SmtpSink, right: str, wrong: str, said: str, way_out: str
) -> None:
    env = machine / "etc/mudra/mudra.env"
    before = env.read_text()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        ports = {"port": sink.port, "free": held.getsockname()[1]}
        changed = answers.replace(right.format(**ports), wrong.format(**ports))
        try:
            done = run(machine, changed + "workers = 3\n")
            workers = settings_of(machine)["MUDRA_WORKERS"]
        finally:
            env.write_text(before)
    found = json.loads(done.stdout)

    assert done.returncode == 1
    assert found["mailFault"] in done.stderr
    assert said in found["mailFault"]
    assert way_out in found["mailFault"]
    assert "topsecret" not in done.stdout + done.stderr
    assert str(env) in found["written"]
    assert workers == "3"


def test_a_second_run_tries_the_mail_server_again_and_sends_nothing(
    machine: Path, answers: str, sink: SmtpSink
) -> None:
    env = machine / "etc/mudra/mudra.env"
    before = env.read_text()
    data = {"MUDRA_DATA_DIR": str(machine / "var/lib/mudra")}
    try:
        wrong = run(machine, answers.replace("p%24a", "topsecret"))
        doctor = run_mudra("doctor", "--json", **settings_of(machine), **data)
        sink.logins.clear()
        right = set_up(machine, answers)
    finally:
        env.write_text(before)
    (mail,) = [one for one in json.loads(doctor.stdout) if one["check"] == "mail"]

    assert wrong.returncode == 1
    assert (mail["ok"], mail["text"]) == (False, json.loads(wrong.stdout)["mailFault"])
    assert "topsecret" not in doctor.stdout + doctor.stderr
    assert right["mailFault"] == ""
    assert sink.logins == [(b"tokens", sink.password.encode(), False)]
    assert sink.received == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with own_postgres(tmp_path / "server") as url:
        yield url


def test_database_and_roles_are_made_in_a_postgresql(
    server: str, answers: str, tmp_path: Path
) -> None:
    answers += f'database = "{server}"\ndatabase_name = "network"\n'
    (machine := tmp_path / "machine").mkdir()
    set_up(machine, answers)
    settings = settings_of(machine)
    again = set_up(machine, answers)
    done = run_mudra("doctor", "--json", **settings, MUDRA_DATA_DIR=str(machine / "var/lib/mudra"))
    checks = {one["check"]: one["ok"] for one in json.loads(done.stdout)}
    given = conninfo_to_dict(settings["MUDRA_DATABASE_URL"])

    assert again["written"] == []
    assert given["dbname"] == "network"
    assert len(str(given["password"])) >= 24
    assert checks["database roles"]
    assert checks["connections"]
    assert checks["mail"]
    with psycopg.connect(settings["MUDRA_DATABASE_URL"]) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("mudra_service",)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("base_url = 'http://tokens.example/iam'", "base_url"),
        ("smtp_url = 'mail.example'", "SMTP_URL"),
        ("database = 'postgresql://nobody@127.0.0.1:1/x'", "database: the superuser's address"),
        ("database_name = 'x; DROP'", "database_name"),
        ("workers = 0", "workers"),
        ("worker = 2", "worker"),
        ("backup_recipients = ['secret']", "MUDRA_BACKUP_RECIPIENTS"),
    ],
)
def test_a_wrong_answer_is_named_and_nothing_secret_shown(
    wrong: str, said: str, tmp_path: Path
) -> None:
    name = wrong.partition(" ")[0]
    kept = [line for line in EMBEDDED.splitlines() if not line.startswith(f"{name} ")]
    done = run(tmp_path, "\n".join([*kept, wrong]))

    assert done.returncode != 0
    assert said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_answers_that_others_may_read_are_refused(tmp_path: Path) -> None:
    (file := tmp_path / "answers.toml").write_text(EMBEDDED)
    file.chmod(0o644)
    done = run_mudra("setup", "--answers", str(file), "--to", str(tmp_path))

    assert done.returncode == 2
    assert "chmod 600" in done.stderr


def test_without_a_file_it_asks(tmp_path: Path) -> None:
    typed = "https://tokens.example/iam\nchief@network.example\n\n\n"
    done = CliRunner().invoke(app, ["setup", "--to", str(tmp_path)], input=typed)

    assert done.exit_code == 0, done.output
    assert "Database: embedded" in done.output
    assert "systemctl enable --now mudra.socket mudra.service" in done.output
    assert "once the proxy answers at https://tokens.example/iam" in done.output
    assert re.search(r"https://tokens\.example/iam/activate/\S+", done.output)


@pytest.mark.parametrize("value", ["plain", 'a"b\\c', "a b#c", "50%$x", "'quoted'", ""])
def test_a_value_comes_back_from_the_file_of_settings(value: str, tmp_path: Path) -> None:
    (file := tmp_path / "x.env").write_text(with_settings("# head\nA=1\n", {"B": value, "A": "2"}))

    assert read_settings(file) == {"A": "2", "B": value}
    assert with_settings(file.read_text(), {"B": value}) == file.read_text()
