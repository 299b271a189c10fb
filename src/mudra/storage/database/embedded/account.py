"""The account that runs PostgreSQL, which refuses user id 0 while Mudra may be started as root.

An ordinary user runs it under the own account. Root runs it by `setpriv` (util-linux)

1. as the owner of the data, when that is not root;
2. else under a user id that no account has, so that no other process ever has its rights. The
   data is given to it. It gets the right to pass closed directories only when one is in the way.
"""

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

UNSHARED_UID: Final = 60900
"""Between the ranges that distributions and systemd give out (its UIDS-GIDS table)."""

_WAY_OUT: Final = (
    "start Mudra as an ordinary user, or set MUDRA_DATABASE_URL to a database of your own"
)


class AccountError(Exception):
    """PostgreSQL cannot run under any account; the text says what to do."""


class Account(NamedTuple):
    """A user, and the command that runs a program as that user."""

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()


class Accounts(NamedTuple):
    """The account of the server and its data, and the account for `initdb`, which needs a name."""

    server: Account
    initdb: Account

    def fresh_directory(self, path: Path) -> Path:
        """Make an empty directory for `initdb`, in place of what an interrupted one left."""
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(mode=0o700)
        _give_directory(path, self.initdb)
        return path

    def give(self, root: Path) -> None:
        """Give everything below `root` to the server's account. The server must not run."""
        if os.geteuid() != 0 or root.lstat().st_uid == self.server.uid:
            return
        for _, folders, files, fd in os.fwalk(root, follow_symlinks=False):
            for name in (*folders, *files):
                os.chown(name, self.server.uid, self.server.gid, dir_fd=fd, follow_symlinks=False)
        # The root comes last: its owner proves that all of it was given.
        _give_directory(root, self.server)


def choose_accounts(data_dir: Path, cluster: Path, programs: Path) -> Accounts:
    """Choose the accounts for the server whose data is, or will be, in `cluster`.

    Raises:
        AccountError: root cannot run it here.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid != 0:
        own = Account(uid, gid)
        return Accounts(own, own if _has_name(uid) else Account(uid, gid, _renamed()))
    owner = (cluster if cluster.exists() else data_dir).stat()
    if owner.st_uid == 0:
        server = _as_user(UNSHARED_UID, UNSHARED_UID, programs, cluster.parent)
    else:
        server = _as_user(owner.st_uid, owner.st_gid, programs, cluster.parent)
    if _has_name(server.uid):
        return Accounts(server, server)
    named = _named()
    return Accounts(server, _as_user(named.pw_uid, named.pw_gid, programs, cluster.parent))


def private_directory(path: Path, account: Account) -> Path:
    """Make or accept a directory that only this account can enter.

    Raises:
        AccountError: it exists and is another's, open to others, or a link.
    """
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        _give_directory(path, account)
    found = path.lstat()
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == stat.S_IRWXU
    if not private or found.st_uid != account.uid:
        raise AccountError(
            f"{path} must be a directory of mode 0700 owned by user id {account.uid}: "
            "another user made it; remove it"
        )
    return path


def _as_user(uid: int, gid: int, *wanted: Path) -> Account:
    """Let root run programs as this user, who must reach the wanted paths."""
    ids = ("setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups")
    # The bit lets access(2) count the right too, by which PostgreSQL looks for its own programs.
    pass_closed = (
        *("--securebits=+no_setuid_fixup", "--inh-caps=-all,+dac_override"),
        "--ambient-caps=-all,+dac_override",
    )
    closed = next((found for path in wanted if (found := _closed(path, uid, gid))), None)
    prefix = ids if closed is None else (*ids, *pass_closed)
    if not _works(prefix):
        reason = (
            "this machine does not let root change to another user by setpriv (util-linux)"
            if closed is None or not _works(ids)
            else f"user id {uid}, as which it would run, cannot pass {closed}: set "
            "MUDRA_DATA_DIR to a directory it can reach"
        )
        raise AccountError(f"PostgreSQL does not run as root, and {reason}; {_WAY_OUT}")
    return Account(uid, gid, prefix)


def _closed(path: Path, uid: int, gid: int) -> Path | None:
    """Find the first directory on the way to `path` that the user cannot pass."""
    for step in (*reversed(path.parents), path):
        if step.is_dir():
            found = step.stat()
            bits = ((uid, found.st_uid, stat.S_IXUSR), (gid, found.st_gid, stat.S_IXGRP))
            needed = next((bit for mine, its, bit in bits if mine == its), stat.S_IXOTH)
            if not found.st_mode & needed:
                return step
    return None


def _renamed() -> tuple[str, ...]:
    """Give a user without a name one: in a user namespace, where that user has another id."""
    prefix = ("unshare", "--user", f"--map-user={_named().pw_uid}")
    if not _works(prefix):
        raise AccountError(
            f"initdb needs a user with a name, and user id {os.geteuid()} has none: "
            "add it to /etc/passwd, or set MUDRA_DATABASE_URL to a database of your own"
        )
    return prefix


def _works(prefix: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0  # noqa: S603  # no shell
    except OSError:
        return False


def _named() -> pwd.struct_passwd:
    """Find an account that has a name and no rights, `nobody` if there is one."""
    named = sorted((e.pw_name != "nobody", e.pw_uid) for e in pwd.getpwall() if e.pw_uid)
    if not named:
        raise AccountError("initdb needs an account besides root: add one to /etc/passwd")
    return pwd.getpwuid(named[0][1])


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _give_directory(path: Path, account: Account) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(fd, account.uid, account.gid)
    finally:
        os.close(fd)
