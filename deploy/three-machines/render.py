#!/usr/bin/env python3
"""Write the configuration of three machines from one inventory: etcd, Patroni, HAProxy and Mudra.

The templates are the files of `deploy/patroni` and `deploy/systemd` themselves: their addresses,
numbers and passwords are replaced. It needs Python 3.11 and openssl, which makes the certificates;
nothing is sent anywhere.
"""

import argparse
import base64
import ipaddress
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
DEPLOY: Final = HERE.parent
MACHINES: Final = 3
KEY_BYTES: Final = 32
MAX_KEY_VERSION: Final = 2**32 - 1
PASSWORDS: Final = ("superuser", "replication", "rewind", "service", "owner")
"""In the order of the templates: change-this-1 to change-this-5."""
FIELDS: Final = ("network_name", "base_url", "smtp_url", "mail_from", "master_key", "subnet")
FILES: Final = {
    "etc/default/etcd": "patroni/etcd.env",
    "etc/patroni/config.yml": "patroni/patroni.yml",
    "etc/patroni_env.conf": "patroni/patroni.env",
    "etc/haproxy/haproxy.cfg": "patroni/haproxy.cfg",
    "etc/systemd/system/patroni.service": "patroni/patroni.service",
    "etc/systemd/system/mudra.service": "systemd/mudra.service",
    "etc/systemd/system/mudra-backup.service": "systemd/mudra-backup.service",
    "etc/systemd/system/mudra-backup.timer": "systemd/mudra-backup.timer",
    "etc/systemd/system/mudra-audit-verify.service": "systemd/mudra-audit-verify.service",
    "etc/systemd/system/mudra-audit-verify.timer": "systemd/mudra-audit-verify.timer",
    "etc/mudra/mudra.env": "three-machines/mudra.env",
    "usr/local/bin/mudra": "systemd/mudra-command",
    "patroni-requirements.txt": "patroni/requirements.txt",
    "install.sh": "three-machines/install.sh",
}
"""Where a file lies on a machine, and its template in `deploy`."""
SECRET: Final = ("etc/patroni_env.conf", "etc/mudra/mudra.env", "certificates/server.key")
BACKUP_HOURS: Final = 6
"""From one run of the timer of `deploy/systemd` to the next; machines share it out evenly."""
_RECIPIENT: Final = re.compile(r"age1[02-9ac-hj-np-z]{58}")
_PASSWORD: Final = re.compile(r"[A-Za-z0-9._~-]{16,128}")
_URL_OF_OTHERS: Final = re.compile(r"https://[^\s\"'\\]+")
_PLAIN: Final = re.compile(r"[^\n\r\"'\\]+")
_ADDRESS: Final = re.compile(r"10\.0\.0\.(@N@|0/24|[1-3])(?![0-9])")
_EPILOG: Final = """examples:
  python3 deploy/three-machines/render.py --example > inventory.toml
  chmod 600 inventory.toml
  python3 deploy/three-machines/render.py inventory.toml --to machines
  python3 deploy/three-machines/render.py inventory.toml --to machines --check
"""


class InventoryInvalid(Exception):
    """The inventory cannot be used: the text names the field and the rule."""


@dataclass(frozen=True)
class Inventory:
    """What differs from one network to the next."""

    addresses: tuple[str, ...]
    proxies: tuple[str, ...]
    texts: Mapping[str, str]
    passwords: tuple[str, ...]
    recipients: tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Render, or say what is wrong; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="render.py",
        description="Write the files of three machines, a folder each, and what to run on them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("inventory", nargs="?", type=Path, help="TOML file, mode 0600")
    parser.add_argument("--to", type=Path, default=Path("machines"), help="where the folders go")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    parser.add_argument("--example", action="store_true", help="print an inventory to fill in")
    given = parser.parse_args(arguments)
    if given.example:
        sys.stdout.write((HERE / "inventory.example.toml").read_text())
        return 0
    if given.inventory is None:
        parser.error("name the inventory, or --example")
    try:
        inventory = read(given.inventory)
    except (InventoryInvalid, OSError, tomllib.TOMLDecodeError) as error:
        sys.stderr.write(f"{given.inventory}: {error}\n")
        return 2
    folder = given.inventory.parent / "certificates"
    if not given.check:
        make_certificates(folder, inventory.addresses)
    changed = [
        path
        for number, address in enumerate(inventory.addresses, start=1)
        for path in write(
            given.to / address,
            render(inventory, number) | certificates(folder, address),
            check=given.check,
        )
    ]
    for path in changed:
        sys.stdout.write(f"{'differs' if given.check else 'written'}: {path}\n")
    if given.check:
        return 1 if changed else 0
    sys.stdout.write(next_steps(inventory, given.to))
    return 0


