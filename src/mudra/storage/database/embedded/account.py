"""As whom PostgreSQL runs: it refuses user id 0, while Mudra may be started as root.

An ordinary user runs it as himself. Root runs it

1. as the owner of the data, when that is not root: nothing changes hands;
2. else in a user namespace in which root bears another number: files stay
   root's, and every path that root reaches is reached;
3. else, where namespaces are not permitted (many containers), under a user id
   that no account has, so that no other process can ever act as it. The data
   is given to it. It gets the right to pass closed directories only when one
   is in the way.
"""

import ctypes
import os
import pwd
import shutil
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

UNSHARED_UID = 60900
"""Between the ranges that distributions and systemd give out (its UIDS-GIDS table)."""

_CLONE_NEWUSER = 0x10000000
_PR_SET_KEEPCAPS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 47, 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION_3 = 0x20080522


class AccountError(Exception):
    """No account was found as which PostgreSQL could run; the text says what to do."""


@dataclass(frozen=True)
class Initdb:
    """Who runs `initdb`, which wants a user id with a name, and how it becomes so."""

    uid: int
    gid: int
    enter: Callable[[], None]


@dataclass(frozen=True)
class Account:
    """Who owns the data, and how a new process becomes the server or `initdb`."""

    uid: int
    gid: int
    enter: Callable[[], None]
    """Called between fork and exec of the server."""
    initdb: Initdb

    def fresh_directory(self, path: Path) -> Path:
        """Make an empty directory for `initdb`, in place of what a cut-off one left."""
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(mode=0o700)
        _give_directory(path, self.initdb.uid, self.initdb.gid)
        return path

    def give(self, root: Path) -> None:
        """Make everything below `root` this account's. The server must not be running."""
        if os.geteuid() != 0 or root.lstat().st_uid == self.uid:
            return
        for _, folders, files, fd in os.fwalk(root, follow_symlinks=False):
            for name in (*folders, *files):
                os.chown(name, self.uid, self.gid, dir_fd=fd, follow_symlinks=False)
        # The root comes last: its owner says that all of it was done.
        _give_directory(root, self.uid, self.gid)


def choose(data_dir: Path, cluster: Path, programs: Path, *, namespaces: bool = True) -> Account:
    """Choose the account for the server whose data is, or will be, in `cluster`.

    `namespaces=False` acts as a machine does that does not permit them.

    Raises:
        AccountError: root cannot run it here.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid != 0:
        enter = _stay if _has_name(uid) else _namespace
        return Account(uid, gid, _stay, Initdb(uid, gid, enter))
    owner = (cluster if cluster.exists() else data_dir).stat()
    if owner.st_uid not in (0, UNSHARED_UID):
        return _plain_owner(owner, cluster, programs)
    if owner.st_uid == 0 and namespaces and _works(_namespace):
        return Account(uid, gid, _namespace, Initdb(uid, gid, _namespace))
    return _unshared(cluster, programs)


def _plain_owner(owner: os.stat_result, cluster: Path, programs: Path) -> Account:
    def enter() -> None:
        _become(owner.st_uid, owner.st_gid)

    for path in (programs, cluster.parent):
        _require(path, _first_closed(path, enter), owner.st_uid)
    own = Initdb(owner.st_uid, owner.st_gid, enter)
    initdb = own if _has_name(owner.st_uid) else _named_initdb(passing=True)
    return Account(owner.st_uid, owner.st_gid, enter, initdb)


def _unshared(cluster: Path, programs: Path) -> Account:
    def plainly() -> None:
        _become(UNSHARED_UID, UNSHARED_UID)

    def passing() -> None:
        _become(UNSHARED_UID, UNSHARED_UID, passing=True)

    closed = _first_closed(programs, plainly) or _first_closed(cluster.parent, plainly)
    if closed and not _works(passing):
        _require(cluster.parent, closed, UNSHARED_UID)
    enter = passing if closed else plainly
    if not _works(enter):
        raise AccountError(
            "PostgreSQL does not run as root, and this machine lets root neither make user "
            "namespaces nor change its user id: start Mudra as an ordinary user, or set "
            "MUDRA_DATABASE_URL to a database of your own"
        )
    return Account(UNSHARED_UID, UNSHARED_UID, enter, _named_initdb(passing=closed is not None))


def _require(wanted: Path, closed: Path | None, uid: int) -> None:
    if closed is not None:
        raise AccountError(
            f"PostgreSQL does not run as root, and user id {uid}, as which it would run, cannot "
            f"pass {closed} to reach {wanted}: set MUDRA_DATA_DIR to a directory it can reach, "
            "start Mudra as an ordinary user, or set MUDRA_DATABASE_URL to a database of your own"
        )


def _first_closed(path: Path, enter: Callable[[], None]) -> Path | None:
    """Find the directory that stops the account on its way to `path`, from the root down."""
    for step in (*reversed(path.parents), path):
        if step.exists() and not _works(lambda here=step: _pass(enter, here)):  # type: ignore[misc]  # mypy cannot type a lambda's default
            return step
    return None


def _pass(enter: Callable[[], None], directory: Path) -> None:
    enter()
    os.chdir(directory)


def _works(act: Callable[[], None]) -> bool:
    """Try in a child, which cannot change this process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _stay() -> None:
    pass


