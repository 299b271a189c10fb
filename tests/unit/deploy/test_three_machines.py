"""The script for three machines: what it writes, refuses and leaves alone."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.patroni.cluster import Cluster, Machine
from tests.support.depth import with_every_change
from tests.support.documents.blocks import blocks_of
from tests.support.programs import program
from tests.support.until import PATIENCE_S
from tests.unit.deploy.proxies import haproxy_text

from mudra.bootstrap.config import load_settings
from mudra.storage.crypto.master_key import parse_master_keys
from mudra.storage.database.embedded.account import choose_accounts

SCRIPT = Path("deploy/three-machines/render.py")
PAGE = "docs/how-to/run-on-three-machines.md"
ADDRESSES = ("10.7.4.21", "10.7.4.22", "10.7.4.23")
KEY_1, KEY_2 = f"{'A' * 43}=", f"{'B' * 42}A="
RECIPIENT = f"age1{'q' * 58}"
PASSWORDS = [f"{name}-0123456789abcdef" for name in ("super", "repl", "rewind", "service", "owner")]


def example() -> str:
    return Path("deploy/three-machines/inventory.example.toml").read_text()


def filled() -> str:
    """The example with each empty field filled in, and with addresses of its own."""
    text = example().replace('master_key = ""', f'master_key = "{KEY_1}"')
    text = text.replace("backup_recipients = []", f'backup_recipients = ["{RECIPIENT}"]')
    for password in PASSWORDS:
        text = text.replace('= ""', f'= "{password}"', 1)
    return re.sub(r'"10\.0\.0\.([123])"', r'"10.7.4.2\1"', text).replace(
        "10.0.0.0/24", "10.7.0.0/16"
    )


def rendered(
    folder: Path, inventory: str, *options: str, mode: int = 0o600
) -> "subprocess.CompletedProcess[str]":
    path = folder / "inventory.toml"
    path.write_text(inventory)
    path.chmod(mode)
    command = [sys.executable, str(SCRIPT), str(path), "--to", str(folder / "machines"), *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, umask=0o077
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the script wrote once, for tests that only read it: each time starts openssl a dozen times."""
    folder = tmp_path_factory.mktemp("machines")
    assert rendered(folder, filled()).returncode == 0
    return folder


def test_it_writes_a_folder_for_each_machine_and_says_what_to_run(tmp_path: Path) -> None:
    done = rendered(tmp_path, filled())
    folders = {one.name for one in (tmp_path / "machines").iterdir()}
    authority = tmp_path / "certificates" / "ca.crt"
    files = {one for one in (tmp_path / "machines").rglob("*") if one.is_file()}

    assert done.returncode == 0, done.stderr
    assert folders == set(ADDRESSES)
    for address in ADDRESSES:
        assert f"{address}:  ssh root@{address} sh mudra-machine/install.sh mudra" in done.stdout
        assert f"root@{address}:mudra-machine/\n" in done.stdout
    for path in files:
        text = path.read_text()
        assert "10.0.0." not in text.replace("10.0.0.10/32", ""), path
        assert "change-this" not in text, path
        assert not re.search(r"@[A-Z_]+@", text), path
        secret = any(password in text for password in [*PASSWORDS, "PRIVATE KEY"])
        assert path.stat().st_mode & 0o777 == (0o600 if secret else 0o644), path
    for address in ADDRESSES:
        own = tmp_path / "machines" / address / "certificates"
        for host in (address, "127.0.0.1"):  # HAProxy of a machine leads to each PostgreSQL
            checked = subprocess.run(
                ["openssl", "verify", "-CAfile", authority, "-verify_ip", host, own / "server.crt"],
                timeout=PATIENCE_S, check=False,
            )  # fmt: skip
            assert checked.returncode == 0
        assert (own / "ca.crt").read_text() == authority.read_text()