def read(path: Path) -> Inventory:
    """Read and check an inventory. Raises InventoryInvalid for the first field that is wrong."""
    if path.stat().st_mode & 0o077:
        raise InventoryInvalid(f"it holds passwords and others may read it: chmod 600 {path}")
    return checked(tomllib.loads(path.read_text()))


def checked(values: Mapping[str, object]) -> Inventory:
    """Check what an inventory says."""
    known = {*FIELDS, "machines", "proxies", "passwords", "backup_recipients"}
    for name in values:
        if name not in known:
            raise InventoryInvalid(f"{name}: no such field; there are {', '.join(sorted(known))}")
    texts = {name: _text(values, name) for name in FIELDS}
    if not _URL_OF_OTHERS.fullmatch(texts["base_url"]):
        raise InventoryInvalid("base_url: the public https address of the token service")
    texts["master_key"] = _master_key(texts["master_key"])
    subnet = _network(texts["subnet"])
    addresses = _addresses(values, "machines")
    if len(set(addresses)) != MACHINES:
        raise InventoryInvalid(f"machines: {MACHINES} different addresses, not {len(addresses)}")
    for address in addresses:
        if ipaddress.ip_address(address) not in subnet:
            raise InventoryInvalid(f"machines: {address} is not in subnet {subnet}")
    proxies = _addresses(values, "proxies")
    if not proxies:
        raise InventoryInvalid("proxies: the address of each proxy that ends TLS, at least one")
    return Inventory(addresses, proxies, texts, _passwords(values), _recipients(values))


def render(inventory: Inventory, number: int) -> dict[str, str]:
    """Give the text of each file of a machine."""
    return {
        target: _filled((DEPLOY / template).read_text(), inventory, number)
        for target, template in FILES.items()
    }


def make_certificates(folder: Path, addresses: tuple[str, ...]) -> None:
    """Make what is missing of the authority and the machines' certificates, or ends soon."""
    script = DEPLOY / "patroni" / "certificates.sh"
    subprocess.run(["sh", script, folder, *addresses], check=True)  # noqa: S603, S607  # our own


def certificates(folder: Path, address: str) -> dict[str, str]:
    """Give the certificate of a machine and what others know it by; empty where it has none yet."""
    names = {"ca.crt": "ca.crt", f"{address}.crt": "server.crt", f"{address}.key": "server.key"}
    return {
        f"certificates/{theirs}": (folder / ours).read_text() if (folder / ours).exists() else ""
        for ours, theirs in names.items()
    }


def write(folder: Path, files: Mapping[str, str], *, check: bool = False) -> list[Path]:
    """Write what differs, for the owner's eyes only; gives the paths that differed."""
    changed = []
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_text() == text:
            continue
        changed.append(path)
        if check:
            continue
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        mode = 0o600 if name in SECRET else 0o644
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            os.fchmod(file.fileno(), mode)  # whatever the umask is
    return changed


def next_steps(inventory: Inventory, folder: Path) -> str:
    """Say what to run on each machine."""
    lines = ["", "Run on each machine, as root, in this order:"]
    for address in inventory.addresses:
        lines += [
            f"  {address}:  rsync -a {folder / address}/ root@{address}:mudra-machine/",
            f"  {' ' * len(address)}   ssh root@{address} sh mudra-machine/install.sh",
        ]
    first = inventory.addresses[0]
    lines += [
        "When patronictl lists one leader and two quorum standbys, once:",
        f"  {first}:  ssh root@{first} sh mudra-machine/install.sh database",
        "Then on each machine:",
        *(
            f"  {one}:  ssh root@{one} sh mudra-machine/install.sh mudra"
            for one in inventory.addresses
        ),
    ]
    return "\n".join(lines) + "\n"


