"""Quality A6, A8, A11. Cheap parameters, except where the cost itself is the subject."""

import asyncio
import os
import sys
import threading
import time
import traceback

import pytest
import uvloop
from argon2.exceptions import VerifyMismatchError

from mudra.identity.accounts import password_hash
from mudra.identity.accounts.password_hash import Argon2Passwords
from mudra.identity.accounts.refusals import HashingBusy
from mudra.shared.secret_text import SecretText

QUEUE = 50

PEPPER = bytes(range(32))
OTHER_PEPPER = bytes(range(32, 64))
PASSWORD = SecretText("kettle orbit lantern")


def cheap(pepper: bytes = PEPPER, memory_mib: int = 1, **more) -> Argon2Passwords:
    return Argon2Passwords(pepper, memory_mib, weak=True, **more)


def run(coroutine):
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(coroutine)


def hashed(hasher: Argon2Passwords, password: SecretText = PASSWORD) -> str:
    stored = run(hasher.hash(password))
    assert isinstance(stored, str)
    return stored


def test_the_right_password_matches_and_others_do_not():
    hasher = cheap()
    stored = hashed(hasher)

    assert run(hasher.verify(stored, PASSWORD)) is True
    assert run(hasher.verify(stored, SecretText("kettle orbit lanterN"))) is False
    assert run(hasher.verify(stored, SecretText(""))) is False
    assert run(hasher.verify(stored, SecretText("\ud800" * 20))) is False


def test_a_password_matches_in_both_normal_forms():
    hasher = cheap()
    stored = hashed(hasher, SecretText("caf\u00e9 orbit lantern"))

    assert run(hasher.verify(stored, SecretText("cafe\u0301 orbit lantern"))) is True


def test_nothing_of_a_long_password_is_cut_off():
    hasher = cheap()
    stored = hashed(hasher, SecretText("🐙" * 255 + "a"))

    assert run(hasher.verify(stored, SecretText("🐙" * 255 + "b"))) is False


def test_the_stored_form_names_pepper_and_parameters_and_no_secret():
    stored = hashed(cheap(memory_mib=2))

    assert stored.startswith("p1$argon2id$v=19$m=2048,t=3,p=1$")
    assert "kettle" not in stored


def test_full_strength_is_64_mib_three_times_with_a_pepper():
    """A11: parameters and pepper."""
    stored = hashed(Argon2Passwords(PEPPER, 64))

    assert stored.startswith("p1$argon2id$v=19$m=65536,t=3,p=1$")


def test_less_than_the_minimum_memory_is_refused_unless_permitted():
    with pytest.raises(ValueError, match="at least 19 MiB, not 18"):
        Argon2Passwords(PEPPER, 18)


def test_a_short_pepper_is_refused():
    with pytest.raises(ValueError, match="32 random bytes"):
        cheap(b"short")


def test_another_pepper_makes_the_hash_worthless():
    stored = hashed(cheap())

    assert run(cheap(OTHER_PEPPER).verify(stored, PASSWORD)) is False


def test_a_hash_under_a_previous_pepper_still_matches_and_needs_a_rehash():
    """A11: parameters and pepper."""
    stored = hashed(cheap())
    newer = cheap(OTHER_PEPPER, pepper_version=2, previous_peppers={1: PEPPER})

    assert run(newer.verify(stored, PASSWORD)) is True
    assert newer.needs_rehash(stored)
    assert not newer.needs_rehash(hashed(newer))


def test_other_parameters_ask_for_a_new_hash():
    """A11: parameters and pepper."""
    stored = hashed(cheap(memory_mib=1))

    assert not cheap(memory_mib=1).needs_rehash(stored)
    assert cheap(memory_mib=2).needs_rehash(stored)
    assert run(cheap(memory_mib=2).verify(stored, PASSWORD)) is True


class CountingArgon:
    """Counts how often the real argon2 is asked to do its work."""

    def __init__(self, real) -> None:
        self.real = real
        self.calls = 0

    def verify(self, stored, password):
        # argon2 refuses garbage before it computes anything: that is no hash.
        if stored.startswith("$argon2id$v=19$m="):
            self.calls += 1
        return self.real.verify(stored, password)


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "",
        "garbage",
        "p1$argon2id$garbage",
        "p9$argon2id$v=19$m=1024,t=3,p=1$c29tZXNhbHRzb21l$AAAAAAAAAAAAAAAAAAAAAA",
        "p1$argon2id$v=19$m=1024,t=3,p=1$c29tZXNhbHRzb21l$AAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_each_branch_costs_exactly_one_hash_and_never_matches(stored: str | None):
    """A6: one hash on every branch."""
    hasher = cheap()
    hasher._argon = counting = CountingArgon(hasher._argon)

    assert run(hasher.verify(stored, PASSWORD)) is False
    assert counting.calls == 1


