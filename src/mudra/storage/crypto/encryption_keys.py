"""Loads this database's encryption keys, making them on the first start."""

import os
from pathlib import Path
from typing import Final, LiteralString, cast

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
        return data_encryption_of(connection, data_dir, create=create)


def data_encryption_of(
    connection: psycopg.Connection[tuple[object, ...]], data_dir: Path, *, create: bool
) -> DataEncryption:
    """Load them by a connection, whose transaction has those that were made; raises the same."""
    found = _sealed(connection, "SELECT name, sealed FROM sealed_key FOR UPDATE")
    masters = load_master_keys(os.environ, data_dir, create=create, database_is_sealed=bool(found))
    keyring = Keyring(masters)
    missing = [name for name in _NAMES if name not in found]
    for name in missing:
        connection.execute(
            "INSERT INTO sealed_key (name, sealed, created_at)"
            " VALUES (%s, %s, clock_timestamp()) ON CONFLICT DO NOTHING",
            [name, keyring.new_sealed_key(name, _VERSION)],
        )
    if missing:
        found = _sealed(connection, "SELECT name, sealed FROM sealed_key")
    keys = {name: keyring.decrypt_key(sealed, name, _VERSION) for name, sealed in found.items()}
    return DataEncryption(keyring, *(keys[name].reveal() for name in _NAMES))


def _sealed(
    connection: psycopg.Connection[tuple[object, ...]], query: LiteralString
) -> dict[str, bytes]:
    return dict(cast("list[tuple[str, bytes]]", connection.execute(query).fetchall()))