def _filled(template: str, inventory: Inventory, number: int) -> str:
    def address(found: re.Match[str]) -> str:
        which = found[1]
        if which == "0/24":
            return inventory.texts["subnet"]
        return inventory.addresses[(number if which == "@N@" else int(which)) - 1]

    text = _ADDRESS.sub(address, template).replace("@N@", str(number))
    for place, password in enumerate(inventory.passwords, start=1):
        text = text.replace(f"change-this-{place}", password)
    for name, value in inventory.texts.items():
        text = text.replace(f"@{name.upper()}@", value)
    text = text.replace("@PROXIES@", ",".join(map(_host_network, inventory.proxies)))
    text = text.replace("@BACKUP_RECIPIENTS@", ",".join(inventory.recipients))
    # Never two backups at once, which refuse each other: each machine has hours of its own.
    first = (number - 1) * BACKUP_HOURS // MACHINES
    text = text.replace(
        f"OnCalendar=*-*-* 00/{BACKUP_HOURS}:", f"OnCalendar=*-*-* {first:02}/{BACKUP_HOURS}:"
    )
    left = re.search(r"@[A-Z_]+@|change-this-\d", text)
    if left is not None:
        raise InventoryInvalid(f"{left[0]} of a template has no value")
    return text


def _text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InventoryInvalid(f"{name}: missing; --example shows each field")
    if not _PLAIN.fullmatch(value):
        raise InventoryInvalid(f"{name}: one line without quotes and backslashes")
    return value


def _master_key(value: str) -> str:
    """Give what the service reads: versions separated by commas, the active one first."""
    keys: dict[int, str] = {}
    for entry in value.split(","):
        number, colon, encoded = entry.strip().rpartition(":")
        version = int(number) if re.fullmatch(r"[0-9]{1,10}", number) else int(not colon)
        if not 1 <= version <= MAX_KEY_VERSION or version in keys or not _is_key(encoded):
            raise InventoryInvalid(
                "master_key: base64 of 32 bytes, the same on all machines; make one with: openssl "
                "rand -base64 32. During a rotation several as number:base64, each number once, "
                "separated by commas, the active one first (docs/how-to/rotate-the-master-key.md)"
            )
        keys[version] = encoded
    return ",".join(f"{version}:{encoded}" for version, encoded in keys.items())


def _is_key(encoded: str) -> bool:
    try:
        return len(base64.b64decode(encoded, validate=True)) == KEY_BYTES
    except ValueError:
        return False


def _network(value: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(value)
    except ValueError as error:
        raise InventoryInvalid(f"subnet: an IPv4 network such as 10.0.0.0/24 ({error})") from error


def _addresses(values: Mapping[str, object], name: str) -> tuple[str, ...]:
    given = values.get(name)
    if not isinstance(given, list):
        raise InventoryInvalid(f"{name}: missing; a list of IPv4 addresses")
    try:
        return tuple(str(ipaddress.IPv4Address(one)) for one in given)
    except ValueError as error:
        raise InventoryInvalid(f"{name}: a list of IPv4 addresses ({error})") from error


def _passwords(values: Mapping[str, object]) -> tuple[str, ...]:
    table = values.get("passwords")
    if not isinstance(table, dict):
        raise InventoryInvalid(f"passwords: missing; a table of {', '.join(PASSWORDS)}")
    found = []
    for name in PASSWORDS:
        value = table.get(name)
        if not isinstance(value, str) or not _PASSWORD.fullmatch(value):
            raise InventoryInvalid(
                f"passwords.{name}: 16 to 128 letters, digits and . _ ~ - (it is part of a URL); "
                "make one with: openssl rand -hex 24"
            )
        found.append(value)
    if len(set(found)) != len(found):
        raise InventoryInvalid("passwords: each a different one")
    return tuple(found)


def _recipients(values: Mapping[str, object]) -> tuple[str, ...]:
    given = values.get("backup_recipients")
    if not isinstance(given, list) or not given:
        raise InventoryInvalid(
            "backup_recipients: the public key of who can decrypt backups, at least one; make a "
            "pair on another machine with: mudra backup key backup.key"
        )
    for one in given:
        if not isinstance(one, str) or not _RECIPIENT.fullmatch(one):
            raise InventoryInvalid("backup_recipients: public keys of age, age1 and 58 characters")
    return tuple(given)


def _host_network(address: str) -> str:
    return f"{address}/32"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
