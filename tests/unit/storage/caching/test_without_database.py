"""How long memory may be used while the database is away."""

from mudra.storage.caching.without_database import WithoutDatabase


def known(permitted_s: float) -> WithoutDatabase:
    """Memory that was proven at second 100."""
    found = WithoutDatabase(permitted_s)
    found.asked(100)
    found.proven(100)
    return found


def test_while_the_database_answers_nothing_rests_on_memory() -> None:
    assert not known(60).permits(159)


def test_a_lost_connection_permits_it_for_the_seconds_of_the_setting() -> None:
    found = known(60)
    found.lost()

    assert found.permits(101)
    assert found.permits(160)
    assert not found.permits(160.1)


def test_a_proof_that_is_overdue_permits_it_too() -> None:
    found = known(60)
    found.asked(110)

    assert not found.permits(111)
    assert found.permits(111.1)


def test_by_default_nothing_is_permitted() -> None:
    found = known(0)
    found.lost()

    assert not found.permits(100.1)


def test_a_node_that_was_never_connected_permits_nothing() -> None:
    found = WithoutDatabase(60)
    found.lost()

    assert not found.permits(1)


def test_the_next_proof_ends_it() -> None:
    found = known(60)
    found.lost()
    assert found.permits(101)

    found.proven(102)

    assert not found.permits(103)
    assert found.seconds() == 0