def test_a_certificate_that_ends_soon_is_made_again_by_the_same_authority(tmp_path: Path) -> None:
    rendered(tmp_path, filled())
    folder = tmp_path / "certificates"
    old = {path.name: path.read_text() for path in folder.iterdir()}
    ending = ["openssl", "x509", "-req", "-days", "80", "-CA", "ca.crt", "-CAkey", "ca.key"]
    asked = ["openssl", "x509", "-x509toreq", "-in", f"{ADDRESSES[1]}.crt", "-signkey"]
    asking = subprocess.run(
        [*asked, f"{ADDRESSES[1]}.key"],
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    subprocess.run(
        [*ending, "-out", f"{ADDRESSES[1]}.crt"],
        cwd=folder, input=asking.stdout, capture_output=True, timeout=PATIENCE_S, check=True,
    )  # fmt: skip

    again = rendered(tmp_path, filled())

    new = {path.name: path.read_text() for path in folder.iterdir()}
    assert {name for name in new if new[name] != old[name]} == {
        f"{ADDRESSES[1]}.crt", f"{ADDRESSES[1]}.key",
    }  # fmt: skip  # of that machine alone
    assert {line.rpartition("/")[2] for line in again.stdout.splitlines() if "written" in line} == {
        "server.crt", "server.key",
    }  # fmt: skip


def test_the_files_are_those_that_the_test_of_patroni_runs(tmp_path: Path) -> None:
    """The same templates with the same values: nothing else of them differs."""
    network = "127.99.7"
    inventory = re.sub(r"10\.7\.4\.2([123])", rf"{network}.\1", filled())
    done = rendered(tmp_path, inventory.replace("10.7.0.0/16", "127.0.0.0/8"))
    assert done.returncode == 0, done.stderr
    machines = [Machine(n, f"{network}.{n}", Path("/var/lib")) for n in (1, 2, 3)]
    account = choose_accounts(tmp_path, tmp_path / "none", tmp_path).initdb
    cluster = Cluster(tmp_path, network, account, machines)
    for machine in machines:
        for name, template in (
            ("etc/default/etcd", "etcd.env"),
            ("etc/patroni_env.conf", "patroni.env"),
            ("etc/patroni/config.yml", "patroni.yml"),
            ("etc/haproxy/haproxy.cfg", "haproxy.cfg"),
        ):
            written = (tmp_path / "machines" / machine.address / name).read_text()
            for place, password in enumerate(PASSWORDS, start=1):
                written = written.replace(password, f"change-this-{place}")
            theirs = cluster.text(template, machine)
            for ours, name_there in (
                ("/var/lib/run", "/var/run/postgresql"),
                ("/var/lib/etcd-tls", "/etc/etcd/tls"),
                ("/var/lib/patroni-tls", "/etc/patroni/tls"),
            ):
                theirs = theirs.replace(ours, name_there)
            assert written == theirs, name


def test_a_second_run_changes_nothing_and_a_check_says_so(tmp_path: Path) -> None:
    rendered(tmp_path, filled())
    again = rendered(tmp_path, filled())
    same = rendered(tmp_path, filled(), "--check")
    other = rendered(tmp_path, filled().replace("10.0.0.10", "10.0.0.11"), "--check")

    assert "written" not in again.stdout
    assert (same.returncode, same.stdout) == (0, "")
    assert other.returncode == 1
    assert [line.rpartition("/")[2] for line in other.stdout.splitlines()] == ["mudra.env"] * 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('base_url = "https:', 'base_url = "http:', "base_url: the public https address"),
        ("smtp_url", "smtp", "smtp: no such field"),
        ('mail_from = "tokens@network.example"', "", "mail_from: missing"),
        ('"10.7.4.22", ', "", "machines: 3 different addresses, not 2"),
        ('"10.7.4.22"', '"10.8.4.22"', "machines: 10.8.4.22 is not in subnet 10.7.0.0/16"),
        ('"10.7.4.22"', '"pg2.example"', "machines: a list of IPv4 addresses"),
        ('["10.0.0.10"]', "[]", "proxies: the address of each proxy"),
        ('"AAAA', '"AA', "master_key: base64 of 32 bytes"),
        (PASSWORDS[3], "", "passwords.service: 16 to 128 letters"),
        (PASSWORDS[3], "with@sign-0123456789", "passwords.service: 16 to 128 letters"),
        (PASSWORDS[3], PASSWORDS[4], "passwords: each a different one"),
        ("[passwords]", "[words]", "words: no such field"),
        (f'["{RECIPIENT}"]', "[]", "backup_recipients: the public key of who can decrypt"),
        (RECIPIENT, "AGE-SECRET-KEY-1", "backup_recipients: public keys of age"),
    ],
)
def test_a_field_that_cannot_work_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    inventory = filled()
    assert old in inventory
    done = rendered(tmp_path, inventory.replace(old, new, 1))

    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "machines").exists()


