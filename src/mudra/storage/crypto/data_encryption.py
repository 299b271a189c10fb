"""Encryption of texts at rest, and hashes under a key.

The keys for hashing are random rows, encrypted under the master key, so that a
new master key changes no hash.
"""

import hashlib
import hmac
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from mudra.shared.secret_text import SecretText
from mudra.storage.crypto.keyring import Keyring


@dataclass(frozen=True, slots=True, repr=False)
class DataEncryption:
    """The keyring with the keyed hashes of this database."""

    keyring: Keyring
    secret_key: bytes
    name_key: bytes
    password_pepper: bytes
    checkpoint_key: bytes

    _keyed: HMAC = field(init=False)
    """Made once: looking up the algorithm costs more than the hash."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keyed", HMAC(self.secret_key, SHA256()))

    def encrypt_text(self, text: SecretText, table: str, column: str, row: str) -> bytes:
        """Encrypt a text, bound to its place."""
        return self.keyring.encrypt(text.reveal().encode(), table=table, column=column, row=row)

    def decrypt_text(self, sealed: bytes, table: str, column: str, row: str) -> SecretText:
        """Decrypt a text; raises CiphertextInvalid when it was altered or moved."""
        return SecretText(
            self.keyring.decrypt(sealed, table=table, column=column, row=row).decode()
        )

    def secret_mac(self, entity_id: str, secret: SecretText) -> bytes:
        """Hash an entity secret for checking: a fast hash suffices for 256 random bits."""
        message = entity_id.encode() + b"\0" + secret.reveal().encode()
        keyed = self._keyed.copy()
        keyed.update(message)
        return keyed.finalize()

    def name_mac(self, name: str) -> bytes:
        """Hash a user name as someone typed it, so that counters hold no names."""
        return hmac.digest(self.name_key, name.encode(), hashlib.sha256)

    def kind_mac(self, kind: str, name: str) -> bytes:
        """Hash a name of another kind, which no user name that anyone types can equal."""
        # No text in UTF-8 holds this byte: `name_mac` of no name is a hash of such a message.
        message = b"\xff" + kind.encode() + b"\0" + name.encode()
        return hmac.digest(self.name_key, message, hashlib.sha256)

    def checkpoint_mac(self, statement: bytes) -> bytes:
        """Sign a statement about the audit chain: the database holds the key only encrypted."""
        return hmac.digest(self.checkpoint_key, statement, hashlib.sha256)

    def is_checkpoint_mac(self, statement: bytes, mac: bytes) -> bool:
        """Check such a signature in constant time."""
        return hmac.compare_digest(self.checkpoint_mac(statement), mac)
