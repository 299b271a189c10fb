"""A signing key that was dropped stays so: on a node with a late clock, and after a restore."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx2
import jwt
import pytest
from tests.faults.postgres.second_place import until_exported
from tests.support.forked_command import run_mudra
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.nodes import CALLER, Nodes, two_nodes
from tests.support.passkeys import PROVE, fetch, named_service, new_passkey
from tests.support.people.console import reader
from tests.support.people.second_factor import PAGE
from tests.support.process import running_service
from tests.support.service import Service

from mudra.audit.event import EventName
from mudra.identity.accounts.people_store import People
from mudra.jobs.key_rotation import maintain_keys
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.node_keys import NodeKeys
from mudra.tokens.signing_keys.signing_key_service import KeyChange, SigningKeyService

KEY_CHANGE_S = 60.0

ENTITY = TokenKind.ENTITY
BOTH = frozenset(TokenKind)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        running.do(maintain_keys(running.a.dependencies.transaction))
        yield running


async def rotate_in_an_emergency(nodes: Nodes) -> list[KeyChange]:
    async with nodes.a.dependencies.transaction(within_s=KEY_CHANGE_S) as tx:
        now = await People(tx).now()
        return list(await tx.service(SigningKeyService).rotate(BOTH, CALLER, now, emergency=True))


async def drop(nodes: Nodes, *kids: str) -> list[tuple[EventName, str]]:
    async with nodes.a.dependencies.transaction(within_s=KEY_CHANGE_S) as tx:
        changes = await tx.service(SigningKeyService).drop(kids, CALLER, await People(tx).now())
    return [(one.event, one.kid) for one in changes]


def keys_of_b(nodes: Nodes) -> NodeKeys:
    found = nodes.b.dependencies
    return NodeKeys(found.database, found.invalidation, found.clock, "JWT")


def test_a_node_whose_clock_is_behind_takes_part_in_an_emergency_at_once(nodes: Nodes) -> None:
    keys, clock = keys_of_b(nodes), nodes.b.dependencies.clock
    nodes.do(keys.ready())
    dropped = keys.signing_kid(ENTITY)

    clock.offset = -timedelta(seconds=20)
    try:
        changes = nodes.do(rotate_in_an_emergency(nodes))
        nodes.do(keys.ready())

        assert dropped in {one.kid for one in changes if one.event is EventName.KEYS_SIGNING_DROP}
        assert keys.find_key(dropped) is None
        assert dropped not in keys.published_kids()
        assert keys.signing_kid(ENTITY) != dropped
    finally:
        clock.offset = timedelta()


def test_a_pending_key_that_is_dropped_leaves_the_signing_one_alone(nodes: Nodes) -> None:
    keys = keys_of_b(nodes)
    nodes.do(keys.ready())
    signs, kids = keys.signing_kid(ENTITY), keys.published_kids()
    (pending,) = (kid for kid in kids if keys.find_key(kid)[0] is ENTITY and kid != signs)

    assert nodes.do(drop(nodes, pending, "unknown")) == [(EventName.KEYS_SIGNING_DROP, pending)]
    assert nodes.do(drop(nodes, pending)) == []
    assert nodes.do(drop(nodes)) == []
    nodes.do(keys.ready())

    assert keys.signing_kid(ENTITY) == signs
    assert keys.find_key(pending) is None


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A sandbox with passkeys, which is backed up and restored elsewhere."""
    with named_service(tmp_path_factory.mktemp("original") / "data") as running:
        yield running


def active(service: Service, kind: str = "entity") -> str:
    rows = json.loads(service.cli("keys", "list", "--json").stdout)
    (kid,) = (row["kid"] for row in rows if row["kind"] == kind and row["state"] == "active")
    return str(kid)


def published(service: Service) -> set[str]:
    answer = httpx2.get(f"{service.issuer}/.well-known/jwks.json", verify=NO_TLS)
    return {key["kid"] for key in answer.json()["keys"]}


def back_up(service: Service, folder: Path) -> tuple[Path, Path]:
    identity = folder / "backup.key"
    public = service.cli("backup", "key", str(identity)).stdout.strip()
    service.cli("backup", "create", "--to", str(folder / "kept"), "--recipient", public)
    (file,) = (folder / "kept").glob("*.dump.age")
    return file, identity


def restored(service: Service, file: Path, identity: Path, folder: Path) -> dict[str, object]:
    """Restore with the master key and the second place, as the how-to has it."""
    folder.mkdir(mode=0o700)
    for name in ("master.key", "audit-checkpoints.jsonl"):
        (folder / name).write_bytes((service.data_dir / name).read_bytes())
        (folder / name).chmod(0o600)
    words = ("restore", str(file), "--identity", str(identity), "--json")
    done = run_mudra(*words, MUDRA_DATA_DIR=str(folder))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert isinstance(report, dict)
    return report


def remove_a_passkey(service: Service, member: Member) -> None:
    """Remove the stolen one of two, proving by the other."""
    browser = reader(service)
    browser.sign_in(member.email)
    stolen = new_passkey(browser, service, "Stolen")
    kept = new_passkey(browser, service, "Kept", passkey=stolen.later(5).get(fetch(browser, PROVE)))
    own = browser.get(PAGE).text.split('name="id" value="')[1].split('"')[0]
    proof = {"passkey": kept.later(5).get(fetch(browser, PROVE))}
    done = browser.act(PAGE, f"{PAGE}/passkey/remove", id=own, **proof)
    assert done.headers["location"].endswith("passkey-removed")


@pytest.mark.slow
def test_a_restore_brings_back_no_key_that_was_dropped_and_names_what_else_it_does(
    service: Service, tmp_path: Path
) -> None:
    member = new_member(service)
    secret, leaked = member.secret(), active(service)
    token = member.entity_token(secret).json()["accessToken"]
    file, identity = back_up(service, tmp_path)
    remove_a_passkey(service, member)
    service.cli("keys", "rotate", "--emergency", "--kind", "entity")
    until_exported(service, "keys:signing:drop")  # and so is what came before it

    report = restored(service, file, identity, tmp_path / "data")
    lost = {str(act["event"]) for act in report["lost"]}
    with running_service(tmp_path / "data") as again:
        shown = json.loads(again.cli("audit", "lost", "--json").stdout)
        kids, signs = published(again), active(again)
        fresh = httpx2.post(
            f"{again.issuer}/v1/entity/token/generate",
            data={"id": member.entity_id, "secret": secret},
            verify=NO_TLS,
        ).json()["accessToken"]
        old = again.introspected(token, member.entity_id, secret)

    assert jwt.get_unverified_header(token)["kid"] == leaked
    assert leaked not in kids
    assert old == {"active": False}
    assert jwt.get_unverified_header(fresh)["kid"] == signs != leaked
    assert {"keys:signing:drop", "user:factor:add", "user:factor:remove"} <= lost
    assert {act["event"] for act in shown} == lost
    assert report["keysDroppedAgain"] == 1
