"""What the doctor says of standbys."""

from mudra.storage.database.server.standbys import Slot, Standbys

MAX_BEHIND = 256 << 20


def test_a_server_alone_is_sound() -> None:
    alone = Standbys("", 0, [])

    assert alone.faults() == []
    assert alone.text() == "none"


def test_a_cluster_that_keeps_up_is_sound() -> None:
    found = Standbys(
        'ANY 1 ("pg2","pg3")',
        2,
        [Slot("pg2", is_active=True, behind=1200), Slot("pg3", is_active=True, behind=0)],
    )

    assert found.faults() == []
    assert found.text() == (
        '2 follow, 1,200 bytes behind at most; a commit waits for ANY 1 ("pg2","pg3")'
    )


def test_a_standby_that_is_gone_is_named_with_what_is_kept_for_it() -> None:
    (fault,) = Standbys(
        "", 1, [Slot("pg2", is_active=True, behind=0), Slot("pg3", is_active=False, behind=4096)]
    ).faults()

    assert fault == (
        "pg3 does not follow, and 4,096 bytes of log are kept for it: start it, or drop its slot"
    )


def test_a_standby_far_behind_is_named() -> None:
    (fault,) = Standbys("", 1, [Slot("pg2", is_active=True, behind=MAX_BEHIND + 1)]).faults()

    assert fault.startswith("pg2 is 268,435,457 bytes behind")


def test_commits_that_wait_for_no_one_are_a_fault() -> None:
    (fault,) = Standbys("pg2", 0, []).faults()

    assert "no write can be acknowledged" in fault
