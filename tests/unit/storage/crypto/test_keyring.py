"""Sealed values open where they were sealed, unaltered, and nowhere else."""

import pytest

from mudra.storage.crypto.keyring import (
    CiphertextInvalid,
    Keyring,
    MasterVersionMissing,
    mac,
    master_version,
)
from mudra.storage.crypto.master_key import MasterKeys, SecretBytes

KEY_1 = SecretBytes(b"1" * 32)
KEY_2 = SecretBytes(b"2" * 32)
PLACE = {"table": "entity_secret", "column": "sealed", "row": "FIP-1"}
VALUE = b"a secret of an entity"


def only_first() -> Keyring:
    return Keyring(MasterKeys(1, {1: KEY_1}))


def rotated() -> Keyring:
    return Keyring(MasterKeys(2, {2: KEY_2, 1: KEY_1}))


def test_an_encrypted_value_can_be_decrypted_at_its_place():
    ring = only_first()

    assert ring.decrypt(ring.encrypt(VALUE, **PLACE), **PLACE) == VALUE


def test_an_empty_value_can_be_encrypted():
    ring = only_first()

    assert ring.decrypt(ring.encrypt(b"", **PLACE), **PLACE) == b""


def test_two_ciphertexts_of_one_value_have_nothing_in_common():
    ring = only_first()

    first, second = ring.encrypt(VALUE, **PLACE), ring.encrypt(VALUE, **PLACE)

    assert first[5:17] != second[5:17]
    assert first[17:65] != second[17:65]
    assert first[65:] != second[65:]


def test_an_encrypted_value_does_not_contain_the_value():
    assert VALUE not in only_first().encrypt(VALUE, **PLACE)


@pytest.mark.parametrize("part", ["table", "column", "row"])
def test_a_value_moved_to_another_place_is_refused(part):
    ring = only_first()
    sealed = ring.encrypt(VALUE, **PLACE)
    elsewhere = PLACE | {part: "other"}

    with pytest.raises(CiphertextInvalid):
        ring.decrypt(sealed, **elsewhere)
    with pytest.raises(CiphertextInvalid):
        ring.rewrap(sealed, **elsewhere)


def test_places_whose_names_run_together_are_different_places():
    ring = only_first()
    sealed = ring.encrypt(VALUE, table="ab", column="c", row="d")

    with pytest.raises(CiphertextInvalid):
        ring.decrypt(sealed, table="a", column="bc", row="d")


def test_every_single_flipped_bit_is_noticed():
    ring = only_first()
    sealed = ring.encrypt(b"abc", **PLACE)

    for bit in range(len(sealed) * 8):
        altered = bytearray(sealed)
        altered[bit // 8] ^= 1 << bit % 8
        with pytest.raises((CiphertextInvalid, MasterVersionMissing)):
            ring.decrypt(bytes(altered), **PLACE)
        with pytest.raises((CiphertextInvalid, MasterVersionMissing)):
            ring.rewrap(bytes(altered), **PLACE)


def test_every_cut_and_every_addition_is_noticed():
    ring = only_first()
    sealed = ring.encrypt(b"abc", **PLACE)

    for end in range(len(sealed)):
        with pytest.raises(CiphertextInvalid):
            ring.decrypt(sealed[:end], **PLACE)
    with pytest.raises(CiphertextInvalid):
        ring.decrypt(sealed + b"\0", **PLACE)


def test_the_data_key_of_one_value_does_not_open_another():
    ring = only_first()
    first, second = ring.encrypt(b"first", **PLACE), ring.encrypt(b"other", **PLACE)

    with pytest.raises(CiphertextInvalid):
        ring.decrypt(first[:65] + second[65:], **PLACE)


def test_a_version_changed_to_another_that_exists_is_refused():
    sealed = only_first().encrypt(VALUE, **PLACE)
    relabelled = sealed[:4] + b"\x02" + sealed[5:]

    assert master_version(relabelled) == 2
    with pytest.raises(CiphertextInvalid):
        rotated().decrypt(relabelled, **PLACE)


def test_the_version_is_bound_even_when_two_versions_share_a_key():
    sealed = only_first().encrypt(VALUE, **PLACE)
    twins = Keyring(MasterKeys(2, {2: KEY_1, 1: KEY_1}))

    with pytest.raises(CiphertextInvalid):
        twins.decrypt(sealed[:4] + b"\x02" + sealed[5:], **PLACE)


def test_a_missing_master_version_is_named():
    sealed = rotated().encrypt(VALUE, **PLACE)

    with pytest.raises(MasterVersionMissing, match="version 2") as caught:
        only_first().decrypt(sealed, **PLACE)
    assert caught.value.version == 2


def test_a_wrong_key_under_the_right_version_is_refused():
    sealed = only_first().encrypt(VALUE, **PLACE)

    with pytest.raises(CiphertextInvalid):
        Keyring(MasterKeys(1, {1: KEY_2})).decrypt(sealed, **PLACE)


def test_a_rewrap_changes_the_wrap_and_leaves_the_value():
    sealed = only_first().encrypt(VALUE, **PLACE)
    assert not only_first().needs_rewrap(sealed)
    assert rotated().needs_rewrap(sealed)

    rewrapped = rotated().rewrap(sealed, **PLACE)

    assert not rotated().needs_rewrap(rewrapped)
    assert (master_version(sealed), master_version(rewrapped)) == (1, 2)
    assert rewrapped[65:] == sealed[65:]
    assert Keyring(MasterKeys(2, {2: KEY_2})).decrypt(rewrapped, **PLACE) == VALUE


def test_a_broken_value_is_not_given_a_sound_wrap():
    sealed = bytearray(only_first().encrypt(VALUE, **PLACE))
    sealed[-1] ^= 1

    with pytest.raises(CiphertextInvalid):
        rotated().rewrap(bytes(sealed), **PLACE)


def test_an_invalid_ciphertext_names_its_place_and_nothing_else():
    sealed = only_first().encrypt(VALUE, **PLACE)

    with pytest.raises(CiphertextInvalid) as caught:
        only_first().decrypt(sealed[:-1], **PLACE)

    broken = caught.value
    assert (broken.table, broken.column, broken.row) == ("entity_secret", "sealed", "FIP-1")
    assert "entity_secret.sealed of row FIP-1" in str(broken)


def test_a_key_for_checking_stays_the_same_when_the_master_key_is_rotated():
    sealed = only_first().new_sealed_key("secret-mac", 1)
    before = only_first().decrypt_key(sealed, "secret-mac", 1)
    place = {"table": "sealed_key", "column": "sealed", "row": "secret-mac/1"}

    rewrapped = rotated().rewrap(sealed, **place)
    after = rotated().decrypt_key(rewrapped, "secret-mac", 1)

    assert mac(before, VALUE) == mac(after, VALUE)
    assert len(before.reveal()) == 32


@pytest.mark.parametrize(("name", "version"), [("password-pepper", 1), ("secret-mac", 2)])
def test_an_encrypted_key_can_be_decrypted_under_its_name_and_version_only(name, version):
    sealed = only_first().new_sealed_key("secret-mac", 1)

    with pytest.raises(CiphertextInvalid):
        only_first().decrypt_key(sealed, name, version)


def test_the_mac_is_hmac_sha_256():
    # RFC 4231, test case 1
    key = SecretBytes(b"\x0b" * 20)
    expected = bytes.fromhex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")

    assert mac(key, b"Hi There") == expected
