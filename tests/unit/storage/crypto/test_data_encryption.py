"""Keyed hashes of names: no typed user name is another kind's name."""

import pytest

from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.master_key import MasterKeys, SecretBytes

KIND, NAME = "second-factor", "7f0c2a0e-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def encryption() -> DataEncryption:
    return DataEncryption(
        Keyring(MasterKeys(1, {1: SecretBytes(bytes(32))})), b"s", b"n", b"p", b"c"
    )


@pytest.mark.parametrize(
    "typed",
    [
        NAME,
        f"{KIND}:{NAME}",
        f"{KIND}\0{NAME}",
        f"\xff{KIND}\0{NAME}",
        f"\ufffd{KIND}\0{NAME}",
    ],
)
def test_no_typed_name_has_the_hash_of_another_kind(encryption: DataEncryption, typed: str) -> None:
    assert encryption.name_mac(typed) != encryption.kind_mac(KIND, NAME)


def test_each_kind_has_hashes_of_its_own(encryption: DataEncryption) -> None:
    hashes = {encryption.kind_mac(kind, NAME) for kind in (KIND, "link-refusal", "address")}

    assert len(hashes) == 3
    assert encryption.kind_mac(KIND, NAME) in hashes