def test_no_hash_takes_as_long_as_a_wrong_password():
    """A6: one hash on every branch."""
    hasher = cheap(memory_mib=8)
    stored = hashed(hasher)

    def took(against: str | None) -> float:
        begin = time.process_time()
        run(hasher.verify(against, SecretText("wrong horse battery")))
        return time.process_time() - begin

    # In turns, and the least of each, of the processor: what else the machine does counts less.
    pairs = [(took(stored), took(None)) for _ in range(15)]
    with_hash, without = (min(times) for times in zip(*pairs, strict=True))

    assert 0.5 < with_hash / without < 2


class GatedArgon:
    """Finishes no hash before the gate is opened."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    def verify(self, _stored, _password):
        self.gate.wait()
        raise VerifyMismatchError


def test_a_flood_is_refused_at_once_beyond_the_queue():
    """A8: hashing is bounded."""
    hasher = cheap()
    hasher._argon = gated = GatedArgon()

    async def flood():
        tries = [asyncio.create_task(hasher.verify(None, PASSWORD)) for _ in range(500)]
        refused, _ = await asyncio.wait(tries, return_when=asyncio.FIRST_COMPLETED)
        gated.gate.set()
        return len(refused), await asyncio.gather(*tries)

    refused_at_once, answers = run(flood())

    assert refused_at_once == 500 - (QUEUE + 1)
    assert answers.count(HashingBusy(retry_after_s=2)) == 500 - (QUEUE + 1)
    assert answers.count(False) == QUEUE + 1
    assert run(hasher.verify(None, PASSWORD)) is False


def test_a_caller_that_waits_too_long_is_refused_with_a_retry_time(monkeypatch: pytest.MonkeyPatch):
    """A8: hashing is bounded."""
    monkeypatch.setattr(password_hash, "WAIT_S", 1.0)
    hasher = cheap(memory_mib=96)

    async def flood():
        return await asyncio.gather(*(hasher.verify(None, PASSWORD) for _ in range(40)))

    answers = run(flood())

    assert HashingBusy(retry_after_s=1) in answers
    assert False in answers


def test_callers_that_go_away_leave_no_place_taken():
    hasher = cheap(memory_mib=8)

    async def give_up():
        tries = [asyncio.create_task(hasher.verify(None, PASSWORD)) for _ in range(QUEUE)]
        await asyncio.sleep(0.01)
        for one in tries:
            one.cancel()
        await asyncio.gather(*tries, return_exceptions=True)
        # Two at once, not more: on a slow machine the last of many waits too long for its turn.
        return [
            await asyncio.gather(hasher.verify(None, PASSWORD), hasher.verify(None, PASSWORD))
            for _ in range(3)
        ]

    assert run(give_up()) == [[False, False]] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a niceness for a thread")
def test_the_hashing_thread_has_lower_priority_than_the_loop():
    """A8: hashing is bounded."""
    hasher = cheap()
    hashed(hasher)

    niceness = {
        thread.name.partition("_")[0]: os.getpriority(os.PRIO_PROCESS, thread.native_id)
        for thread in threading.enumerate()
    }
    hasher.close()

    own = niceness["MainThread"]
    assert niceness["argon2"] == min(own + 5, 19)


def test_the_loop_continues_while_a_password_is_hashed():
    hasher = cheap(memory_mib=64)

    async def ticks():
        hashing = asyncio.create_task(hasher.verify(None, PASSWORD))
        turns = 0
        while not hashing.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert run(ticks()) > 5


def test_no_traceback_and_no_repr_shows_the_password():
    hasher = cheap()
    hasher._argon = None

    try:
        run(hasher.hash(PASSWORD))
    except AttributeError as error:
        shown = "".join(
            traceback.TracebackException.from_exception(error, capture_locals=True).format()
        )

    assert "kettle" not in shown
    assert repr(PEPPER)[2:-1] not in shown
    assert repr(hasher) == "Argon2Passwords(pepper_version=1)"
