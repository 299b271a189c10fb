"""Whatever is typed: a verdict, never an exception, and nothing unsafe is kept."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples

from mudra.identity.accounts.email_address import AddressRefused, display_name, normalize_email
from mudra.identity.accounts.password_rules import PasswordContext, check_password
from mudra.shared.mail.mail_text import unsafe_in_mail

pytestmark = pytest.mark.deeper

CONTEXT = PasswordContext("asha@sunrise.example", "Asha Venkatesan", ("SUN-1",), ("Sunrise",))
EXAMPLES = examples(33)
any_text = st.text(st.characters(), max_size=300)
_local = st.from_regex(r"[A-Za-z0-9!#$%&'*+/=^_`{|}~-]{1,9}(\.[a-z0-9+_-]{1,9})?", fullmatch=True)
_domain = st.from_regex(r"([a-zà-ÿ0-9]{1,3}(-?[a-zà-ö0-9]){1,9}\.){1,3}[a-z]{2,9}", fullmatch=True)
_hostile = st.one_of(st.sampled_from(' ,;<>()[]"\\@\r\n\t\0\u200b\u202e'), st.characters())


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Draw an address, which in one of four has a character that may not be there."""
    address = f"{draw(_local)}@{draw(_domain)}"
    if draw(st.integers(0, 3)):
        return address
    at = draw(st.integers(0, len(address)))
    return address[:at] + draw(_hostile) + address[at:]


@settings(max_examples=examples(23), deadline=None)
@given(any_text)
def test_a_password_in_any_normal_form_gets_the_same_verdict(password: str):
    verdict = check_password(password, CONTEXT)

    for form in ("NFC", "NFD"):
        assert check_password(unicodedata.normalize(form, password), CONTEXT) == verdict


@settings(max_examples=examples(23), deadline=None)
@given(any_text, any_text, st.sampled_from(["venkatesan", "SunRise", "MUDRA", "asha"]))
def test_no_password_that_holds_a_name_is_accepted(before: str, after: str, name: str):
    assert check_password(f"{before} {name} {after}", CONTEXT) is not None


def test_an_accepted_address_is_plain_and_stays_as_it_is() -> None:
    accepted: list[str] = []

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(addresses())
    def holds(typed: str) -> None:
        kept = normalize_email(typed)

        if isinstance(kept, str):
            accepted.append(kept)
            assert kept.isascii()
            assert kept.isprintable()
            assert not set(kept) & set(' ,;<>()[]"\\')
            assert kept.count("@") == 1
            assert normalize_email(kept) == kept
            assert not unsafe_in_mail(kept)

    holds()

    assert EXAMPLES / 2 < len(accepted) < EXAMPLES


@settings(max_examples=examples(33), deadline=None)
@given(any_text)
def test_whatever_is_typed_as_an_address_gets_a_verdict(typed: str):
    assert isinstance(normalize_email(typed), (str, AddressRefused))


@settings(max_examples=examples(33), deadline=None)
@given(any_text)
def test_an_accepted_name_is_one_plain_line(typed: str):
    kept = display_name(typed)

    if isinstance(kept, str):
        assert not unsafe_in_mail(kept)
        assert len(kept.splitlines()) == 1
        assert display_name(kept) == kept
