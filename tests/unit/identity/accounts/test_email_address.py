import pytest

from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalize_email,
)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("admin@bank.example", "admin@bank.example"),
        (" Admin@Bank.EXAMPLE ", "admin@bank.example"),
        ("asha.rao+aa@bank.co.in", "asha.rao+aa@bank.co.in"),
        ("o'neil@bank.example", "o'neil@bank.example"),
        ("admin@बैंक.भारत", "admin@xn--i1b2bwdrf.xn--h2brj9c"),
        ("admin@BÜCHER.example", "admin@xn--bcher-kva.example"),
        ("admin@xn--bcher-kva.example", "admin@xn--bcher-kva.example"),
        ("mudra@localhost", "mudra@localhost"),
        ("a" * 64 + "@bank.example", "a" * 64 + "@bank.example"),
    ],
)
def test_an_address_is_kept_in_the_form_in_which_it_is_compared(typed: str, kept: str):
    assert normalize_email(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "@",
        "admin",
        "admin@",
        "@bank.example",
        "a@b@bank.example",
        "admin@bank.example,eve@evil.example",
        "admin@bank.example;eve@evil.example",
        "admin@bank.example eve@evil.example",
        "Asha <admin@bank.example>",
        "<admin@bank.example>",
        "admin@bank.example (comment)",
        '"admin"@bank.example',
        '"a b"@bank.example',
        "admin@[127.0.0.1]",
        "admin@127.0.0.1",
        "admin@bank..example",
        "admin@.bank.example",
        "admin@-bank.example",
        "admin@bank-.example",
        ".admin@bank.example",
        "admin.@bank.example",
        "ad..min@bank.example",
        "admin@bank.example\r\nBcc: eve@evil.example",
        "admin\n@bank.example",
        "admin@bank.example\x00",
        "admin@bank.example\u2028x",
        "=?utf-8?q?admin?=@bank.example",
        "admin@=?utf-8?q?bank?=.example",
        "ädmin@bank.example",
        "admin@straße.example",
        "admin@bank_x.example",
        "a" * 65 + "@bank.example",
        "a@" + "b" * 64 + ".example",
        "a@" + ".".join(["b" * 60] * 5),
        "a" * 1_000_000 + "@bank.example",
    ],
)
def test_what_is_not_one_plain_address_is_refused(typed: str):
    assert isinstance(normalize_email(typed), AddressRefused)


def test_an_address_is_normalised_once_and_for_all():
    once = normalize_email("Admin@BÜCHER.example")

    assert isinstance(once, str)
    assert normalize_email(once) == once


@pytest.mark.parametrize(
    "name", ["Asha Rao", "José Núñez", "नवजीवन बैंक", "O'Neil & Sons (India)", "क्\u200dष", "x" * 100]
)
def test_a_name_of_any_script_is_kept(name: str):
    assert display_name(f" {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 101,
        "x" * 1_000_000,
        "Asha\r\nBcc: eve@evil.example",
        "Asha\tRao",
        "Asha\x00",
        "Asha\x85Rao",
        "Asha\u2028Rao",
        "Asha\u2029Rao",
        "Asha \u202eoaR",
        "Asha\u200bRao",
        "=?utf-8?q?hi=0ABcc=3A_evil?=",
        "Asha =? Rao",
        "Asha\ud800",
        "see https://evil.example",
    ],
)
def test_a_name_that_could_harm_a_mail_is_refused(name: str):
    assert isinstance(display_name(name), NameRefused)
