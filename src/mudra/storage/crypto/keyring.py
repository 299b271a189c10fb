"""Encryption of values at rest: envelope encryption.

Each value has a data key of its own (AES-256-GCM); the data key is wrapped by
the active master key (AES-256-GCM). Both are bound to format, table, column and
row: a value moved to another place cannot be decrypted. The wrap is bound to its
master version too; the value only through the data key, so that a rotation wraps
that key again and leaves the value as it is.

    byte  0       format, 1
    bytes 1-4     master version, big-endian
    bytes 5-16    nonce of the wrap
    bytes 17-64   data key, wrapped (32 + 16)
    bytes 65-76   nonce of the value
    bytes 77-     value, encrypted (length + 16)
"""

import hashlib
import hmac
import secrets
import struct
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.storage.crypto.master_key import KEY_BYTES, MasterKeys, SecretBytes

_FORMAT: Final = 1
_HEADER: Final = struct.Struct(">BI")
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_WRAP_END: Final = _HEADER.size + _NONCE_BYTES + KEY_BYTES + _TAG_BYTES
_MIN_LENGTH: Final = _WRAP_END + _NONCE_BYTES + _TAG_BYTES
_SEALED_KEYS: Final = ("sealed_key", "sealed")


class CiphertextInvalid(Exception):
    """An encrypted value is not what was encrypted at this place: altered, moved or truncated."""

    def __init__(self, table: str, column: str, row: str) -> None:
        super().__init__(
            f"the encrypted value {table}.{column} of row {row} was altered or moved: "
            "restore that row from a backup"
        )
        self.table: Final = table
        self.column: Final = column
        self.row: Final = row


class MasterVersionMissing(ServiceUnavailable):
    """A value is encrypted under a master key that was not provided."""

    def __init__(self, version: int) -> None:
        super().__init__(
            Outage.MASTER_KEY,
            f"a value is encrypted under master key version {version}, which was not "
            "provided: add that version to the master keys until all values are rewrapped",
            f"this node has not version {version} of the master key",
        )
        self.version: Final = version


class _Place(Struct, frozen=True):
    table: str
    column: str
    row: str

    def binding(self, part: str) -> bytes:
        """Return bytes that differ for any two places: each part with its length."""
        parts = [text.encode() for text in (part, self.table, self.column, self.row)]
        return bytes([_FORMAT]) + b"".join(struct.pack(">I", len(p)) + p for p in parts)

    def broken(self) -> CiphertextInvalid:
        return CiphertextInvalid(self.table, self.column, self.row)


class Keyring:
    """Encrypts and decrypts values under the master keys."""

    def __init__(self, masters: MasterKeys) -> None:
        self.active: Final = masters.active
        self._ciphers: Final = {
            version: AESGCM(key.reveal()) for version, key in masters.keys.items()
        }

    def encrypt(self, value: bytes, *, table: str, column: str, row: str) -> bytes:
        """Encrypt a value so that it can be decrypted at this place only."""
        place = _Place(table, column, row)
        data_key = AESGCM.generate_key(KEY_BYTES * 8)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = AESGCM(data_key).encrypt(nonce, value, place.binding("value"))
        return self._wrap(data_key, place) + nonce + sealed

    def decrypt(self, sealed: bytes, *, table: str, column: str, row: str) -> bytes:
        """Decrypt a value that was encrypted at this place.

        Raises:
            CiphertextInvalid: it is not what was encrypted here.
            MasterVersionMissing: its master key was not provided.
        """
        place = _Place(table, column, row)
        data_key = self._unwrap(sealed, place)
        nonce = sealed[_WRAP_END : _WRAP_END + _NONCE_BYTES]
        try:
            return AESGCM(data_key).decrypt(
                nonce, sealed[_WRAP_END + _NONCE_BYTES :], place.binding("value")
            )
        except InvalidTag:
            raise place.broken() from None

    def has(self, version: int) -> bool:
        """Return whether values under this master version can be decrypted here."""
        return version in self._ciphers

    def needs_rewrap(self, sealed: bytes) -> bool:
        """Return whether the value is encrypted under another master key than the active one."""
        return master_version(sealed) != self.active

    def rewrap(self, sealed: bytes, *, table: str, column: str, row: str) -> bytes:
        """Wrap the data key again, under the active master key; the value stays as it is.

        Raises:
            CiphertextInvalid: it is not what was encrypted here.
            MasterVersionMissing: its master key was not provided.
        """
        # Decrypted first: an altered value must not get a new, valid wrap.
        self.decrypt(sealed, table=table, column=column, row=row)
        place = _Place(table, column, row)
        return self._wrap(self._unwrap(sealed, place), place) + sealed[_WRAP_END:]

    def new_sealed_key(self, name: str, version: int) -> bytes:
        """Make a random 256-bit key, encrypted for its row of the table `sealed_key`.

        Keys for checking (`mac`) live there and not under a master version, so
        that they stay the same when the master key is rotated.
        """
        return self.encrypt(secrets.token_bytes(KEY_BYTES), **_key_place(name, version))

    def decrypt_key(self, sealed: bytes, name: str, version: int) -> SecretBytes:
        """Decrypt a key made by `new_sealed_key` for this name and version.

        Raises:
            CiphertextInvalid: it is not what was encrypted here.
            MasterVersionMissing: its master key was not provided.
        """
        return SecretBytes(self.decrypt(sealed, **_key_place(name, version)))

    def _wrap(self, data_key: bytes, place: _Place) -> bytes:
        header = _HEADER.pack(_FORMAT, self.active)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        wrapped = self._ciphers[self.active].encrypt(
            nonce, data_key, header + place.binding("data key")
        )
        return header + nonce + wrapped

    def _unwrap(self, sealed: bytes, place: _Place) -> bytes:
        if len(sealed) < _MIN_LENGTH or sealed[0] != _FORMAT:
            raise place.broken()
        version = master_version(sealed)
        cipher = self._ciphers.get(version)
        if cipher is None:
            raise MasterVersionMissing(version)
        body = sealed[_HEADER.size : _WRAP_END]
        try:
            return cipher.decrypt(
                body[:_NONCE_BYTES],
                body[_NONCE_BYTES:],
                sealed[: _HEADER.size] + place.binding("data key"),
            )
        except InvalidTag:
            raise place.broken() from None


def master_version(sealed: bytes) -> int:
    """Return the master version under which a value is encrypted; 0 when it is no such value."""
    if len(sealed) < _MIN_LENGTH or sealed[0] != _FORMAT:
        return 0
    _, version = _HEADER.unpack_from(sealed)
    return int(version)


def mac(key: SecretBytes, value: bytes) -> bytes:
    """HMAC-SHA-256, for finding and checking a value without keeping it."""
    return hmac.digest(key.reveal(), value, hashlib.sha256)


def _key_place(name: str, version: int) -> dict[str, str]:
    table, column = _SEALED_KEYS
    return {"table": table, "column": column, "row": f"{name}/{version}"}
