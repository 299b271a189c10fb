"""A page of the registry that does not fit a copy is refused, also when it is signed."""

import hashlib

import msgspec
import pytest

from mudra.client.directory.copy import Change, DirectoryCopy, Page, PageRefused
from mudra.client.directory.following import Expected, Following
from mudra.client.entity_token import Role

ENTRY = msgspec.Raw(b'{"entityinfo":{"name":"Kaveri"}}')
OTHER = msgspec.Raw(b'{"entityinfo":{"name":"Deccan"}}')
PUT = Change("put", Role.FIP, "KAVERI-FIP", ENTRY)


def hash_of(*entries: tuple[str, msgspec.Raw]) -> str:
    """As docs/reference/registry.md has it."""
    lines = sorted(
        f"FIP/{name} {hashlib.sha256(bytes(entry)).hexdigest()}\n".encode()
        for name, entry in entries
    )
    return hashlib.sha256(b"".join(lines)).hexdigest()


def page(upto: int = 7, **changes: object) -> Page:
    known: dict[str, object] = {
        "since": 0,
        "upto": upto,
        "more": False,
        "complete": True,
        "hash": hash_of(("KAVERI-FIP", ENTRY)),
        "changes": [PUT],
        "issued_at": 1_000,
        "valid_until": 1_300,
        "registry": "https://o.example/iam",
        "reader": "FINSIGHT-FIU",
        "epoch": 5,
    }
    return Page(**(known | changes))  # type: ignore[arg-type]  # each by its name


@pytest.mark.parametrize(
    "wrong",
    [
        {"hash": hash_of(("KAVERI-FIP", OTHER))},
        {"hash": hash_of()},
        {"hash": ""},
        {"changes": [], "hash": hash_of(("KAVERI-FIP", ENTRY))},
        {"changes": [Change("put", Role.AA, "KAVERI-FIP", ENTRY)]},
        {"changes": [PUT, Change("put", Role.FIP, "DECCAN-FIP", OTHER)]},
    ],
)
def test_a_page_whose_hash_is_that_of_other_entries_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PageRefused, match="its hash is that of another set of entries"):
        DirectoryCopy().after(page(**wrong))


def test_a_page_with_the_right_hash_proves_the_copy() -> None:
    copy = DirectoryCopy().after(page())

    assert copy.proven
    assert (copy.upto, copy.epoch, copy.issued_at) == (7, 5, 1_000)


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (page(6, issued_at=2_000), "it goes back from change 7 to 6"),
        (page(9, issued_at=2_000, epoch=4), "an epoch before the last one"),
        (page(9, issued_at=999), "signed before the last one"),
        (page(9, issued_at=999, epoch=6), "signed before the last one"),
    ],
)
def test_a_page_from_before_the_copy_is_refused(later: Page, why: str) -> None:
    copy = DirectoryCopy().after(page())

    with pytest.raises(PageRefused, match=why):
        copy.check_not_older(later)


@pytest.mark.parametrize("later", [page(7), page(9, issued_at=2_000), page(1, epoch=6)])
def test_a_later_page_and_a_lower_number_of_a_later_epoch_are_not(later: Page) -> None:
    DirectoryCopy().after(page()).check_not_older(later)


@pytest.mark.parametrize(
    "others", [{"registry": "https://other.example/iam"}, {"reader": "OTHER-FIU"}]
)
def test_a_page_of_another_registry_or_for_another_reader_is_refused(
    others: dict[str, object],
) -> None:
    expected = Expected("https://o.example/iam", "FINSIGHT-FIU")
    following = Following("https://o.example/cr/v2", expected, None, 60, lambda: 0, lambda: 1_001)

    with pytest.raises(PageRefused, match="by another registry, or for another reader"):
        following.take(msgspec.json.encode(page(**others)))
    assert not following.copy.proven

    following.take(msgspec.json.encode(page()))
    assert following.copy.proven
