"""Whatever is typed: a verdict, never an exception, and nothing unsafe is kept."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from mudra.identity.accounts.email_address import display_name, normalize_email
from mudra.shared.mail_text import unsafe_in_mail
from mudra.identity.accounts.password_rules import PasswordContext, check_password

CONTEXT = PasswordContext("asha@sunrise.example", "Asha Venkatesan", ("SUN-1",), ("Sunrise",))
any_text = st.text(st.characters(), max_size=300)


@settings(max_examples=200, deadline=None)
@given(any_text)
def test_a_password_in_any_normal_form_gets_the_same_verdict(password: str):
    verdict = check_password(password, CONTEXT)

    for form in ("NFC", "NFD"):
        assert check_password(unicodedata.normalize(form, password), CONTEXT) == verdict


@settings(max_examples=200, deadline=None)
@given(any_text, any_text, st.sampled_from(["venkatesan", "SunRise", "MUDRA", "asha"]))
def test_no_password_that_holds_a_name_is_accepted(before: str, after: str, name: str):
    assert check_password(f"{before} {name} {after}", CONTEXT) is not None


@settings(max_examples=300, deadline=None)
@given(st.one_of(any_text, st.from_regex(r"[^@]{0,20}@[a-zà-ÿ.\-]{0,30}")))
def test_an_accepted_address_is_plain_and_stays_as_it_is(typed: str):
    kept = normalize_email(typed)

    if isinstance(kept, str):
        assert kept.isascii()
        assert kept.isprintable()
        assert not set(kept) & set(' ,;<>()[]"\\')
        assert kept.count("@") == 1
        assert normalize_email(kept) == kept
        assert not unsafe_in_mail(kept)


@settings(max_examples=300, deadline=None)
@given(any_text)
def test_an_accepted_name_is_one_plain_line(typed: str):
    kept = display_name(typed)

    if isinstance(kept, str):
        assert not unsafe_in_mail(kept)
        assert len(kept.splitlines()) == 1
        assert display_name(kept) == kept
