"""Loads this database's encryption keys, making them on the first start."""

import os
from pathlib import Path
from typing import Final

import psycopg

from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.master_key import load_master_keys

_NAMES: Final = ("secret-mac", "name-mac", "password-pepper", "audit-checkpoint")
_VERSION: Final = 1


def load_data_encryption(conninfo: str, data_dir: Path, *, create: bool) -> DataEncryption:
    """Load the master keys and this database's keys for hashing.

    Raises MasterKeyError when the master key is missing or readable by others, and
    CiphertextInvalid when it belongs to another database.
    """
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        found: dict[str, bytes] = dict(
            connection.execute("SELECT name, sealed FROM sealed_key FOR UPDATE").fetchall()
        )
        masters = load_master_keys(
            os.environ, data_dir, create=create, database_is_sealed=bool(found)
        )
        keyring = Keyring(masters)
        for name in _NAMES:
            if name not in found:
                connection.execute(
                    "INSERT INTO sealed_key (name, sealed, created_at)"
                    " VALUES (%s, %s, clock_timestamp()) ON CONFLICT DO NOTHING",
                    [name, keyring.new_sealed_key(name, _VERSION)],
                )
        rows = connection.execute("SELECT name, sealed FROM sealed_key").fetchall()
        keys = {name: keyring.decrypt_key(sealed, name, _VERSION).reveal() for name, sealed in rows}
    return DataEncryption(keyring, *(keys[name] for name in _NAMES))
