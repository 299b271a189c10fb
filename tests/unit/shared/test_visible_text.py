"""One rule for all texts that people read: each character is seen, or part of how a word is read."""

import itertools
import sys
from unicodedata import category as category_of

import pytest
from tests.support.depth import DEEP

from mudra.shared.text.visible_text import first_unseen, without_unseen

UNSEEN = [
    *"\x00\t\n\x7f\x85\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200e\u2028\u202e",
    *"\u2060\u2066\u206f\u2800\u3164\ufe00\ufeff\uffa0\ufffe\ue000\ud800",
    *"\U0001d173\U000e0041\U000e0100\U000f0000",
]


@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: f"U+{ord(one):04X}")
def test_a_character_that_no_one_sees_is_found_wherever_it_is(one: str) -> None:
    for text in (one, f"{one}Bank", f"Deccan{one}Bank", f"Bank{one}", f"बैंक{one}"):
        assert first_unseen(text) == one
        assert without_unseen(text) == text.replace(one, "")


@pytest.mark.parametrize(
    "text",
    [
        "Deccan Co-operative Bank (P) Ltd. & Sons’ № 1",
        "क्\u200dष, ക്\u200cഷ, র\u200d্য",
        "می\u200cخواهم",
        "wrong\u00a0key",
        "⚠\ufe0f Maintenance",
        "बैंक ऑफ़ बड़ौदा",
        "ಕಾವೇರಿ ಬ್ಯಾಂಕ್",
    ],
)
def test_what_words_and_signs_need_stays(text: str) -> None:
    assert first_unseen(text) == ""
    assert without_unseen(text) == text


@pytest.mark.parametrize(
    "text", ["Dec\u200dcan", "Bank\u200c", "\u200dBank", "क\u200d\u200d", "Б\u200dк"]
)
def test_a_joiner_is_unseen_where_it_joins_nothing(text: str) -> None:
    assert first_unseen(text) in {"\u200c", "\u200d"}


@pytest.mark.parametrize("text", ["a\ufe0f", "\ufe0f", "1\ufe0f"])
def test_a_selector_is_unseen_where_there_is_no_sign(text: str) -> None:
    assert first_unseen(text) == "\ufe0f"


@pytest.mark.deeper
def test_no_format_control_or_unassigned_character_passes() -> None:
    """Of each run of characters of one category the ends and the middle; deep, all of them."""
    passed = {
        category
        for category, run in itertools.groupby(map(chr, range(sys.maxunicode + 1)), category_of)
        for one in looked_at(list(run))
        if not first_unseen(f"क{one}") and one not in "\u200c\u200d"
    }

    assert passed.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
    assert "Lo" in passed


def looked_at(run: list[str]) -> list[str]:
    return run if DEEP else [run[0], run[len(run) // 2], run[-1]]
