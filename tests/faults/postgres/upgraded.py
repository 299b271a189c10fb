"""A cluster that is upgraded by pg_upgrade, as an operator does it."""

import os
import subprocess
from pathlib import Path

from tests.support.until import PATIENCE_S

from mudra.storage.database.embedded.account import Account, choose_accounts
from mudra.storage.database.embedded.cluster import CLUSTER, INITDB
from mudra.storage.database.embedded.programs import programs


def upgrade(data_dir: Path) -> None:
    """Put a new cluster in the place of that of a data directory, which no one uses.

    From one version to the same: what is new is the server that the files come to.
    """
    accounts = choose_accounts(data_dir, data_dir / CLUSTER, programs())
    old = (data_dir / CLUSTER).rename(data_dir / "old")
    work = data_dir / "upgrade"
    work.mkdir()
    new = data_dir / "new"
    for folder in (old, work):
        _give(folder, accounts.initdb)
    os.chmod(data_dir, 0o755)  # noqa: PTH101 -- for the account
    _alter(accounts.initdb, work, old, "LOGIN")  # it lets the role that made it sign in no more
    fresh = accounts.fresh_directory(new)
    _run(accounts.initdb, work, "initdb", "-D", fresh, *INITDB, "--no-sync")
    places = ("-b", programs(), "-B", programs(), "-d", old, "-D", new, "-s", work)
    _run(accounts.initdb, work, "pg_upgrade", *places, "-U", "postgres", "--no-sync")
    _alter(accounts.initdb, work, new, "NOLOGIN")
    _give(new, accounts.server)
    os.chmod(data_dir, 0o700)  # noqa: PTH101 -- as it was
    new.rename(data_dir / CLUSTER)


def _alter(account: Account, work: Path, cluster: Path, what: str) -> None:
    words = ("--single", "-D", cluster, "postgres")
    _run(account, work, "postgres", *words, stdin=f"ALTER ROLE postgres {what}\n")


def _run(account: Account, work: Path, name: str, *words: str | Path, stdin: str = "") -> None:
    done = subprocess.run(
        [*account.prefix, programs() / name, *words],
        input=stdin, capture_output=True, text=True, check=False, cwd=work, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def _give(folder: Path, account: Account) -> None:
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
