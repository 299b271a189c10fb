"""Which versions of PostgreSQL lack fixes."""

import pytest

from mudra.storage.database.server.server_version import lacking


@pytest.mark.parametrize("version", ["15.0", "15.18", "16.14", "17.10", "18.4", "18"])
def test_a_version_from_before_the_last_known_fixes_lacks_them(version: str) -> None:
    major, _, minor = version.partition(".")

    least = lacking(version)

    assert least is not None
    assert least.startswith(f"{major}.")
    assert int(least.partition(".")[2]) > int(minor or 0)


@pytest.mark.parametrize(
    "version", ["18.6", "18.10", "15.100", "19beta1", "19.0", "of another kind"]
)
def test_newer_ones_and_unknown_ones_do_not(version: str) -> None:
    """By number: 18.10 is newer than 18.6."""
    assert lacking(version) is None
