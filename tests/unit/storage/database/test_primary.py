"""Which primary a process believes."""

import pytest

from mudra.storage.database.primary import Lineage, SupersededPrimary, Timeline


def test_a_timeline_that_another_has_followed_is_refused() -> None:
    lineage = Lineage()
    lineage.admit(Timeline("7", 3))
    lineage.admit(Timeline("7", 4))

    with pytest.raises(SupersededPrimary, match="timeline 3 was followed by 4"):
        lineage.admit(Timeline("7", 3))
    assert not lineage.is_current(Timeline("7", 3))
    assert lineage.is_current(Timeline("7", 4))


def test_another_cluster_has_timelines_of_its_own() -> None:
    """As after a dump was restored elsewhere."""
    lineage = Lineage()
    lineage.admit(Timeline("7", 3))

    lineage.admit(Timeline("8", 1))

    assert lineage.newest == Timeline("8", 1)


def test_only_a_change_is_a_fail_over() -> None:
    lineage = Lineage()
    lineage.admit(Timeline("7", 3))
    lineage.admit(Timeline("7", 3))
    assert lineage.changed_at == float("-inf")

    lineage.admit(Timeline("7", 4))

    assert lineage.changed_at > 0


def test_a_connection_that_says_nothing_of_itself_is_current() -> None:
    lineage = Lineage()
    lineage.admit(Timeline("7", 3))

    assert lineage.is_current(None)
