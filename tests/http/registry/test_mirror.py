"""A mirror that follows `changes` over HTTP, through restarts of itself and of those who write.

Restarts of the node that serves it: tests/storage/registry/test_registry_storage.py.
"""

import asyncio
import random
import time
from pathlib import Path

import pytest
from tests.storage.registry.registry_postgres import RegistryNode, registry_node
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.registry.registry_actions import OPERATOR, checked
from tests.support.registry.registry_payloads import aa, fip, fiu
from tests.support.service import Service

from mudra.bootstrap.node.serve import open_store
from mudra.client import Directory, EntityTokenSource, TokenVerifier
from mudra.client.directory.copy import DirectoryCopy
from mudra.registry.directory.directory import visibility_of
from mudra.registry.lifecycle.acts.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.settings.settings import Settings
from mudra.shared.entity_type import EntityType

MAKERS = (fip, fiu, aa)


class Writer:
    """Changes the registry as a node of its own; each act changes what the directory shows."""

    def __init__(self, node: RegistryNode, members: int, seed: int) -> None:
        self.node, self.members = node, members
        self.chance = random.Random(seed)
        self.status: dict[int, str] = {}
        self.count = 0

    async def act(self) -> None:
        number = self.chance.randrange(self.members)
        make = MAKERS[number % len(MAKERS)]
        payload = make(number, tags=f"Tag {self.count}")
        entity_id, run = payload["entityinfo"]["id"], self.node.run
        status = self.status.get(number, "none")
        if status == "none":
            done = await run(submit_entry, checked(payload), OPERATOR, approved=True)
            self.status[number] = "live"
        elif status == "suspended":
            done = await run(decide, Command(RegistryAction.RESTORE, entity_id, OPERATOR))
            self.status[number] = "live"
        elif self.chance.random() < 0.15:
            done = await run(decide, Command(RegistryAction.SUSPEND, entity_id, OPERATOR, "a test"))
            self.status[number] = "suspended"
        else:
            done = await run(update_entry, checked(payload), OPERATOR)
        assert isinstance(done, Decision), done
        assert done.publication is not None
        self.count += 1


class FollowingMember:
    """A member's program that starts again for each look, with its copy in a file."""

    def __init__(self, service: Service, file: Path) -> None:
        self.member, self.file = new_member(service, "AA"), file
        self.secret = self.member.secret()

    def follow(self, service: Service) -> DirectoryCopy:
        tokens = EntityTokenSource(service.issuer, self.member.entity_id, lambda: self.secret)
        verifier = TokenVerifier(service.issuer, wall=service.wall)
        registry = f"{service.root}/cr/v2"
        directory = Directory(registry, tokens, verifier, file=self.file, wall=service.wall)
        directory.refresh()
        return directory._following.copy


async def write(conninfo: str, writer_of: list[Writer], acts: int, members: int, seed: int) -> str:
    """Do so many acts; gives the hash that an AA without an entry must come to."""
    async with registry_node(conninfo) as node:
        writer = writer_of[0] if writer_of else Writer(node, members, seed)
        writer.node = node
        writer_of[:] = [writer]
        for _ in range(acts):
            await writer.act()
        return (await node.log.current()).hash(visibility_of(EntityType.AA, "NOT-LISTED"))


@pytest.mark.parametrize(
    ("changes", "members", "rounds"),
    [(40, 20, 2), pytest.param(10_000, 300, 25, marks=pytest.mark.slow)],
)
def test_a_mirror_proves_itself_complete_through_changes_and_restarts(
    tmp_path: Path, changes: int, members: int, rounds: int
):
    data_dir, writer_of = tmp_path / "data", []
    started = time.monotonic()
    with running_service(data_dir, keeps_store=True) as service:
        follower = FollowingMember(service, tmp_path / "copy.json")
        mirror, truth = follow_rounds(service, follower, writer_of, changes, members, rounds)

    assert writer_of[0].count == changes
    assert mirror.hash() == truth
    assert len(mirror.entries) > members / 4
    print(f"{changes} changes: {time.monotonic() - started:.0f} s")


def follow_rounds(
    service: Service,
    follower: FollowingMember,
    writer_of: list[Writer],
    changes: int,
    members: int,
    rounds: int,
) -> tuple[DirectoryCopy, str]:
    with open_store(Settings(data_dir=service.data_dir), create=False) as (conninfo, _):
        for number in range(rounds):
            acts = changes // rounds + (changes % rounds if number == 0 else 0)
            truth = asyncio.run(write(conninfo, writer_of, acts, members, 7))
            mirror = follower.follow(service)
            assert mirror.hash() == truth
    return mirror, truth
