"""How many proofs of one entity are stored, and what counts (decision 0109)."""

import asyncio
from datetime import UTC, datetime, timedelta

from tests.unit.tokens.authentication.proofs_in_memory import ProofsInMemory

from mudra.shared.dpop_proof import DpopProof
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.tokens.authentication.proof_guard import USED, ProofGuard, TooManyProofs

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
BURST = 3


def guarded() -> tuple[ProofGuard, ProofsInMemory, list[float]]:
    memory, seconds = ProofsInMemory(), [0.0]
    rate = KeyedRateLimit(1.0, BURST, lambda: seconds[0])
    return ProofGuard(memory.open, lambda: NOW, rate, lambda memory: memory), memory, seconds


def proof(number: int) -> DpopProof:
    """A proof, each by a key of its own."""
    return DpopProof(f"key-{number}", b"%d" % number, NOW + timedelta(minutes=1))


def test_an_entity_stores_so_many_proofs_whatever_its_keys_and_no_other_notices() -> None:
    guard, memory, seconds = guarded()

    async def story() -> list[object]:
        own = [await guard.use("FLOOD-AA", proof(number)) for number in range(BURST + 1)]
        opened = memory.opened
        own.append(await guard.use("FLOOD-AA", proof(9)))
        assert memory.opened == opened, "no transaction for what is refused anyhow"
        other = await guard.use("KAVERI-FIP", proof(10))
        seconds[0] += 1.0
        return [*own, other, await guard.use("FLOOD-AA", proof(9))]

    waits = TooManyProofs(1)
    assert asyncio.run(story()) == [None] * BURST + [waits, waits, None, None]
    assert memory.stored == {b"0", b"1", b"2", b"9", b"10"}


def test_proofs_that_are_stored_at_the_same_moment_all_count() -> None:
    guard, memory, seconds = guarded()

    async def story() -> list[object]:
        await asyncio.gather(*(guard.use("FLOOD-AA", proof(number)) for number in range(50)))
        seconds[0] = float(len(memory.stored) - BURST)
        early = await guard.use("FLOOD-AA", proof(98))
        seconds[0] += 1.0
        return [early, await guard.use("FLOOD-AA", proof(99))]

    assert asyncio.run(story()) == [TooManyProofs(1), None]
    assert len(memory.stored) == 50 + 1


def test_who_sends_a_copied_proof_again_takes_nothing_of_its_holder_s_limit() -> None:
    guard, memory, _ = guarded()

    async def story() -> list[object]:
        first = await guard.use("KAVERI-FIP", proof(0))
        copies = [await guard.use("KAVERI-FIP", proof(0)) for _ in range(20)]
        assert copies == [USED] * 20
        return [first, await guard.use("KAVERI-FIP", proof(1))]

    assert asyncio.run(story()) == [None, None]
    assert len(memory.stored) == 2


def test_tokens_by_assertion_count_in_their_own_transaction() -> None:
    guard, memory, _ = guarded()

    async def story() -> list[object]:
        return [await guard.store("FLOOD-AA", proof(number), memory) for number in range(BURST + 1)]

    assert asyncio.run(story()) == [None] * BURST + [TooManyProofs(1)]
    assert (len(memory.stored), memory.opened) == (BURST, 0)
