"""The answers and results of `mudra setup`: shapes that the command shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

EMBEDDED = "embedded"


class Answers(Struct, frozen=True, forbid_unknown_fields=True):
    """The answers that the service needs; the rest has values that work."""

    base_url: Annotated[str, Meta(min_length=1)]
    """The public https address of the token service."""
    operator: Annotated[str, Meta(min_length=3)]
    """Email address of the first operator."""
    smtp_url: str = ""
    """The mail server; without one emails stay in the mailbox of the service."""
    mail_from: str = ""
    database: str = EMBEDDED
    """`embedded`, or the address of a superuser of a PostgreSQL."""
    database_name: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,62}$")] = "mudra"
    proxies: Sequence[str] = ("127.0.0.1/32",)
    """Networks of the proxies that end TLS."""
    workers: Annotated[int, Meta(ge=1, le=64)] = 2
    backup_recipients: Sequence[str] = ()
    """Public keys of age; a pair is made when there is none."""
    network_name: str = ""
    contact: str = ""
    """Where recipients of emails may ask."""
    security_contact: str = ""
    """The contact for vulnerabilities of this installation."""


class Places(Struct, frozen=True):
    """The folders of files: below `root`, which is / on the machine itself."""

    root: Path

    @property
    def settings(self) -> Path:
        """Return where the settings are."""
        return self.root / "etc/mudra/mudra.env"

    @property
    def units(self) -> Path:
        """Return where the units of systemd are."""
        return self.root / "etc/systemd/system"

    @property
    def command(self) -> Path:
        """Return where the command for a shell is."""
        return self.root / "usr/local/bin/mudra"

    @property
    def data(self) -> Path:
        """Return the data directory."""
        return self.root / "var/lib/mudra"

    @property
    def backups(self) -> Path:
        """Return the directory of backups."""
        return self.root / "var/backups/mudra"

    @property
    def kept(self) -> Path:
        """Return where that is put which belongs to another place."""
        return self.root / "etc/mudra/keep"

    @property
    def is_this_machine(self) -> bool:
        """Return whether files get the users and owners of this machine."""
        return self.root == Path("/")


class SetUpDone(Struct, frozen=True):
    """The results of a set-up; a second run changes only what differs.

    `keep` are files that must be kept elsewhere, `link` is where the first operator chooses a
    password, empty where one was invited before. `mail_fault` is why the mail server would take
    no email, empty where it would or none is set.
    """

    written: Sequence[Path]
    keep: Sequence[Path]
    link: str
    mail_fault: str
