"""Sets a machine up, step by step; each step does nothing where it was done before."""

import asyncio
import base64
import grp
import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from mudra.bootstrap.config import ConfigError, load_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_api import api_of_owner
from mudra.bootstrap.local_store import in_store, opening
from mudra.bootstrap.node.serve import open_store, prepare_database
from mudra.cli.local.program import CommandFailed
from mudra.cli.local.set_up import EMBEDDED, Answers, Places, SetUpDone
from mudra.cli.output.output import Exit
from mudra.identity.operators.operator import Scope
from mudra.mail.mail_server import MailUrlError, mail_server
from mudra.mail.server_check import mail_server_fault
from mudra.settings.settings import Settings
from mudra.shared.secret_text import SecretText, twin
from mudra.storage.backup.encryption import new_identity
from mudra.storage.crypto.master_key import COMMAND_VARIABLE, FILE, KEY_BYTES, VARIABLE
from mudra.storage.database.schema.roles import OWNER, SERVICE, without
from mudra.storage.mail.outbox import Outbox

_LINK: Final = re.compile(r"https://\S+/activate/\S+")
_OWNER: Final = "operator:setup"


def first_operator(settings: Settings, admin: str | None, email: str) -> str:
    """Make roles, schema and keys, and invite an operator; returns the link of the invitation.

    The link is empty where that person is an operator already. Raises CommandFailed.
    """
    if admin is not None:
        settings = replace(settings, database_admin_url=SecretText(admin))
    with opening():
        prepare_database(settings)
        with open_store(settings, create=True):
            pass  # it makes what encrypts the data, under the master key
    return in_store(settings, lambda dependencies: _invite(dependencies, email))


async def _invite(dependencies: Dependencies, email: str) -> str:
    body = {"email": email, "scopes": sorted(Scope), "name": ""}
    url = f"{dependencies.settings.issuer.removesuffix('/iam')}/operator/v1/operators"
    async with api_of_owner(dependencies, _OWNER) as client:
        response = await client.post(url, json=body)
        answer = response.json()
        if not response.is_success:
            raise CommandFailed(f"operator: {answer.get('errorMsg', 'no operator was made')}")
    if not answer["invited"]:
        return ""
    async with dependencies.transaction() as tx:
        mails = await tx.service(Outbox).mails(to=answer["email"], limit=1)
    found = _LINK.search(mails[-1].email.text) if mails else None
    return found[0] if found else ""


_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@%+,=?&~\-\[\]]*")
_LINE: Final = re.compile(r"\s*([A-Z_][A-Z0-9_]*)=(.*?)\s*")
_ESCAPED: Final = re.compile(r"\\(.)")


def read_settings(file: Path) -> dict[str, str]:
    """Read the settings; none where there is no file."""
    if not file.exists():
        return {}
    found = {}
    for line in file.read_text().splitlines():
        if one := _LINE.fullmatch(line):
            found[one[1]] = _value(one[2])
    return found


def with_settings(text: str, values: Mapping[str, str]) -> str:
    """Return the text with these values: a line is replaced where it differs, others are kept."""
    left = dict(values)
    lines = []
    for line in text.splitlines():
        one = _LINE.fullmatch(line)
        if one and one[1] in left:
            value = left.pop(one[1])
            lines.append(line if _value(one[2]) == value else f"{one[1]}={_quoted(value)}")
        else:
            lines.append(line)
    lines += [f"{name}={_quoted(value)}" for name, value in left.items()]
    return "\n".join(lines) + "\n"


