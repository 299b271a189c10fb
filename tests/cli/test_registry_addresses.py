"""`mudra registry addresses` against a service whose members got tokens."""

import json
from dataclasses import replace

from tests.support.registry.registry_members import Registry, approve, payload_of
from tests.support.service import Service, new_address, new_member


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
