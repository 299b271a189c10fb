"""Names that a reader takes for one another are equal, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.registry.payload.fields.likeness import likeness


@pytest.mark.parametrize(
    "other",
    [
        "deccan bank",
        "DECCAN BANK",
        "Deccan  Bank",
        "Deccan\u00a0Bank",
        "DeccanBank",
        "Déccan Bank",
        "Dec\u0327can Bank",
        "Ｄｅｃｃａｎ Ｂａｎｋ",
        "𝐃𝐞𝐜𝐜𝐚𝐧 Bank",
        "Dесcаn Bаnk",
        "Deccan Ваnk",
        "ᗞeccan Bank",
        "Dec\u00adcan\u2060 Ba\u3164nk",
        "Deccan\u2800Bank",
    ],
)
def test_a_name_that_looks_like_another_is_the_same(other: str) -> None:
    assert likeness(other) == likeness("Deccan Bank")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("KAVERI", "KAVERl"),
        ("ICICI Bank", "1C1C1 Bank"),
        ("Mindful", "Rnindful"),
        ("REG000101", "REGOOO101"),
        ("Kaveri", "Kаvеri"),
        ("Ахіѕ", "Axis"),
    ],
)
def test_letters_that_look_alike_are_one(one: str, other: str) -> None:
    assert likeness(one) == likeness(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deccan Bank", "Deccan Banks"),
        ("HDFC Bank", "IDFC Bank"),
        ("राम", "रोम"),
        ("बैंक", "बक"),
        ("REG000101", "REG000102"),
    ],
)
def test_other_names_stay_others(one: str, other: str) -> None:
    assert likeness(one) != likeness(other)


@given(st.text(min_size=1, max_size=60))
def test_a_likeness_is_stable_and_never_empty(text: str) -> None:
    assert likeness(text)
    assert likeness(text.upper().lower()) == likeness(text.lower())
