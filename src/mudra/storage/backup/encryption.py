"""Encryption of backups with age (age-encryption.org/v1), by the library pyrage.

Recipients are public keys, so the machine that makes backups cannot read them. A file that was
altered or cut short is refused while it is decrypted, before its end was used.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, cast

import pyrage
from pyrage import x25519

from mudra.shared.secret_text import SecretText
from mudra.shared.text.byte_order_mark import NotUtf8, text_without_mark

_PUBLIC: Final = "age1"
_PRIVATE: Final = "AGE-SECRET-KEY-1"


Recipient = x25519.Recipient
"""A public key."""
Identity = x25519.Identity
"""A private key."""


class BackupKeyInvalid(Exception):
    """A key cannot be read: the text says which and what is expected, never a private key."""


class BackupUnreadable(Exception):
    """A backup was not encrypted to this key, was altered, or ends too early."""


class Source(Protocol):
    """The bytes that are read to their end."""

    def read(self, size: int = -1, /) -> bytes:
        """Read some bytes; none at the end."""


class Target(Protocol):
    """The file that is written to."""

    def write(self, data: bytes, /) -> int:
        """Write all of it."""

    def flush(self) -> None:
        """Pass on what is held back."""


def recipients(texts: Sequence[str]) -> list[x25519.Recipient]:
    """Read public keys; raises BackupKeyInvalid."""
    found = []
    for text in texts:
        try:
            found.append(x25519.Recipient.from_str(text))
        except pyrage.RecipientError:
            shown = f" {text[:12]}…" if text.startswith(_PUBLIC) else ""
            raise BackupKeyInvalid(
                f"the recipient{shown} is not a public key of age: it begins with {_PUBLIC}; "
                "mudra backup key makes a pair"
            ) from None
    return found


def read_identity(file: Path) -> x25519.Identity:
    """Read the private key of a file in the form of age-keygen; raises BackupKeyInvalid."""
    try:
        lines = text_without_mark(file.read_bytes()).splitlines()
    except NotUtf8 as error:
        raise BackupKeyInvalid(f"the private key {file} cannot be read: {error}") from None
    except OSError as error:
        raise BackupKeyInvalid(
            f"the private key {file} cannot be read: {error.strerror}"
        ) from error
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    try:
        return x25519.Identity.from_str(keys[0] if keys else "")
    except pyrage.IdentityError:
        # The text of the error is not shown: it might repeat the key.
        raise BackupKeyInvalid(
            f"{file} has no private key of age: a line that begins with {_PRIVATE}"
        ) from None


def new_identity() -> tuple[SecretText, str]:
    """Make a pair of keys: the private one, and the public one to encrypt to."""
    made = x25519.Identity.generate()
    return SecretText(str(made)), str(made.to_public())


def encrypt(source: Source, target: Target, to: Sequence[x25519.Recipient]) -> None:
    """Encrypt what is read until its end; raises the OSError of a target that takes no more."""
    watched = _Watched(target)
    try:
        pyrage.encrypt_io(cast("pyrage.BufferedIOBase", source), watched, to)
    except pyrage.EncryptError:
        if watched.failed is not None:
            raise watched.failed from None
        raise
    watched.flush()


def decrypt(source: Source, target: Target, identity: x25519.Identity) -> None:
    """Decrypt to the end; raises BackupUnreadable, when part of it may have been written.

    A BrokenPipeError of `target` is raised as it is: who ended says why, and the file is well.
    """
    watched = _Watched(target)
    try:
        pyrage.decrypt_io(source, watched, [identity])
        watched.flush()
    except (pyrage.DecryptError, OSError) as error:
        if isinstance(watched.failed, BrokenPipeError):
            raise watched.failed from None
        raise BackupUnreadable("it was altered, is cut short, or is for another key") from error


class _Watched:
    """A target that remembers why it took no more; the library hides the cause."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.failed: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write to the target."""
        try:
            return self._target.write(data)
        except OSError as error:
            self.failed = error
            raise

    def flush(self) -> None:
        """Flush the target."""
        try:
            self._target.flush()
        except OSError as error:
            self.failed = error
            raise
