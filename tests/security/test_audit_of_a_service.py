"""The audit of a running service is sealed, and `mudra audit verify` finds what was touched."""

import json
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
from click.testing import Result
from tests.support.members import Member, new_member
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S
from typer.testing import CliRunner

from mudra.bootstrap.command_line import app
from mudra.storage.database.embedded.server import embedded_server


def wait_until_sealed(service: Service, at_least: int) -> dict[str, object]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = service.cli("audit", "verify", "--json", check=False)
        # The clock that is moved may be a quarter of an hour ahead of the sealer for a moment.
        late = "sealing has stopped" in found.output
        facts = {"rows": 0} if late else json.loads(found.stdout)
        if int(facts["rows"]) >= at_least:
            return facts
        assert time.monotonic() < deadline, found.output
        if not late:
            service.advance("PT11M")


@pytest.fixture(scope="module")
def sealed_data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Member]:
    """Data of a service that was used and stopped, its audit sealed."""
    data_dir = tmp_path_factory.mktemp("audit") / "data"
    with running_service(data_dir) as service:
        member = new_member(service)
        member.secret()
        wait_until_sealed(service, 7)
    return data_dir, member


@pytest.fixture
def copied(sealed_data: tuple[Path, Member], tmp_path: Path) -> Path:
    """A copy for one test to spoil."""
    copy = tmp_path / "data"
    # Python's own copy takes three times the CPU.
    subprocess.run(["cp", "-a", "--reflink=auto", sealed_data[0], copy], check=True)
    return copy


def audit(data_dir: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["audit", *words, "--data-dir", str(data_dir)])


def test_acts_are_sealed_and_vouched_for(sealed_data: tuple[Path, Member]) -> None:
    data_dir, member = sealed_data

    facts = json.loads(audit(data_dir, "verify", "--json").stdout)
    events = json.loads(audit(data_dir, "list", "--json", "--last", "500").stdout)

    names = [event["event"] for event in events if event["entityId"] == member.entity_id]
    assert names == [
        "user:account:onboard",
        "entity:member:onboard",
        "entity:secret:create",
        "entity:secret:read",
    ]
    assert facts["vouched"] > 0


@pytest.mark.parametrize(
    "act",
    [
        "UPDATE audit_event SET actor = 'nobody' WHERE seq = 2",
        "UPDATE audit_event SET at = at + interval '1 second' WHERE seq = 3",
        "DELETE FROM audit_seal WHERE number = 2",
        "DELETE FROM audit_seal",
    ],
)
def test_anyone_who_touches_the_database_is_found_out(copied: Path, act: str) -> None:
    with embedded_server(copied) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(act.encode())

        done = audit(copied, "verify")

    assert done.exit_code == 1
    assert "audit row" in done.output