def _named_initdb(*, passing: bool) -> Initdb:
    """Run it as an account that has a name and no rights, `nobody` if there is one."""
    named = sorted((e.pw_name != "nobody", e.pw_uid, e.pw_gid) for e in pwd.getpwall() if e.pw_uid)
    if not named:
        raise AccountError("initdb needs an account beside root: add one to /etc/passwd")
    _, uid, gid = named[0]
    return Initdb(uid, gid, lambda: _become(uid, gid, passing=passing))


def _become(uid: int, gid: int, *, passing: bool = False) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if passing:
        _checked(libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0))
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if passing:
        _keep_passing(libc)


def _keep_passing(libc: ctypes.CDLL) -> None:
    """Keep, across exec, the right to pass closed directories and no other."""
    mask = 1 << _CAP_DAC_OVERRIDE
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    sets = struct.pack("=6I", mask, mask, mask, 0, 0, 0)
    _checked(libc.capset(header, sets))
    _checked(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0))


def _namespace() -> None:
    """Enter a user namespace in which this user bears a number that has a name."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare"):
        raise OSError("this system has no user namespaces")
    outer_uid, outer_gid, process = os.geteuid(), os.getegid(), os.getpid()
    inner = min(e.pw_uid for e in pwd.getpwall() if e.pw_uid)
    reader, writer = os.pipe()
    scribe = os.fork()  # only a process outside may write the maps of more than one id
    if scribe == 0:
        os.close(writer)
        try:
            if os.read(reader, 1):
                _write_maps(Path(f"/proc/{process}"), inner, outer_uid, outer_gid)
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    os.close(reader)
    try:
        _checked(libc.unshare(_CLONE_NEWUSER))
        os.write(writer, b"1")
    finally:
        os.close(writer)
        status = os.waitpid(scribe, 0)[1]
    if status:
        raise OSError(os.waitstatus_to_exitcode(status), "the user namespace was refused")
    if outer_uid == 0:
        _keep_passing(libc)


def _write_maps(process: Path, inner: int, outer_uid: int, outer_gid: int) -> None:
    if outer_uid != 0:
        (process / "setgroups").write_text("deny")
        (process / "uid_map").write_text(f"{inner} {outer_uid} 1\n")
        (process / "gid_map").write_text(f"{outer_gid} {outer_gid} 1\n")
        return
    # Root changes places with `inner`; all others keep their numbers, so that
    # their files can be reached as root reaches them.
    (process / "uid_map").write_text(_swapped(Path("/proc/self/uid_map").read_text(), inner))
    (process / "gid_map").write_text(_swapped(Path("/proc/self/gid_map").read_text(), inner))


def _swapped(own_map: str, inner: int) -> str:
    known = [tuple(map(int, line.split())) for line in own_map.splitlines()]
    lines = [f"{inner} 0 1"]
    for start, _, count in known:
        end = start + count
        pieces = [(start, min(end, inner)), (max(start, inner + 1), end)]
        for low, high in pieces:
            first = max(low, 1)
            if first < high:
                lines.append(f"{first} {first} {high - first}")
        if start <= inner < end:
            lines.append(f"0 {inner} 1")
    return "\n".join(lines) + "\n"


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _give_directory(path: Path, uid: int, gid: int) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(fd, uid, gid)
    finally:
        os.close(fd)


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
        _give_directory(path, account.uid, account.gid)
    found = path.lstat()
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == stat.S_IRWXU
    if not private or found.st_uid != account.uid:
        raise AccountError(
            f"{path} must be a directory of mode 0700 owned by user id {account.uid}: "
            "somebody else made it; remove it"
        )
    return path
