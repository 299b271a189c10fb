"""Fences of one key are counted: each is ended by its own change, or by its time."""

from mudra.storage.caching.announcement import Fences

FENCE_S = 10.0


def fenced(*changes: tuple[str, float]) -> Fences:
    fences = Fences()
    for fence_id, at in changes:
        fences.begin("entity:A", fence_id, at)
    return fences


def test_a_fence_holds_its_key_alone_until_its_change_is_over() -> None:
    fences = fenced(("reset", 0))

    assert fences.is_fenced("entity:A", 1)
    assert not fences.is_fenced("entity:B", 1)
    fences.end("entity:A", "reset")
    assert not fences.is_fenced("entity:A", 1)


def test_of_two_fences_of_a_key_one_holds_on_when_the_other_ends() -> None:
    fences = fenced(("reset", 0), ("update", 1))

    fences.end("entity:A", "update")

    assert fences.is_fenced("entity:A", 2)
    fences.end("entity:A", "reset")
    assert not fences.is_fenced("entity:A", 2)


def test_a_change_without_a_fence_ends_none() -> None:
    fences = fenced(("reset", 0))

    fences.end("entity:A", "")
    fences.end("entity:B", "")

    assert fences.is_fenced("entity:A", 1)


def test_a_fence_whose_change_never_ends_is_over_after_its_time() -> None:
    fences = fenced(("lost", 0), ("reset", 4))

    assert fences.is_fenced("entity:A", FENCE_S + 3)
    fences.end("entity:A", "reset")
    assert not fences.is_fenced("entity:A", FENCE_S + 1)


def test_what_is_over_is_forgotten_when_the_key_is_fenced_again() -> None:
    fences = fenced(*((f"lost-{number}", number * 2 * FENCE_S) for number in range(100)))

    assert len(fences._until["entity:A"]) == 1
