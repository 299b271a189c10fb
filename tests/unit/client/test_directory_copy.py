"""The copy of the registry proves itself by the registry's hash: another set is none of it."""

import hashlib

import msgspec
import pytest

from mudra.client.directory.copy import Change, DirectoryCopy, Page, PageRefused
from mudra.client.entity_token import Role

ENTRY = b'{"entityinfo":{"id":"FIP-1"}}'
OTHER = b'{"entityinfo":{"id":"FIP-1","baseurl":"v2:https://evil.example"}}'


def hash_of(entry: bytes) -> str:
    """As docs/reference/registry.md has it, computed here."""
    line = f"FIP/FIP-1 {hashlib.sha256(entry).hexdigest()}\n"
    return hashlib.sha256(line.encode()).hexdigest()


def page(entry: bytes, proof: str) -> Page:
    change = Change("put", Role.FIP, "FIP-1", msgspec.Raw(entry))
    return Page(0, 1, more=False, complete=True, hash=proof, changes=[change])


def test_a_page_with_the_hash_of_its_entries_is_proven() -> None:
    copy = DirectoryCopy().after(page(ENTRY, hash_of(ENTRY)))

    assert copy.proven
    assert copy.find("FIP-1") is not None


@pytest.mark.parametrize("proof", [hash_of(OTHER), "", hash_of(ENTRY).upper()])
def test_a_page_with_another_hash_is_refused(proof: str) -> None:
    with pytest.raises(PageRefused, match="hash"):
        DirectoryCopy().after(page(ENTRY, proof))


def test_a_page_that_leaves_a_change_out_is_refused() -> None:
    before = DirectoryCopy().after(page(ENTRY, hash_of(ENTRY)))

    with pytest.raises(PageRefused):
        before.after(Page(1, 2, more=False, complete=False, hash=hash_of(OTHER), changes=[]))
