"""Who somebody is, and what is approved: no one takes a name, and no approval takes what was not seen."""

import re
import uuid
from collections.abc import Callable
from typing import Any, TypeAlias

import httpx2
import pytest
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_members import Registry, approve, payload_of
from tests.support.registry.registry_payloads import fip
from tests.support.service import PASSWORD, Service

Listed: TypeAlias = tuple[Registry, dict[str, Any]]
WIDE = 0xFEE0
BANK = "Narmada Sahakari Bank"


@pytest.fixture(scope="module")
def boss(service: Service) -> Operator:
    return new_operator(service)


def listed(service: Service, name: str, kind: str = "FIP") -> Listed:
    """A live entry of a member that the operator onboarded by this name."""
    registry = Registry(new_member(service, kind, name=name))
    payload = payload_of(registry.member, name=name)
    assert registry.submit(payload).status_code == 200
    approve(registry.member)
    return registry, payload


def renamed(one: Listed, **changes: str) -> httpx2.Response:
    """An update of these fields alone, with the entity's own token."""
    registry, payload = one
    sent = payload_of(registry.member)
    sent["entityinfo"] = payload["entityinfo"] | changes
    return registry.update(sent)


@pytest.fixture(scope="module")
def bank(service: Service) -> str:
    """The name of a live entry."""
    listed(service, BANK)
    return BANK


@pytest.fixture(scope="module")
def other(service: Service) -> Listed:
    """Another live entry."""
    return listed(service, "Godavari Finance", "FIU")


@pytest.mark.parametrize(
    "alike",
    [
        lambda name: name,
        str.upper,
        lambda name: name.replace("a", "а").replace("B", "В"),  # Cyrillic
        lambda name: name.replace("a", "ã"),
        lambda name: "".join(chr(ord(one) + WIDE) if one.isalpha() else one for one in name),
        lambda name: name.replace(" ", "\u00a0 "),
    ],
    ids=["equal", "case", "script", "accent", "width", "spaces"],
)
def test_the_name_of_another_live_entry_is_refused(
    bank: str, other: Listed, alike: Callable[[str], str]
) -> None:
    answer = renamed(other, name=alike(bank))

    assert answer.status_code == 409, answer.text
    said = answer.json()["errorMsg"]
    assert f"entityinfo.name {alike(bank)} is that of another live entry, or looks like it" in said


@pytest.mark.parametrize("unseen", ["\u00ad", "\u2060", "\u3164", "\u2800", "\U000e0041", "\u200d"])
def test_a_name_with_a_character_that_no_one_sees_is_refused(
    bank: str, other: Listed, unseen: str
) -> None:
    answer = renamed(other, name=bank.replace("k", f"k{unseen}"))

    assert answer.status_code == 400
    assert f"U+{ord(unseen):04X}" in answer.text


def test_the_code_of_another_live_entry_is_refused(service: Service, other: Listed) -> None:
    code = listed(service, "Tapti Bank")[1]["entityinfo"]["code"]

    answer = renamed(other, code=code.lower().replace("0", "O"))

    assert answer.status_code == 409
    assert "entityinfo.code" in answer.json()["errorMsg"]


@pytest.mark.parametrize("field", ["name", "code"])
def test_a_new_name_or_code_waits_for_approval(service: Service, field: str) -> None:
    registry, payload = listed(service, f"Sharavathi {field}")
    before = payload["entityinfo"][field]

    answer = renamed((registry, payload), **{field: f"New {before}"})

    shown = registry.get(f"/entityInfo/FIP/{registry.member.entity_id}")
    assert answer.json()["status"] == "submitted"
    assert shown.json()["entityinfo"][field] == before
    approve(registry.member)
    shown = registry.get(f"/entityInfo/FIP/{registry.member.entity_id}")
    assert shown.json()["entityinfo"][field] == f"New {before}"


def test_a_first_entry_takes_no_name_either(service: Service, bank: str) -> None:
    registry = Registry(new_member(service, name="Betwa Bank"))

    assert registry.submit(payload_of(registry.member, name=bank.upper())).status_code == 409


def test_members_that_the_operator_onboarded_by_one_name_share_it(service: Service) -> None:
    listed(service, "Indravati Bank", "FIP")
    listed(service, "Indravati Bank", "FIU")


def test_an_approval_names_what_was_reviewed(service: Service, boss: Operator) -> None:
    registry, payload = listed(service, "Chambal Bank")
    path = f"/registry/entries/{registry.member.entity_id}/decide"
    seen = payload_of(registry.member)
    seen["entityinfo"] = payload["entityinfo"] | {"baseurl": "v2:https://seen.example/v2"}
    assert registry.update(seen).status_code == 200
    (waits,) = [
        one
        for one in boss.get("/registry/waiting").json()["waiting"]
        if one["entityId"] == registry.member.entity_id
    ]
    unseen = payload_of(registry.member)
    unseen["entityinfo"] = payload["entityinfo"] | {"baseurl": "v2:https://evil.example/v2"}
    assert registry.update(unseen).status_code == 200

    without = boss.post(path, act="approve")
    stale = boss.post(path, act="approve", version=waits["version"], hash=waits["hash"])
    wrong = boss.post(path, act="approve", version=waits["version"] + 1, hash=waits["hash"])
    newer = boss.get(f"/registry/entries/{registry.member.entity_id}").json()["versions"][-1]

    assert without.status_code == 400
    assert "version" in without.json()["errorMsg"]
    assert [stale.status_code, wrong.status_code] == [409, 409]
    done = boss.post(path, act="approve", version=newer["version"], hash=newer["hash"])
    assert done.json()["status"] == "live", done.text


def test_the_console_approves_the_content_that_its_page_showed(
    service: Service, boss: Operator
) -> None:
    member = new_member(service, name="Mahanadi Bank")
    assert Registry(member).submit(payload_of(member, name="Mahanadi Bank")).status_code == 200
    browser = reader(service)
    browser.sign_in(boss.email, PASSWORD)
    page = f"/console/operator/approvals/{member.entity_id}"
    shown = re.search(r'name="hash" value="([0-9a-f]{64})"', browser.get(page).text)
    assert shown

    wrong = browser.act(page, page, act="approve", version="1", hash="0" * 64)
    without = browser.act(page, page, act="approve", hash=shown[1])
    right = browser.act(page, page, act="approve", version="1", hash=shown[1])

    assert [wrong.status_code, without.status_code, right.status_code] == [409, 400, 303]


def onboarded_by(operator: Operator, entity_id: str) -> None:
    answer = operator.post(
        "/members",
        entityId=entity_id,
        type="FIP",
        name=f"Bank {entity_id}",
        adminEmail=f"admin@{entity_id.lower()}.example",
    )
    assert answer.status_code in {200, 201}, answer.text


def test_who_onboarded_a_member_does_not_approve_its_first_entry(strict: Service) -> None:
    first, second = new_operator(strict), new_operator(strict)
    entity_id = "ONBOARDED-FIP"
    onboarded_by(first, entity_id)
    other = new_operator(strict)
    payload = fip(uuid.uuid4().int % 10**9 + 10**6, id=entity_id, name=f"Bank {entity_id}")
    sent = httpx2.post(
        f"{strict.root}/cr/v2/entityInfo/FIP",
        json=payload,
        headers=other.headers,
    )
    assert sent.status_code == 200, sent.text
    path = f"/registry/entries/{entity_id}/decide"

    alone = first.post(path, act="approve", version=1)

    assert alone.status_code == 409
    assert "onboarded it" in alone.json()["errorMsg"]
    assert second.post(path, act="approve", version=1).status_code == 200
