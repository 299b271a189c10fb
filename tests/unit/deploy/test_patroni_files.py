"""The files for Patroni keep what the how-to promises; the slow tests run them."""

import re
import subprocess
from pathlib import Path

import yaml
from tests.support.documents.blocks import DOCUMENTS, text_of
from tests.support.programs import program
from tests.support.until import PATIENCE_S
from tests.unit.deploy.proxies import HAPROXY_RIGHTS

CONNECTIONS_EACH = 11

FILES = Path("deploy/patroni")
HOW_TO = Path("docs/how-to/run-on-patroni.md").read_text()


def test_no_acknowledged_write_can_be_lost_by_a_promotion() -> None:
    dcs = yaml.safe_load((FILES / "patroni.yml").read_text())["bootstrap"]["dcs"]

    assert dcs["synchronous_mode"] == "quorum"
    assert dcs["failsafe_mode"] is True
    assert dcs["ttl"] >= dcs["loop_wait"] + 2 * dcs["retry_timeout"]
    assert dcs["primary_start_timeout"] == 0


def test_a_server_takes_the_connections_of_three_machines() -> None:
    dcs = yaml.safe_load((FILES / "patroni.yml").read_text())["bootstrap"]["dcs"]
    settings = Path("deploy/three-machines/mudra.env").read_text()
    (workers,) = re.findall(r"^MUDRA_WORKERS=(\d+)$", settings, re.MULTILINE)

    needed = 3 * (int(workers) + 1) * CONNECTIONS_EACH
    assert (
        dcs["postgresql"]["parameters"]["max_connections"] >= needed + 50
    )  # commands, replication


def test_haproxy_gives_the_rights_of_root_up() -> None:
    """What Debian's own file has, which this one replaces."""
    assert f"\nglobal\n{HAPROXY_RIGHTS}" in (FILES / "haproxy.cfg").read_text()


def test_patroni_is_one_that_never_takes_the_key_of_its_successor() -> None:
    """Fixed in 3.0.3, the quorum is in 4.0."""
    pinned = (FILES / "requirements.txt").read_text()

    (version,) = [
        line.split("==")[1].split()[0]
        for line in pinned.splitlines()
        if line.startswith("patroni==")
    ]
    assert int(version.split(".")[0]) >= 4


def test_patroni_may_open_the_watchdog_of_the_machine(tmp_path: Path) -> None:
    """The device is root's: without it Patroni has none silently, or with `required` never leads."""
    text = (FILES / "patroni.service").read_text()
    unit = tmp_path / "patroni.service"
    unit.write_text(text.replace("/opt/patroni/bin/patroni /etc/patroni/config.yml", "/bin/true"))
    verified = subprocess.run(
        [program("systemd-analyze"), "verify", unit],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    lines = text.splitlines()

    assert (verified.returncode, verified.stderr) == (0, "")
    assert "User=postgres" in lines
    # As root, and a machine without a watchdog starts all the same.
    assert "ExecStartPre=-+/bin/chown postgres /dev/watchdog" in lines


def test_each_command_of_patroni_finds_its_program_and_its_cluster() -> None:
    """It is in an environment of its own, and asks for its file and for what it acts on."""
    whole = re.compile(
        r"/opt/patroni/bin/patronictl -c /etc/patroni/config\.yml "
        r"(list|(edit-config|remove|restart|show-config|switchover) mudra|reinit mudra pg\d)"
    )
    found = [
        (document, " ".join(text[max(0, at.start() - 20) : at.end() + 60].split()))
        for document in DOCUMENTS
        if "/decisions/" not in document
        for text in [" ".join(text_of(document).split())]
        for at in re.finditer(r"patronictl [-a-z]", text)
    ]

    assert len(found) >= 6
    assert [one for one in found if not whole.search(one[1])] == []


def test_the_how_to_names_each_file() -> None:
    for path in FILES.iterdir():
        assert f"deploy/patroni/{path.name}" in HOW_TO
