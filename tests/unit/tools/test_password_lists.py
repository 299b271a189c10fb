"""The lists of the rules for passwords are as their tool makes them."""

from tools.password_lists import password_lists

from mudra.identity.accounts.password_rules import LISTS


def test_the_file_is_as_the_package_has_it() -> None:
    assert LISTS.read_bytes() == password_lists(), "run python -m tools.password_lists"