def _value(text: str) -> str:
    if text[:1] == text[-1:] == '"' and len(text) > 1:
        return _ESCAPED.sub(r"\1", text[1:-1])
    if text[:1] == text[-1:] == "'" and len(text) > 1:
        return text[1:-1]
    return text


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`") + '"'


USER: Final = "mudra"
UNITS: Final = (
    "mudra.service", "mudra.socket",
    "mudra-backup.service", "mudra-backup.timer",
    "mudra-audit-verify.service", "mudra-audit-verify.timer",
)  # fmt: skip
_COMMAND: Final = "mudra-command"
_LISTENS: Final = "ListenStream=127.0.0.1:8080\n"
_HEAD: Final = """# Settings of Mudra, by mudra setup. Mode 0600: it holds passwords and keys.
# docs/reference/settings.md lists all that there are.
"""


def set_up(answers: Answers, places: Places) -> SetUpDone:
    """Write settings, keys and units, make database and roles, and invite the first operator.

    Raises CommandFailed, which names the answer that is wrong or what failed.
    """
    if places.is_this_machine and os.geteuid() != 0:
        raise CommandFailed("mudra setup writes below /etc: run it as root, or name --to DIRECTORY")
    before = read_settings(places.settings)
    settings, keep = _settings(answers, places, before)
    in_force = {**before, **settings}
    loaded = _checked(answers, in_force, places)
    if places.is_this_machine:
        _make_user()
    for folder, mode in ((places.settings.parent, 0o755), (places.data, 0o700),
                         (places.backups, 0o700), (places.kept, 0o700)):  # fmt: skip
        _make_folder(folder, mode)
    if places.is_this_machine:
        for folder in (places.data, places.backups):
            shutil.chown(folder, USER, USER)
    # First: a key that the settings name and no one has is lost, one that none names is not.
    written = [
        places.kept / name for name, text in keep.items() if _write(places.kept / name, text, 0o600)
    ]
    written += [*_write_settings(places, settings), *_write_units(places, answers.workers)]
    with _environment(in_force, places):
        admin = _make_database(answers) if answers.database != EMBEDDED else None
        run = _as_user if places.is_this_machine else _here
        link = run(partial(first_operator, loaded, admin, answers.operator))
        mail_fault = run(partial(_mail_fault, loaded))
    kept = sorted(one for one in places.kept.iterdir() if one.is_file())
    return SetUpDone(written, kept, link, mail_fault)


def _settings(
    answers: Answers, places: Places, before: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings, and what of it must be kept elsewhere; keys that are there stay."""
    found = {
        "MUDRA_BASE_URL": answers.base_url,
        "MUDRA_TRUSTED_PROXIES": ",".join(answers.proxies),
        "MUDRA_WORKERS": str(answers.workers),
    }
    if answers.smtp_url:
        found |= {"MUDRA_SMTP_URL": answers.smtp_url, "MUDRA_MAIL_FROM": answers.mail_from}
    named = {
        "MUDRA_NETWORK_NAME": answers.network_name,
        "MUDRA_CONTACT": answers.contact,
        "MUDRA_SECURITY_CONTACT": answers.security_contact,
    }
    found |= {name: text for name, text in named.items() if text}
    keep: dict[str, str] = {}
    own = places.data / FILE
    elsewhere = {COMMAND_VARIABLE, twin(VARIABLE)} & before.keys()
    if not elsewhere and not own.exists():
        made = f"1:{base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}"
        found[VARIABLE] = before.get(VARIABLE) or made
        if VARIABLE not in before:
            keep["master.key"] = f"{made}\n"
    recipients = ",".join(answers.backup_recipients) or before.get("MUDRA_BACKUP_RECIPIENTS", "")
    if not recipients:
        private, recipients = new_identity()
        keep["backup.key"] = "\n".join((f"# public key: {recipients}", private.reveal(), ""))
    found["MUDRA_BACKUP_RECIPIENTS"] = recipients
    if answers.database != EMBEDDED:
        found |= _addresses(answers, before)
    return found, keep


def _addresses(answers: Answers, before: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of both roles, with the parameters of the superuser's."""
    try:
        given = conninfo_to_dict(answers.database)
    except psycopg.ProgrammingError as error:
        raise CommandFailed(
            "database: embedded, or postgresql://USER:PASSWORD@HOST/postgres of a superuser",
            Exit.USAGE,
        ) from error
    found = {}
    for name, role in (("MUDRA_DATABASE_URL", SERVICE), ("MUDRA_DATABASE_OWNER_URL", OWNER)):
        if twin(name) not in before:
            found[name] = before.get(name) or _address(given, role, answers.database_name)
    return found


def _address(given: Mapping[str, object], role: str, database: str) -> str:
    """Return the address of a role, with a password of its own; host and others as they are given.

    As parameters, which take several hosts and a directory of sockets alike.
    """
    left_out = {"user", "password", "dbname"}
    kept = {name: one for name, one in given.items() if name not in left_out}
    parameters = urlencode(kept, quote_via=quote)
    return f"postgresql://{role}:{secrets.token_urlsafe(24)}@/{database}?{parameters}"


def _checked(answers: Answers, settings: Mapping[str, str], places: Places) -> Settings:
    """Read the settings as a node does; raises CommandFailed for the first wrong one."""
    if not answers.base_url.startswith("https://"):
        raise CommandFailed(
            "base_url: the public https address of the token service, such as "
            "https://tokens.network.example/iam",
            Exit.USAGE,
        )
    try:
        loaded = load_settings({**settings, "MUDRA_DATA_DIR": str(places.data)})
        if loaded.smtp_url is not None:
            mail_server(loaded.smtp_url, loaded.mail_from, loaded.network_name)
    except (ConfigError, MailUrlError) as error:
        raise CommandFailed(str(error), Exit.USAGE) from error
    return loaded


def _make_user() -> None:
    try:
        pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(  # noqa: S603  # of constants alone
            ["useradd", "--system", "--home-dir", "/var/lib/mudra", USER],  # noqa: S607  # Debian's
            check=True,
        )


def _make_folder(folder: Path, mode: int) -> None:
    """Make a folder that is missing, whatever the umask; all above it are open to be entered."""
    if not folder.is_dir():
        _make_folder(folder.parent, 0o755)
        folder.mkdir()
        folder.chmod(mode)


def _write_settings(places: Places, settings: Mapping[str, str]) -> list[Path]:
    file = places.settings
    text = with_settings(file.read_text() if file.exists() else _HEAD, settings)
    return [file] if _write(file, text, 0o600) else []


def _write_units(places: Places, workers: int) -> list[Path]:
    for folder in (places.units, places.command.parent):
        _make_folder(folder, 0o755)
    written = []
    for name in UNITS:
        text = _shipped(name)
        if name == "mudra.socket":  # a socket for each worker, so that none takes all connections
            text = text.replace(_LISTENS, _LISTENS * workers)
        if _write(places.units / name, text, 0o644):
            written.append(places.units / name)
    if _write(places.command, _shipped(_COMMAND), 0o755):
        written.append(places.command)
    return written


def _shipped(name: str) -> str:
    """Return a file of deploy/systemd: of the package, or of the checkout."""
    packed = files("mudra") / "deploy" / "systemd" / name
    if packed.is_file():
        return packed.read_text()
    return (Path(__file__).resolve().parents[4] / "deploy" / "systemd" / name).read_text()


def _write(file: Path, text: str, mode: int) -> bool:
    """Write a file whole, where it differs; returns whether it did."""
    if file.exists() and file.read_text() == text:
        return False
    fresh = file.with_name(f"{file.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
        os.fchmod(opened.fileno(), mode)
    fresh.replace(file)
    return True


@contextmanager
def _environment(settings: Mapping[str, str], places: Places) -> Iterator[None]:
    """Give this process what a node has: the master key is read from there."""
    before = dict(os.environ)
    os.environ.update(settings, MUDRA_DATA_DIR=str(places.data))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _make_database(answers: Answers) -> str:
    """Make the database where it is missing; returns the superuser's address of it."""
    try:
        with psycopg.connect(answers.database, connect_timeout=5, autocommit=True) as connection:
            there = connection.execute(
                "SELECT FROM pg_database WHERE datname = %s", [answers.database_name]
            ).fetchone()
            if there is None:
                name = sql.Identifier(answers.database_name)
                connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise CommandFailed(
            f"database: the superuser's address cannot be used ({said}); nothing was changed in it"
        ) from error
    return without(answers.database, dbname=answers.database_name)


def _mail_fault(settings: Settings) -> str:
    """Return why no email would be sent, and the way out; empty without a mail server."""
    if settings.smtp_url is None:
        return ""
    return asyncio.run(
        mail_server_fault(settings.smtp_url, settings.mail_from, settings.network_name)
    )


def _here(act: Callable[[], str]) -> str:
    return act()


def _as_user(act: Callable[[], str]) -> str:
    """Run as the service's user, to which the data belongs; returns what it returned."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(reading)
            os.initgroups(USER, grp.getgrnam(USER).gr_gid)
            os.setgid(grp.getgrnam(USER).gr_gid)
            os.setuid(pwd.getpwnam(USER).pw_uid)
            os.write(writing, b"+" + act().encode())
            code = 0
        except CommandFailed as failed:
            os.write(writing, f"-{failed}".encode())
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    os.waitpid(child, 0)
    if not text.startswith("+"):
        raise CommandFailed(text[1:] or "the database could not be prepared: see the lines above")
    return text[1:]
