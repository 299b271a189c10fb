"""What is wrong with a registration, as a reader of Hindi reads it (decision 0059)."""

import re

import pytest
from tests.unit.registry.payload.wrong import WRONG_MEMBERS, changed
from tests.unit.registry.payload.wrong_more import MORE_WRONG

from mudra.console.pages.member.registration_labels import said
from mudra.localization.language import ENGLISH, written_in
from mudra.localization.languages import Languages
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.finding_texts import FORMS
from mudra.registry.payload.validation import check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.shared.finding import Finding

HINDI = Languages().of("hi")
_WORD = re.compile(r"[\u0900-\u097f]{2}")


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    """All that is wrong with any of the wrong payloads."""
    found: list[Finding] = []
    for base, member, value, _, _ in WRONG_MEMBERS + MORE_WRONG:
        raw = changed(base(), member, value)
        checked = check_payload(raw, AddressPolicy(), shipped_vocabulary())
        assert isinstance(checked, list)
        found += checked
    return found


def test_no_finding_of_a_wrong_payload_is_left_in_english(findings: list[Finding]) -> None:
    with written_in(HINDI):
        left = {one.problem for one in findings if said(one.problem).lang}
        without = {one.problem for one in findings if not _WORD.search(said(one.problem).text)}
        allowed = {one.allowed for one in findings if said(one.allowed).lang}

    assert len(findings) > 150
    assert left == without == set()
    # Words of a vocabulary and names of fields are the same in every language.
    words = re.compile(r"[\w#,\[\] -]+")
    assert {one for one in allowed if not words.fullmatch(one)} <= {'""'}


def test_values_are_kept_and_those_of_ours_are_translated() -> None:
    texts = {
        'must not be "100 % {x} %(y)s"': '"100 % {x} %(y)s" नहीं हो सकता',
        "must be a string, not an array": "स्ट्रिंग होनी चाहिए, ऐरे नहीं",
        'is FIP, but the address says "AA"': 'FIP है, लेकिन पते में "AA" है',
    }
    with written_in(HINDI):
        assert {text: said(text).text for text in texts} == texts
        assert said("is something that no rule says").lang == "en"
    with written_in(ENGLISH):
        assert [said(text).text for text in texts] == list(texts)


def test_a_text_is_of_the_form_that_made_it() -> None:
    """No form takes the text of another for its own."""
    with written_in(HINDI):
        for form in FORMS:
            names = dict.fromkeys(re.findall(r"%\((\w+)\)s", form), "7")
            assert said(form % names).text == HINDI.translate(form) % names, form
