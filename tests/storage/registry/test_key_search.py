"""Keys that can be factored are found after their registration, in as many steps however many others come."""

import asyncio
import base64
from collections.abc import Sequence

import gmpy2
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from tests.storage.registry.registry_postgres import RegistryNode, registry_database, registry_node
from tests.support.depth import with_every_change
from tests.support.registry.registry_actions import OPERATOR, checked
from tests.support.registry.registry_payloads import aa, fip, jwk, with_key

from mudra.bootstrap.separate_process.key_search_process import search_apart
from mudra.registry.key_search.key_search import search_next
from mudra.registry.key_search.key_search_store import KeySearches
from mudra.registry.key_search.weak_key import Found, KeyInUse, Step
from mudra.registry.lifecycle.acts.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.decision import RegistryAction

SMALL = 16_777_259
"""The first prime above those for which a registration is refused."""
STEPS = 32


def modulus(number: int) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(jwk(number)["n"] + "=="))


def with_modulus(payload, n: int, kid: str):
    text = base64.urlsafe_b64encode(n.to_bytes(256)).rstrip(b"=").decode()
    payload["entityinfo"]["certificate"] |= {"n": text, "kid": kid}
    return payload


def prime(salt: int, bits: int = 1024) -> int:
    return int(gmpy2.next_prime((3 << (bits - 2)) + (salt << (bits // 2))))


class Searching:
    """A search that notes the steps it is given, and finds what it is given."""

    def __init__(self, *found: Found | None) -> None:
        self.steps: list[Step] = []
        self._found = iter(found)

    async def __call__(self, step: Step) -> Found | None:
        self.steps.append(step)
        return next(self._found, Found())

    def ranges(self) -> list[tuple[list[str], int]]:
        return [
            (sorted(one.entity_id for one in (*step.new, *step.known)), step.begin)
            for step in self.steps
        ]


@pytest.fixture
def registry(tmp_path):
    """Gives a function that runs a coroutine of a node with a fresh database."""
    with registry_database(tmp_path / "data") as conninfo:

        def run(act):
            async def on_node():
                async with registry_node(conninfo) as node:
                    return await act(node)

            return asyncio.run(on_node())

        yield run


async def register(node: RegistryNode, *payloads, approved: bool = True) -> None:
    for payload in payloads:
        await node.run(submit_entry, checked(payload), OPERATOR, approved=approved)


async def steps(node: RegistryNode, search, count: int) -> list[int]:
    return [await search_next(node.database.transaction, search) for _ in range(count)]


async def begin_apart(step: Step) -> Found | None:
    """Search for the first primes of a step: it has the lowest priority next to other tests."""
    return await search_apart(replace(step, end=step.begin + (1 << 16)))


async def weak(node: RegistryNode) -> list[tuple[str, str, str]]:
    async with node.database.transaction() as tx:
        found = await KeySearches(tx).weak(100)
    return sorted((one.entity_id, one.kid, one.weakness.value) for one in found)


async def audited(node: RegistryNode) -> Sequence[tuple[str, str, str]]:
    async with node.database.transaction() as tx:
        rows = await tx.connection.execute(
            sa.text(
                "SELECT entity_id, detail->>'weakness', coalesce(detail->>'sharedWith', '')"
                " FROM audit_event WHERE event = 'registry:key:factor' ORDER BY seq"
            )
        )
        return [tuple(row) for row in rows]


def test_an_empty_registry_has_no_step(registry) -> None:
    search = Searching()

    assert registry(lambda node: steps(node, search, 2)) == [0, 0]
    assert search.steps == []


def test_each_key_is_searched_to_two_to_the_32_and_then_no_more(registry) -> None:
    search = Searching()

    async def act(node):
        await register(node, fip(0))
        await steps(node, search, STEPS + 3)

    registry(act)
    assert len(search.steps) == STEPS
    assert (search.steps[0].begin, search.steps[-1].end) == (2**24, 2**32)
    assert [one.end for one in search.steps[:-1]] == [one.begin for one in search.steps[1:]]
    assert search.steps[0].new[0].modulus == modulus(0)


def test_a_new_key_begins_where_the_search_is_and_is_compared_with_all_others(registry) -> None:
    search = Searching()

    async def act(node):
        await register(node, fip(0))
        await steps(node, search, STEPS)
        await register(node, fip(1))
        await steps(node, search, 2)
        await register(node, aa(2))
        await steps(node, search, 2)

    registry(act)
    first, second, third, fourth = (2**24 + place * 2**27 for place in range(4))
    assert search.ranges()[STEPS:] == [
        (["FIP-1"], first),
        (["FIP-1"], second),
        (["AA-2", "FIP-1"], third),
        (["AA-2", "FIP-1"], fourth),
    ]
    compared = [
        ([one.entity_id for one in step.new], sorted(one.entity_id for one in step.every))
        for step in search.steps[STEPS:]
        if step.new
    ]
    assert compared == [(["FIP-1"], ["FIP-0", "FIP-1"]), (["AA-2"], ["AA-2", "FIP-0", "FIP-1"])]


@pytest.mark.parametrize("between", with_every_change([3], [3, 30]))
def test_who_registers_key_after_key_keeps_no_other_waiting(registry, between: int) -> None:
    """Each key is tried with all primes in its first 32 steps, here of a stream of new keys."""
    search = Searching()
    begun = [f"FIP-{place}" for place in range(2 + STEPS // between)]

    async def act(node):
        for place in range(len(begun)):
            await register(node, fip(place))
            await steps(node, search, between)
        await steps(node, search, STEPS)

    registry(act)
    for place, entity_id in enumerate(begun):
        first = place * between
        tried = [at for at, (tried, _) in enumerate(search.ranges()) if entity_id in tried]
        assert tried == list(range(first, first + STEPS))
        assert len({search.steps[at].begin for at in tried}) == STEPS


def test_a_key_that_was_not_in_use_meanwhile_begins_again(registry) -> None:
    search = Searching()

    async def act(node):
        await register(node, fip(0))
        await register(node, aa(1), approved=False)
        await steps(node, search, 3)
        reject = Command(RegistryAction.REJECT, "AA-1", OPERATOR, reason="not yet", version=1)
        await node.run(decide, reject)
        await steps(node, search, 1)
        again = aa(1) | {"txnid": "6f1c2a4e-0d6b-4c8e-9a53-0000000000ff"}
        await node.run(submit_entry, checked(again), OPERATOR, approved=False)
        await steps(node, search, STEPS + 1)

    registry(act)
    tried = [place for place, (tried, _) in enumerate(search.ranges()) if "AA-1" in tried]
    assert tried == [0, 1, 2, *range(4, 4 + STEPS)]
    assert [one.entity_id for one in search.steps[4].new] == ["AA-1"]


def test_a_step_that_had_no_turn_is_taken_again(registry) -> None:
    search = Searching(None, Found())

    async def act(node):
        await register(node, fip(0))
        await steps(node, search, 3)

    registry(act)
    first, again, next_one = (one.begin for one in search.steps)
    assert first == again == 2**24
    assert next_one > again


def test_a_finding_is_kept_with_one_audit_row_until_the_key_is_replaced(registry) -> None:
    search = Searching(Found(divisible=[0]), Found())

    async def act(node):
        await register(node, fip(0))
        counts = await steps(node, search, 3)
        found = await weak(node)
        replaced = with_key(fip(0), 5) | {"txnid": "6f1c2a4e-0d6b-4c8e-9a53-0000000000ff"}
        await node.run(update_entry, checked(replaced), OPERATOR, approved=True)
        return counts, found, await steps(node, search, 1), await weak(node), await audited(node)

    counts, found, after, left, rows = registry(act)
    assert counts == [1, 1, 1]
    assert found == [("FIP-0", "kid-0", "small-factor")]
    assert (after, left) == ([0], [])
    assert rows == [("FIP-0", "small-factor", "")]
    searched = [(["FIP-0"], 2**24), (["FIP-0"], 2**24 + 2**27)]
    assert search.ranges() == searched, "a key that is known is not searched on"


def test_both_who_share_a_prime_are_named_to_each_other(registry) -> None:
    """Also the one that was searched before, and one whose version waits for approval."""
    search = Searching(Found(), Found(sharing=[(0, 1)]))

    async def act(node):
        await register(node, fip(0))
        await steps(node, search, 1)
        await register(node, aa(1), approved=False)
        return await steps(node, search, 1), await weak(node), await audited(node)

    counts, found, rows = registry(act)
    assert counts == [2]
    assert found == [("AA-1", "kid-20001", "shared-prime"), ("FIP-0", "kid-0", "shared-prime")]
    assert sorted(rows) == [("AA-1", "shared-prime", "FIP-0"), ("FIP-0", "shared-prime", "AA-1")]


def test_keys_of_rejected_versions_and_retired_entries_are_left_out(registry) -> None:
    search = Searching()

    async def act(node):
        await register(node, fip(0))
        await register(node, aa(1), approved=False)
        for command in (
            Command(RegistryAction.RETIRE, "FIP-0", OPERATOR, reason="it left"),
            Command(RegistryAction.REJECT, "AA-1", OPERATOR, reason="wrong key", version=1),
        ):
            decided = await node.run(decide, command)
            assert type(decided).__name__ == "Decision", decided
        await steps(node, search, 1)

    registry(act)
    assert search.steps == []


def test_the_process_apart_finds_a_small_factor_and_a_shared_prime(registry) -> None:
    p, q, r = prime(3), prime(7_777_777), prime(123_456_789)
    weak_one = SMALL * prime(4, 2024)

    async def act(node):
        await register(
            node,
            fip(0),
            with_modulus(fip(1), weak_one, "small"),
            with_modulus(fip(2), p * q, "one"),
            with_modulus(fip(3), p * r, "other"),
        )
        await steps(node, begin_apart, 1)
        return await weak(node)

    assert registry(act) == [
        ("FIP-1", "small", "small-factor"),
        ("FIP-2", "one", "shared-prime"),
        ("FIP-3", "other", "shared-prime"),
    ]


def test_a_search_that_ends_with_an_error_finds_nothing_but_the_error() -> None:
    step = Step(0, 2**24, 2**24 + 100, new=[KeyInUse("FIP-0", "kid-0", "hash", 0)])

    with pytest.raises(ChildProcessError):
        asyncio.run(search_apart(step))
