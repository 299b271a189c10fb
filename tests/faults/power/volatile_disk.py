"""A disk that loses what was not synced, as a FUSE file system; the kernel's protocol itself.

`python -m tests.faults.power.volatile_disk FOLDER MOUNT SEED SHARE` mounts FOLDER/files at MOUNT.
SIGUSR1 takes the power away: what is lost is lost, and every further request fails.
"""

import ctypes
import errno
import os
import random
import resource
import shutil
import signal
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from tests.faults.power.volatile_files import VolatileFiles

_IN = struct.Struct("<IIQQIIII")
_OUT = struct.Struct("<IiQ")
_ATTR = struct.Struct("<QQQQQQIIIIIIIIII")
_BUFFER = (1 << 20) + 65536
_HOUR = 3600
_SIZE, _MODE, _UID, _GID = 8, 1, 2, 4
_PARENT_DEATH_SIGNAL, _DETACH = 1, 2
Answer = bytes | int | None
"""The reply's content, a number of an error, or no reply at all."""


class Disk:
    """Answers the kernel's requests. A node is a file's inode in the folder; the root is 1."""

    def __init__(self, folder: Path, dice: random.Random, share: float) -> None:
        saved = folder / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        saved.mkdir()
        self.root, self.files = folder / "files", VolatileFiles(saved)
        self.paths: dict[int, Path] = {1: self.root}
        self.powered, self._dice, self._share = True, dice, share
        self._answers: dict[int, Callable[[int, bytes, tuple[int, int]], Answer]] = {
            1: self.lookup, 2: self.forget, 3: self.getattr, 4: self.setattr, 5: self.readlink,
            8: self.mknod, 9: self.mkdir, 10: self.unlink, 11: self.rmdir, 12: self.rename,
            14: self.open, 15: self.read, 16: self.write, 17: self.statfs, 18: self.release,
            20: self.fsync, 25: self.done, 26: self.init, 27: self.opendir, 28: self.readdir,
            29: self.done, 30: self.fsyncdir, 35: self.create, 42: self.forget,
            43: self.fallocate, 45: self.rename2,
        }  # fmt: skip  # a table by number

    def lose_power(self) -> None:
        """Forget what was not synced; from now on every request fails."""
        self.powered = False
        self.files.lose(self._dice, self._share)

    def answer(self, request: bytes) -> bytes | None:
        """Return the reply to one request of the kernel."""
        length, code, unique, node, uid, gid, _, _ = _IN.unpack_from(request)
        handler = self._answers.get(code)
        if handler is None:
            result: Answer = errno.ENOSYS
        elif not self.powered and code not in {2, 42}:
            result = errno.EIO
        else:
            try:
                result = handler(node, request[_IN.size : length], (uid, gid))
            except OSError as error:
                result = error.errno or errno.EIO
        if result is None:
            return None
        if isinstance(result, int):
            return _OUT.pack(_OUT.size, -result, unique)
        return _OUT.pack(_OUT.size + len(result), 0, unique) + result

    def init(self, _node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        async_read, big_writes, max_pages = 1, 1 << 5, 1 << 22
        flags = async_read | big_writes | max_pages
        return struct.pack(
            "<IIIIHHIIHHIII28x", 7, 31, 131072, flags, 16, 12, 1 << 20, 1, 256, 0, 0, 0, 0
        )[:64]

    def lookup(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        return self._entry(self.paths[node] / _name(body))

    def forget(self, _node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        return None

    def done(self, _node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        return b""

    def getattr(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        return struct.pack("<QII", _HOUR, 0, 0) + self._attributes(node)

    def setattr(self, node: int, body: bytes, by: tuple[int, int]) -> Answer:
        (valid, _, _, size) = struct.unpack_from("<IIQQ", body)
        mode, _, uid, gid = struct.unpack_from("<IIII", body, 68)
        path = self.paths[node]
        if valid & _MODE:
            path.chmod(stat.S_IMODE(mode))
        if valid & (_UID | _GID):
            os.chown(path, uid if valid & _UID else -1, gid if valid & _GID else -1)
        if valid & _SIZE:
            self.files.of(node, path).resize(size)
        return self.getattr(node, body, by)

    def readlink(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        return os.fsencode(self.paths[node].readlink())

    def mknod(self, node: int, body: bytes, by: tuple[int, int]) -> Answer:
        mode, device = struct.unpack_from("<II", body)
        path = self.paths[node] / _name(body[16:])
        os.mknod(path, mode, device)
        return self._made(node, path, by)

    def mkdir(self, node: int, body: bytes, by: tuple[int, int]) -> Answer:
        path = self.paths[node] / _name(body[8:])
        path.mkdir()
        path.chmod(stat.S_IMODE(struct.unpack_from("<I", body)[0]))
        return self._made(node, path, by)

    def create(self, node: int, body: bytes, by: tuple[int, int]) -> Answer:
        path = self.paths[node] / _name(body[16:])
        mode = stat.S_IMODE(struct.unpack_from("<II", body)[1])
        is_new = not path.exists()
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, mode))
        if not is_new:
            entry = self._entry(path)
        else:
            path.chmod(mode)
            entry = self._made(node, path, by)
        opened = self.open(path.stat().st_ino, body, by)
        assert isinstance(opened, bytes)
        return entry + opened

    def unlink(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        self.files.unlink(node, self.paths[node] / _name(body))
        return b""

    def rmdir(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        (self.paths[node] / _name(body)).rmdir()
        return b""

    def rename(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        return self._rename(node, struct.unpack_from("<Q", body)[0], body[8:])

    def rename2(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        target, flags = struct.unpack_from("<QI", body)
        return errno.EINVAL if flags else self._rename(node, target, body[16:])

    def _rename(self, node: int, folder: int, names: bytes) -> Answer:
        old, new, _ = names.split(b"\0", 2)
        source, target = self.paths[node] / os.fsdecode(old), self.paths[folder] / os.fsdecode(new)
        self.files.rename(frozenset({node, folder}), source, target)
        for inode, path in list(self.paths.items()):
            if path == source or source in path.parents:
                self.paths[inode] = target / path.relative_to(source)
                if inode in self.files.pages:
                    self.files.pages[inode].path = self.paths[inode]
        return b""

    def open(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        self.files.of(node, self.paths[node]).open()
        return struct.pack("<QII", node, 0, 0)

    def opendir(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        return struct.pack("<QII", node, 0, 0)

    def release(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        self.files.pages[node].close()
        return b""

    def read(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        _, offset, count = struct.unpack_from("<QQI", body)
        return self.files.pages[node].read(offset, count)

    def write(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        _, offset, count = struct.unpack_from("<QQI", body)
        self.files.pages[node].write(offset, body[40 : 40 + count])
        return struct.pack("<II", count, 0)

    def fallocate(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        _, offset, length, mode = struct.unpack_from("<QQQI", body)
        if mode:
            return errno.EOPNOTSUPP
        pages = self.files.pages[node]
        pages.resize(max(pages.size, offset + length))
        return b""

    def fsync(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        self.files.sync_file(node)
        return b""

    def fsyncdir(self, node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        self.files.sync_folder(node)
        return b""

    def statfs(self, _node: int, _body: bytes, _by: tuple[int, int]) -> Answer:
        found = os.statvfs(self.root)
        counts = (found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree)
        return struct.pack("<QQQQQIII28x", *counts, found.f_bsize, 255, found.f_frsize)

    def readdir(self, node: int, body: bytes, _by: tuple[int, int]) -> Answer:
        _, offset, count = struct.unpack_from("<QQI", body)
        listed = bytearray()
        names = sorted(path.name for path in self.paths[node].iterdir())
        for place, name in enumerate(names[offset:], offset + 1):
            text = os.fsencode(name)
            entry = struct.pack("<QQII", place, place, len(text), 0) + text
            if len(listed) + len(entry) + 7 > count:
                break
            listed += entry.ljust((len(entry) + 7) & ~7, b"\0")
        return bytes(listed)

    def _made(self, folder: int, path: Path, by: tuple[int, int]) -> bytes:
        os.chown(path, *by, follow_symlinks=False)
        self.files.created(folder, path.lstat().st_ino, path)
        return self._entry(path)

    def _entry(self, path: Path) -> bytes:
        inode = path.lstat().st_ino
        self.paths[inode] = path
        return struct.pack("<QQQQII", inode, 0, _HOUR, _HOUR, 0, 0) + self._attributes(inode)

    def _attributes(self, node: int) -> bytes:
        pages = self.files.pages.get(node)
        at = os.fstat(pages.fd) if pages and pages.fd >= 0 else self.paths[node].lstat()
        size = pages.size if pages else at.st_size
        times = (int(at.st_atime), int(at.st_mtime), int(at.st_ctime))
        owner = (at.st_mode, at.st_nlink, at.st_uid, at.st_gid, 0, 4096, 0)
        return _ATTR.pack(node, size, (size + 511) // 512, *times, 0, 0, 0, *owner)


def _name(body: bytes) -> str:
    return os.fsdecode(body.partition(b"\0")[0])


def main(folder: Path, mount: Path, seed: int, share: float) -> None:
    """Mount, say so with a line, and serve until unmounted."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    disk = Disk(folder, random.Random(seed), share)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"volatile", os.fsencode(mount), b"fuse", 0, options.encode()):
        raise OSError(ctypes.get_errno(), "the kernel does not mount FUSE here")
    libc.prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: libc.umount2(os.fsencode(mount), _DETACH))
    print("mounted", flush=True)
    signal.signal(signal.SIGUSR1, lambda *_: (disk.lose_power(), print("lost", flush=True)))
    while True:
        try:
            reply = disk.answer(os.read(device, _BUFFER))
            if reply is not None:
                os.write(device, reply)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            if error.errno not in {errno.ENOENT, errno.EINTR}:
                raise


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