def test_an_inventory_that_others_read_is_refused(tmp_path: Path) -> None:
    done = rendered(tmp_path, filled(), mode=0o644)

    assert done.returncode == 2
    assert "chmod 600" in done.stderr


def test_the_node_takes_its_settings_and_its_master_key(written: Path) -> None:
    lines = (written / "machines" / ADDRESSES[1] / "etc/mudra/mudra.env").read_text().splitlines()
    variables = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    settings = load_settings(variables)
    (keys,) = [parse_master_keys(variables["MUDRA_MASTER_KEY"], "the file").keys]

    assert settings.host == ADDRESSES[1]
    assert (settings.telemetry_host, settings.telemetry_port) == (ADDRESSES[1], 9464)
    assert settings.backup_recipients == (RECIPIENT,)
    assert settings.database_owner_url is not None
    assert [str(one) for one in settings.trusted_proxies] == ["10.0.0.10/32"]
    assert list(keys) == [1]
    assert settings.database_url is not None
    assert PASSWORDS[3] in settings.database_url.reveal()


ROTATED = (f"2:{KEY_2}, 1:{KEY_1}", 2, {1, 2})


@pytest.mark.parametrize(
    ("given", "active", "versions"),
    with_every_change(
        [ROTATED],
        [
            (f"{KEY_1},2:{KEY_2}", 1, {1, 2}),
            (f"1:{KEY_1},2:{KEY_2}", 1, {1, 2}),
            ROTATED,
            (f"2:{KEY_2}", 2, {2}),
            (f"1:{KEY_1}", 1, {1}),
        ],
    ),
)
def test_a_rotation_of_the_master_key_is_written_step_by_step(
    tmp_path: Path, given: str, active: int, versions: set[int]
) -> None:
    done = rendered(tmp_path, filled().replace(KEY_1, given))
    files = [tmp_path / "machines" / one / "etc/mudra/mudra.env" for one in ADDRESSES]
    (line,) = {
        line
        for file in files
        for line in file.read_text().splitlines()
        if line.startswith("MUDRA_MASTER_KEY=")
    }
    keys = parse_master_keys(line.partition("=")[2], "the file")

    assert done.returncode == 0, done.stderr
    assert (keys.active, set(keys.keys)) == (active, versions)


@pytest.mark.parametrize(
    "given",
    [
        f"1:{KEY_1},1:{KEY_2}",
        f"1:{KEY_1},{KEY_2}",
        f"0:{KEY_1}",
        f"{2**32}:{KEY_1}",
        f"two:{KEY_1}",
        f"1:{KEY_1},",
        f"1:{KEY_1},2:{KEY_2[4:]}",
        f"1:{KEY_1} 2:{KEY_2}",
        "1:ключ",
    ],
)
def test_a_list_of_keys_that_no_node_takes_is_named(tmp_path: Path, given: str) -> None:
    done = rendered(tmp_path, filled().replace(KEY_1, given))

    assert done.returncode == 2
    assert "master_key: base64 of 32 bytes" in done.stderr
    assert KEY_1 not in done.stderr
    assert not (tmp_path / "machines").exists()


