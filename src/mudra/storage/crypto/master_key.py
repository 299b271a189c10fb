"""The master keys: outside the database, so that a dump of it reveals nothing.

They are read from the first of these that is set:

1. `MUDRA_MASTER_KEY`, or the file that `MUDRA_MASTER_KEY_FILE` names;
2. the output of the command `MUDRA_MASTER_KEY_COMMAND` (a call to a KMS);
3. the file `master.key` in the data directory, mode 0600.

All three have one format: versions separated by commas or lines, the active one
first, each `number:base64 of 32 bytes`. A value without a number is version 1.
"""

import base64
import binascii
import fcntl
import os
import re
import secrets
import shlex
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, final

from msgspec import Struct

from mudra.shared.secret_text import SecretFileFault, secret_variable

VARIABLE: Final = "MUDRA_MASTER_KEY"
COMMAND_VARIABLE: Final = "MUDRA_MASTER_KEY_COMMAND"
FILE: Final = "master.key"
KEY_BYTES: Final = 32
MAX_VERSION: Final = 2**32 - 1
COMMAND_SECONDS: Final = 10
_FORMAT: Final = (
    "allowed: number:base64 of 32 bytes, several separated by commas, the active one first; "
    "make a key with: openssl rand -base64 32"
)


class MasterKeyError(Exception):
    """The master keys cannot be loaded; the text says why and what to do, and holds no key."""


@final
class SecretBytes:
    """A key, shown as `***` everywhere."""

    __slots__ = ("_value",)

    def __init__(self, value: bytes) -> None:
        self._value: Final = value

    def reveal(self) -> bytes:
        """Return the bytes themselves: for a cipher or the one file that holds them."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__
    __hash__ = None  # type: ignore[assignment]  # a secret is never a key of a table


class MasterKeys(Struct, frozen=True):
    """All versions that can decrypt, and the one that encrypts."""

    active: int
    keys: Mapping[int, SecretBytes]

    def __post_init__(self) -> None:
        if self.active not in self.keys:
            raise MasterKeyError(f"there is no master key of the active version {self.active}")


def load_master_keys(
    environment: Mapping[str, str], data_dir: Path, *, create: bool, database_is_sealed: bool
) -> MasterKeys:
    """Load the master keys from the first place that is set.

    `create` allows a new file when there is none. `database_is_sealed` says
    that the database holds encrypted values, which a new key could never decrypt.

    Raises:
        MasterKeyError: they are missing, malformed or readable by others.
    """
    try:
        value = secret_variable(environment, VARIABLE).strip()
    except SecretFileFault as fault:
        raise MasterKeyError(str(fault)) from None
    if value:
        return parse_master_keys(value, VARIABLE)
    if command := environment.get(COMMAND_VARIABLE, "").strip():
        return parse_master_keys(_command_output(command), f"the output of {COMMAND_VARIABLE}")
    path = data_dir / FILE
    if (keys := _read(path)) is not None:
        return keys
    if database_is_sealed:
        raise MasterKeyError(
            f"{path} is missing, and the database holds values encrypted under it: restore "
            f"the file from its backup, or set the key in {VARIABLE} or {COMMAND_VARIABLE}"
        )
    if not create:
        raise MasterKeyError(
            f"there is no master key: start the service once, which makes {path}, "
            f"or set {VARIABLE} or {COMMAND_VARIABLE}"
        )
    return _create(path)


def parse_master_keys(text: str, source: str) -> MasterKeys:
    """Parse the format that all sources share; `source` names the place in errors.

    Raises:
        MasterKeyError: it is malformed.
    """
    keys: dict[int, SecretBytes] = {}
    for place, entry in enumerate(re.split(r"[,\s]+", text.strip()), start=1):
        number, colon, encoded = entry.rpartition(":")
        version = int(number) if re.fullmatch(r"[0-9]{1,10}", number) else 0
        if not colon:
            version = 1
        if not 1 <= version <= MAX_VERSION:
            raise MasterKeyError(
                f"entry {place} of {source} must begin with a version from 1 to {MAX_VERSION}; "
                f"{_FORMAT}"
            )
        if version in keys:
            raise MasterKeyError(f"version {version} appears twice in {source}; {_FORMAT}")
        keys[version] = _decoded(encoded, f"entry {place} of {source}")
    return MasterKeys(next(iter(keys)), keys)


def _decoded(encoded: str, place: str) -> SecretBytes:
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        # "from None" and no value: the text might be a key with one wrong character.
        raise MasterKeyError(f"{place} is not a master key; {_FORMAT}") from None
    return SecretBytes(key)


def _command_output(command: str) -> str:
    failure = ""
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own command, without a shell
            shlex.split(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout.decode("ascii", errors="replace").strip()
        failure = f"ended with status {done.returncode}"
    except subprocess.TimeoutExpired:
        failure = f"did not finish within {COMMAND_SECONDS} s"
    except ValueError:
        failure = "is not a command line: a quote is not closed"
    except OSError as error:
        failure = f"could not be started: {error.strerror}"
    # Raised here so that the error carries neither the command's output nor its arguments.
    raise MasterKeyError(
        f"the command of {COMMAND_VARIABLE} {failure}: run it by hand as this user; it must "
        "print the master keys"
    )


def _read(path: Path) -> MasterKeys | None:
    """Read the key file; None when there is none."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MasterKeyError(
            f"{path} cannot be read: {error.strerror}; it must be a file of mode 0600 owned by the "
            "user that runs Mudra"
        ) from error
    with file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise MasterKeyError(
                f"{path} has mode {mode:04o} and may be read by others: chmod 600 {path}, and, if "
                "others could read it, rotate the master key"
            )
        return parse_master_keys(file.read().decode("ascii", errors="replace"), str(path))


def _create(path: Path) -> MasterKeys:
    with _only_writer(path.parent):
        # Another process may have made it in the meantime.
        return _read(path) or _replace(path.parent, MasterKeys(1, {1: _new_key()}))


def _replace(data_dir: Path, keys: MasterKeys) -> MasterKeys:
    """Replace the file as a whole or not at all."""
    new = data_dir / f"{FILE}.new"
    new.unlink(missing_ok=True)  # of an interrupted change, and never used
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "w") as file:
        if os.geteuid() == 0:  # what root makes must not lock out the owner of the directory
            owner = data_dir.stat()
            os.fchown(fd, owner.st_uid, owner.st_gid)
        file.write(_serialized(keys))
        file.flush()
        os.fsync(fd)
    new.replace(data_dir / FILE)
    directory = os.open(data_dir, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return keys


def _serialized(keys: MasterKeys) -> str:
    versions = [keys.active, *(version for version in keys.keys if version != keys.active)]
    encoded = {
        version: base64.b64encode(keys.keys[version].reveal()).decode() for version in versions
    }
    return "".join(f"{version}:{encoded[version]}\n" for version in versions)


@contextmanager
def _only_writer(data_dir: Path) -> Iterator[None]:
    try:
        fd = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise MasterKeyError(
            f"{data_dir} must be a directory, to hold {FILE}: {error.strerror}; set MUDRA_DATA_DIR"
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    except OSError as error:
        raise MasterKeyError(f"{data_dir / FILE} cannot be written: {error.strerror}") from error
    finally:
        os.close(fd)


def _new_key() -> SecretBytes:
    return SecretBytes(secrets.token_bytes(KEY_BYTES))
