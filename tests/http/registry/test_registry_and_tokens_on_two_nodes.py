"""What the registry says of an entity ends and gives back its tokens on every node at once.

Two `mudra serve` with nothing in common but the database and the master key. A
suspension is carried out on node A; node B is asked only after A has answered, and
its very first answer counts.
"""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
from tests.support.database.own_postgres import own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service

from mudra.storage.crypto.encryption_keys import load_data_encryption
from mudra.storage.crypto.master_key import FILE

ROUNDS = 3


@dataclass(frozen=True)
class TwoNodes:
    """Node A with an operator signed in at it, and node B."""

    a: Service
    b: Service
    operator: Operator

    def decide(self, entity_id: str, act: str, version: int = 0) -> str:
        """Decide on an entry at node A; gives its status."""
        path = f"/registry/entries/{entity_id}/decide"
        answer = self.operator.post(path, act=act, reason="a test", version=version)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["standing"])

    def member_status(self, entity_id: str, status: str) -> httpx2.Response:
        """Change a member's status at node A."""
        path = f"/members/{entity_id}/status"
        return self.operator.post(path, status=status, reason="a test")


@dataclass(frozen=True)
class Asked:
    """Asks node B for tokens of one entity."""

    client: httpx2.Client
    form: dict[str, str]

    def status(self) -> int:
        return self.client.post("/v1/entity/token/generate", data=self.form).status_code


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoNodes]:
    folder = tmp_path_factory.mktemp("nodes")
    homes = [folder / name / "data" for name in ("a", "b")]
    for home in homes:
        home.mkdir(parents=True, mode=0o700)
    with own_postgres(folder / "database") as conninfo:
        load_data_encryption(conninfo, homes[0], create=True)
        shutil.copy2(homes[0] / FILE, homes[1] / FILE)
        shared = {"MUDRA_DATABASE_URL": conninfo}
        with (
            running_service(homes[0], sandbox=False, keeps_store=True, **shared) as a,
            running_service(homes[1], sandbox=False, **shared) as b,
        ):
            yield TwoNodes(a, b, new_operator(a, "registry", "members"))


@pytest.fixture(scope="module")
def entity(nodes: TwoNodes) -> tuple[str, Asked, Registry]:
    """An entity with a live entry, which node B knows by heart; each test leaves it so."""
    return live_entity(nodes)


def live_entity(nodes: TwoNodes) -> tuple[str, Asked, Registry]:
    registry = Registry(new_member(nodes.a, "FIP"))
    assert registry.submit(payload_of(registry.member)).status_code == 200
    entity_id = registry.member.entity_id
    assert nodes.decide(entity_id, "approve", version=1) == "live"
    asked = Asked(nodes.b.client(), {"id": entity_id, "secret": registry.secret})
    assert {asked.status() for _ in range(5)} == {200}
    return entity_id, asked, registry


def test_a_suspension_on_one_node_stops_tokens_on_the_other_at_its_first_answer(
    nodes: TwoNodes, entity: tuple[str, Asked, Registry]
) -> None:
    entity_id, asked, registry = entity
    own = f"{nodes.b.root}/cr/v2/entityInfo/FIP/{entity_id}"
    slowest = 0.0

    for _ in range(ROUNDS):
        assert nodes.decide(entity_id, "suspend") == "suspended"
        answered = time.monotonic()
        first = asked.status()
        slowest = max(slowest, time.monotonic() - answered)
        read = httpx2.get(own, headers=registry.entity, verify=NO_TLS).status_code
        assert (first, read) == (401, 401)
        assert nodes.decide(entity_id, "restore") == "live"
        assert asked.status() == 200

    print(f"{ROUNDS} suspensions: refused by the other node within {slowest * 1000:.0f} ms")


def test_a_suspension_on_one_node_is_in_the_other_nodes_next_revocation_list(
    nodes: TwoNodes, entity: tuple[str, Asked, Registry]
) -> None:
    entity_id, asked, _ = entity

    def listed() -> int:
        listed = asked.client.get("/revocations").json()["notBefore"].get(entity_id, 0)
        assert isinstance(listed, int)
        return listed

    for _ in range(ROUNDS):
        before = time.time()
        nodes.decide(entity_id, "suspend")
        suspended = listed()
        nodes.decide(entity_id, "restore")
        assert listed() < before <= suspended


def test_a_retirement_on_one_node_ends_tokens_on_the_other_for_good(
    nodes: TwoNodes,
) -> None:
    entity_id, asked, _ = live_entity(nodes)

    assert nodes.decide(entity_id, "retire") == "retired"

    assert asked.status() == 401
    assert nodes.member_status(entity_id, "active").status_code == 409
    assert asked.status() == 401


def test_a_suspended_entry_keeps_its_member_from_tokens_whatever_the_member_status_says(
    nodes: TwoNodes, entity: tuple[str, Asked, Registry]
) -> None:
    entity_id, asked, _ = entity
    nodes.decide(entity_id, "suspend")

    refused = nodes.member_status(entity_id, "active")
    by_command = nodes.b.cli("member", "restore", entity_id, "--reason", "x", check=False)

    assert refused.status_code == 409
    assert refused.json()["errorMsg"] == (
        f"the registry entry of {entity_id} is suspended: restore the entry first, "
        f"with mudra registry restore {entity_id}"
    )
    assert by_command.exit_code == 1
    assert "is suspended: restore the entry first" in by_command.output
    assert asked.status() == 401
    assert nodes.decide(entity_id, "restore") == "live"


def test_a_restored_entry_gives_no_tokens_to_a_member_suspended_as_such(
    nodes: TwoNodes, entity: tuple[str, Asked, Registry]
) -> None:
    entity_id, asked, _ = entity
    assert nodes.member_status(entity_id, "suspended").json()["status"] == "suspended"
    nodes.decide(entity_id, "suspend")

    assert nodes.decide(entity_id, "restore") == "live"
    entry_alone = asked.status()
    both = nodes.member_status(entity_id, "active")

    assert (entry_alone, both.json()["status"], asked.status()) == (401, "active", 200)