def test_each_machine_backs_up_at_hours_of_its_own(written: Path) -> None:
    units = [written / "machines" / one / "etc/systemd/system" for one in ADDRESSES]
    hours = [
        re.findall(r"^OnCalendar=(.*)$", (one / "mudra-backup.timer").read_text(), re.MULTILINE)
        for one in units
    ]
    script = (written / "machines" / ADDRESSES[0] / "install.sh").read_text()

    assert hours == [[f"*-*-* {hour}/6:30:00"] for hour in ("00", "02", "04")]
    assert {(one / "mudra-backup.service").read_text() for one in units} == {
        Path("deploy/systemd/mudra-backup.service").read_text()
    }
    assert "systemctl enable --now mudra-backup.timer" in script
    assert "install -d -m 700 -o mudra /var/backups/mudra" in script
    assert "9464" in Path(PAGE).read_text()


def test_a_shell_of_each_machine_has_the_command_of_the_service(written: Path) -> None:
    folder = written / "machines" / ADDRESSES[2]
    script = (folder / "install.sh").read_text()

    assert (folder / "usr/local/bin/mudra").read_text() == (
        Path("deploy/systemd/mudra-command").read_text()
    )
    assert "install -m 755 usr/local/bin/mudra /usr/local/bin/mudra" in script
    assert "/usr/local/bin/mudra database prepare" in script


def test_haproxy_takes_the_file(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "haproxy.cfg"
    made = written / "machines" / ADDRESSES[0] / "etc/haproxy/haproxy.cfg"
    path.write_text(haproxy_text(made.read_text()))
    done = subprocess.run(
        [program("haproxy"), "-c", "-f", path],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_patroni_takes_the_file(tmp_path: Path) -> None:
    program("postgresql-15")  # whose directory the file names
    rendered(tmp_path, filled())
    folder = tmp_path / "machines" / ADDRESSES[0] / "etc"
    lines = (folder / "patroni_env.conf").read_text().splitlines()
    done = subprocess.run(
        [program("patroni"), "--validate-config", "--ignore-listen-port", folder / "patroni/config.yml"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env=dict(line.split("=", 1) for line in lines if not line.startswith("#")),
    )  # fmt: skip

    assert (done.returncode, (done.stdout + done.stderr).strip()) == (0, "")


def test_install_does_what_the_page_of_patroni_says(written: Path) -> None:
    script = written / "machines" / ADDRESSES[2] / "install.sh"
    done = {
        shlex.split(line)[-1] for line in script.read_text().splitlines() if " install " in line
    }
    (_, block) = [
        one.body
        for one in blocks_of("docs/how-to/run-on-patroni.md")
        if one.heading == "Start the machines"
    ]
    wanted = re.findall(r"(?:> |patroni\S+ )(/etc/\S+)$", block, re.MULTILINE)

    assert subprocess.run(["sh", "-n", script], timeout=PATIENCE_S, check=False).returncode == 0
    assert set(wanted) - {"/etc/systemd/system/patroni.service"} <= done
    assert "/etc/systemd/system/" in done


def test_the_page_is_followed(tmp_path: Path) -> None:
    """Its first blocks, in an empty folder next to a checkout."""
    (tmp_path / "deploy").symlink_to(Path("deploy").resolve())
    blocks = [one.body for one in blocks_of(PAGE)]
    made = subprocess.run(["sh", "-ec", blocks[0]], cwd=tmp_path, timeout=PATIENCE_S, check=False)
    inventory = tmp_path / "inventory.toml"
    empty = subprocess.run(
        ["sh", "-ec", blocks[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    inventory.write_text(filled())
    done = subprocess.run(
        ["sh", "-ec", blocks[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert made.returncode == 0
    assert (empty.returncode, empty.stderr) == (
        2,
        "inventory.toml: master_key: missing; --example shows each field\n",
    )
    assert done.returncode == 0, done.stderr
    for line in blocks[2].splitlines():
        shown = re.sub(r"10\.0\.0\.1", ADDRESSES[0], line)
        assert shown.split("@")[-1] in done.stdout
