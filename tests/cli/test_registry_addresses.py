"""`mudra registry addresses` against a service whose members got tokens."""

import json
from dataclasses import replace
from typing import Final

import sqlalchemy as sa
from tests.support.http_clients import new_address
from tests.support.members import new_member
from tests.support.registry.registry_members import Registry, approve, live_entry, payload_of
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies

FILLED: Final = sa.text(
    "INSERT INTO secret_use SELECT entity_id, version, '2001:db8::' || to_hex(n), 1, 0, :now"
    " FROM entity_secret, generate_series(1, 1000) n"
    " WHERE entity_id = :entity_id AND state = 'current'"
)


def report(service: Service) -> dict[str, dict[str, int]]:
    """The addresses that each entity's entry does not list, and how often they got a token."""
    seen = json.loads(service.cli("registry", "addresses", "--json").stdout)
    found: dict[str, dict[str, int]] = {one: {} for one in seen["unbound"]}
    for one in seen["foreign"]:
        found.setdefault(one["entityId"], {})[one["address"]] = one["tokens"]
    return found


def test_a_token_from_an_address_that_the_entry_does_not_list_is_shown(service: Service) -> None:
    local, second = new_address(), new_address()
    member = replace(new_member(service), client=service.client(local))
    registry = Registry(member)
    service.wait_until(lambda: report(service).get(member.entity_id) == {})  # no entry: unbound
    payload = payload_of(member)
    payload["entityinfo"]["ips"] = ["203.0.113.7"]
    assert registry.submit(payload).status_code == 200
    approve(member)

    assert report(service)[member.entity_id] == {local: 1}

    other = service.client(second)
    form = {"id": member.entity_id, "secret": registry.secret}
    assert other.post("/v1/entity/token/generate", data=form).status_code == 200
    service.wait_until(lambda: len(report(service)[member.entity_id]) == 2)
    listed = payload_of(member)
    listed["entityinfo"]["certificate"] = payload["entityinfo"]["certificate"]
    listed["entityinfo"]["ips"] = [local, second]
    assert registry.update(listed).status_code == 200
    approve(member)
    assert member.entity_id not in report(service)


def test_what_comes_from_further_addresses_is_shown_together(service: Service) -> None:
    registry, _ = live_entry(service)
    entity_id = registry.member.entity_id

    async def fill(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            await transaction.connection.execute(
                FILLED, {"entity_id": entity_id, "now": await transaction.now()}
            )

    service.wait_until(lambda: sum(report(service).get(entity_id, {}).values()) == 1)
    service.in_store(fill)
    form = {"id": entity_id, "secret": registry.secret}
    for _ in range(2):
        program = service.client(new_address())
        assert program.post("/v1/entity/token/generate", data=form).status_code == 200

    service.wait_until(lambda: report(service)[entity_id].get("(others)") == 2)
    assert len(report(service)[entity_id]) == 1002
