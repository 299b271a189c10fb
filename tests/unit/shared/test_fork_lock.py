"""A lock of a parent's thread does not hold up the child of a fork."""

import pytest
from tests.unit.forked_child import says_yes

from mudra.shared.waiting.fork_lock import ForkLock


def test_a_lock_that_was_held_at_the_fork_is_free_in_the_child():
    lock = ForkLock()

    with lock:
        assert says_yes(lambda: lock.acquire(blocking=False))
        assert not lock.acquire(blocking=False)


def test_it_is_a_lock():
    lock = ForkLock()

    assert lock.acquire()
    assert not lock.acquire(blocking=False)
    lock.release()
    with lock:
        assert not lock.acquire(blocking=False)
    with pytest.raises(RuntimeError):
        lock.release()
