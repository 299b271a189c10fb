"""No caller of a node's cache ever gets a value that is older than its call (decision 0003)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.depth import examples

from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.caching.announcement import Announcement, encoded
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.caching.node_cache import NodeCache

KEYS = ("a", "b")
PREFIX = "thing:"
ASKED = (*KEYS, "")
"""The empty key is of all keys together."""
_OFTEN = ["read", "read", "read", "commit", *(f"ask {key}" for key in ASKED)]
_SOMETIMES = ["fail", "hang up", "lose", "listen", *(f"fence {key}" for key in KEYS)]
STEPS = st.lists(st.sampled_from(_OFTEN + _OFTEN + _SOMETIMES), min_size=10, max_size=60)


@dataclass
class Network:
    """A database that another node changes, and the memory of this one; each step is a call."""

    invalidation: CacheInvalidation = field(default_factory=lambda: CacheInvalidation(""))
    versions: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KEYS, 0))
    fences: list[tuple[str, str]] = field(default_factory=list)
    """The fenced keys whose changes are not announced, each with the name of its fence."""
    missed: bool = False
    has_missed: bool = False
    begun: int = 0
    next_step: asyncio.Future[bool] | None = None
    asked: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen, as after the first proof."""
        self.cache = NodeCache(self.invalidation, (PREFIX,), self.read, most=3, at_once=2)
        self.listen()

    def of(self, key: str) -> int:
        """The version of a key, or of all together."""
        return self.versions[key] if key else sum(self.versions.values())

    async def read(self, keys: Sequence[str]) -> Mapping[str, int]:
        """Read in two steps: what is there, and then the answer; either may fail."""
        await self.step()
        found = {key: self.of(key) for key in keys}
        await self.step()
        return found

    async def step(self) -> None:
        self.next_step = asyncio.get_running_loop().create_future()
        if not await self.next_step:
            raise DatabaseUnavailable("gone")

    def go_on(self, *, succeeds: bool) -> None:
        if self.next_step is not None and not self.next_step.done():
            self.next_step.set_result(succeeds)

    async def call(self, key: str) -> None:
        """Ask for a value: it has all that was committed before the call."""
        committed = self.of(key)
        try:
            found = await self.cache.find(key)
        except DatabaseUnavailable:
            return
        assert found >= committed

    def hear(self, kind: str, key: str, fence: str) -> None:
        self.invalidation._apply(encoded(Announcement(kind, PREFIX + key, "another", fence)))

    def fence(self, key: str) -> None:
        """Another node fences a key, and waits until this one knows."""
        self.begun += 1
        self.fences.append((key, str(self.begun)))
        if not self.missed:
            self.hear("fence", key, str(self.begun))

    async def commit(self) -> None:
        """The change of the oldest fence is committed, and then announced."""
        if self.fences:
            key, fence = self.fences.pop(0)
            self.versions[key] += 1
            await settle()
            if not self.missed:
                self.hear("changed", key, fence)

    def lose(self) -> None:
        """The listening connection is lost: changes are missed, and memory is not used."""
        self.missed = self.has_missed = True
        self.invalidation._proven_at = float("-inf")

    def listen(self) -> None:
        """It is there again: anything may have changed."""
        if self.missed and self.fences:
            return  # such a node waits until all of them must be over
        self.missed = False
        self.invalidation._invalidate_everything()
        self.invalidation._proven_at, self.invalidation._settled_at = float("inf"), float("-inf")


async def settle() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


async def play(steps: list[str]) -> None:
    network = Network()
    for step in steps:
        act, _, key = step.partition(" ")
        if act == "ask":
            network.asked.append(asyncio.create_task(network.call(key)))
        elif act == "fence":
            network.fence(key)
        elif act == "commit":
            await network.commit()
        elif act in {"lose", "listen"}:
            getattr(network, act)()
        elif step == "hang up":
            if network.asked:
                network.asked.pop().cancel()
        else:
            network.go_on(succeeds=act != "fail")
        await settle()
        check_memory(network)
    while not all(task.done() for task in network.asked):
        network.go_on(succeeds=True)
        await settle()
    await asyncio.gather(*network.asked)
    check_memory(network)


def check_memory(network: Network) -> None:
    """A value that is used without a read is that of now, and so is the last one of any other."""
    announced = {PREFIX + key for key, _ in network.fences}
    for key in ASKED:
        known, last = network.cache.known(key), network.cache.last(key)
        assert known is None or known.value == network.of(key)
        if key and not network.has_missed:
            assert last is None or last.value == network.of(key)
            assert last is None or PREFIX + key not in announced


@example(["ask a", "read", "fence a", "commit", "read", "ask a"])  # it changes during its read
@example(["ask a", "read", "read", "lose", "fence a", "commit", "listen", "ask a"])
@given(STEPS)
@settings(max_examples=examples(100), deadline=None)
def test_no_caller_gets_a_value_that_is_older_than_its_call(steps: list[str]) -> None:
    asyncio.run(play(steps))
