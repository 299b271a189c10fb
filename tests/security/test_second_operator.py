"""No operator alone gives a member another key or address."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.support.mailbox import mails
from tests.support.members import new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_actions import ENTITY, checked, order, submit, update
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import fip, with_key
from tests.support.service import Service

from mudra.bootstrap.config import load_settings
from mudra.bootstrap.diagnosis.diagnosis import _two_operators
from mudra.registry.lifecycle.actor import member_admin, operator
from mudra.registry.lifecycle.acts.register import preview_submission, submit_or_update
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.refusal import SecondOperatorNeeded

OLGA = operator("operator:olga@network.example", user_id="u-olga")
ROHAN = operator("operator:rohan@network.example", user_id="u-rohan")
APPROVE = RegistryAction.APPROVE
GSP = {"id": "GSP-1", "name": "Gate", "ip": "8.8.4.9", "url": "https://gsp.example/v2"}
PROTECTED = {
    "certificate": lambda: with_key(fip(), 7),
    "baseurl": lambda: fip(baseurl="v2:https://other.example/v2"),
    "ips": lambda: fip(ips=["8.8.4.77"]),
    "gsp": lambda: fip(gsp=GSP),
}


@pytest.fixture
def registry() -> MemoryRegistry:
    """A registry with a live entry that its member submitted, in a network of operators."""
    found = MemoryRegistry()
    found.one_operator = False
    assert isinstance(submit(found, fip(), ENTITY), Decision)
    assert isinstance(order(found, APPROVE, actor=OLGA), Decision)
    return found


@pytest.mark.parametrize("field", PROTECTED)
def test_an_operators_own_change_needs_another_operator(
    registry: MemoryRegistry, field: str
) -> None:
    assert isinstance(update(registry, PROTECTED[field](), OLGA), Decision)

    refused = order(registry, APPROVE, actor=OLGA)

    assert refused == SecondOperatorNeeded("FIP-0", is_admin=False)
    assert "MUDRA_REGISTRY_ONE_OPERATOR=true" in refused.sentence
    assert registry.records["FIP-0"].live.number == 1
    assert isinstance(order(registry, APPROVE, actor=ROHAN), Decision)


@pytest.mark.parametrize("field", PROTECTED)
def test_a_members_own_change_needs_one_operator(registry: MemoryRegistry, field: str) -> None:
    update(registry, PROTECTED[field](), ENTITY)

    assert isinstance(order(registry, APPROVE, actor=OLGA), Decision)


def test_a_first_entry_by_an_operator_needs_another(registry: MemoryRegistry) -> None:
    submit(registry, fip(1), OLGA)

    assert isinstance(order(registry, APPROVE, "FIP-1", OLGA), SecondOperatorNeeded)


def test_an_import_approves_nothing_of_its_own(registry: MemoryRegistry) -> None:
    assert isinstance(submit(registry, fip(1), OLGA, approved=True), SecondOperatorNeeded)
    assert isinstance(
        update(registry, with_key(fip(), 7), OLGA, approved=True), SecondOperatorNeeded
    )
    assert registry.records["FIP-0"].live.number == 1


def test_the_same_import_by_another_operator_approves_it(registry: MemoryRegistry) -> None:
    submit(registry, fip(1), OLGA, approved=True)
    update(registry, with_key(fip(), 7), OLGA, approved=True)

    assert isinstance(submit(registry, fip(1), OLGA, approved=True), SecondOperatorNeeded)
    foreseen = asyncio.run(preview_submission(registry, checked(fip(1)), ROHAN))
    first = asyncio.run(submit_or_update(registry, checked(fip(1)), ROHAN, approved=True))
    changed = update(registry, with_key(fip(), 7), ROHAN, approved=True)

    assert (foreseen.status, first.status, changed.status) == ("live", "live", "live")
    assert registry.records["FIP-0"].live.number == 2


def test_an_operator_who_administers_the_member_approves_nothing_of_it(
    registry: MemoryRegistry,
) -> None:
    both = operator(OLGA.name, user_id="u-olga", administers=["FIP-0"])
    for actor in (ENTITY, member_admin("u-olga", ["FIP-0"]), member_admin("u-asha", ["FIP-0"])):
        registry.records["FIP-0"] = registry.records["FIP-0"]
        update(registry, with_key(fip(), 7 + len(registry.kept)), actor)

        assert order(registry, APPROVE, actor=both) == SecondOperatorNeeded("FIP-0", is_admin=True)


def test_what_someone_submitted_as_admin_or_under_an_earlier_address_is_theirs(
    registry: MemoryRegistry,
) -> None:
    update(registry, with_key(fip(), 7), member_admin("u-olga", ["FIP-0"]))
    assert isinstance(order(registry, APPROVE, actor=OLGA), SecondOperatorNeeded)

    update(registry, with_key(fip(), 8), OLGA)
    moved = operator("operator:olga@elsewhere.example", user_id="u-olga")
    assert isinstance(order(registry, APPROVE, actor=moved), SecondOperatorNeeded)


def test_submitting_again_changes_nothing(registry: MemoryRegistry) -> None:
    update(registry, with_key(fip(), 7), OLGA)
    order(registry, RegistryAction.REJECT, actor=ROHAN, reason="asked the member")
    update(registry, with_key(fip(), 8), OLGA)

    assert isinstance(order(registry, APPROVE, actor=OLGA), SecondOperatorNeeded)
    assert isinstance(order(registry, APPROVE, actor=OLGA, version=2), object)
    assert registry.records["FIP-0"].live.number == 1


def test_a_rollback_to_another_key_waits_for_another_operator(registry: MemoryRegistry) -> None:
    update(registry, with_key(fip(), 7), ENTITY)
    order(registry, APPROVE, actor=OLGA)

    back = order(registry, RegistryAction.ROLL_BACK, actor=OLGA, version=1, reason="a fault")

    assert isinstance(back, Decision)
    assert back.status == "submitted"
    assert registry.records["FIP-0"].live.number == 2
    assert isinstance(order(registry, APPROVE, actor=OLGA), SecondOperatorNeeded)
    assert isinstance(order(registry, APPROVE, actor=ROHAN), Decision)


def test_a_setting_for_networks_with_one_operator_is_said_loudly() -> None:
    for environment, alone in (({}, False), ({"MUDRA_REGISTRY_ONE_OPERATOR": "true"}, True)):
        settings = load_settings(environment)
        (found,) = _two_operators(settings)

        assert settings.one_operator_decides is alone
        assert found.passed is not alone
    assert load_settings({"MUDRA_SANDBOX": "1"}).one_operator_decides


@pytest.fixture(scope="module")
def operators(strict: Service) -> tuple[Operator, Operator]:
    return new_operator(strict, "registry"), new_operator(strict, "registry")


def about_entries(service: Service, email: str) -> list[str]:
    subjects = [mail["subject"] for mail in mails(service, email)]
    return [subject for subject in subjects if "registry entry" in subject]


def test_one_operator_cannot_change_a_members_key_and_the_member_is_notified(
    strict: Service, operators: tuple[Operator, Operator]
) -> None:
    first, second = operators
    member = new_member(strict)
    registry = Registry(member)
    payload = payload_of(member)
    decide = f"/registry/entries/{member.entity_id}/decide"
    assert registry.submit(payload).status_code == 200
    assert first.post(decide, act="approve", version=1).status_code == 200

    changed = with_key(payload_of(member), 4711)
    changed["entityinfo"]["certificate"]["kid"] = f"evil-{member.entity_id}"
    assert registry.update(changed, **first.headers).json()["status"] == "submitted"
    alone = first.post(decide, act="approve", version=2)

    assert alone.status_code == 409
    assert "another operator must approve" in alone.json()["errorMsg"]
    assert second.post(decide, act="approve", version=2).status_code == 200
    for act in ("suspend", "restore", "retire"):
        assert first.post(decide, act=act, reason="asked for").status_code == 200
    shown = [
        subject.partition(": the registry entry ")[2]
        for subject in about_entries(strict, member.email)
    ]
    assert shown == [
        "was submitted for approval",
        "was approved",
        "was changed",
        "was approved",
        "was suspended",
        "was restored",
        "was retired",
    ]


def test_the_email_says_what_differs_and_who_did_it(
    strict: Service, operators: tuple[Operator, Operator]
) -> None:
    member = new_member(strict)
    registry = Registry(member)
    payload = payload_of(member)
    registry.submit(payload)
    decide = f"/registry/entries/{member.entity_id}/decide"
    operators[0].post(decide, act="approve", version=1)
    payload = payload_of(member)
    payload["entityinfo"]["ips"] = ["8.8.4.77"]
    registry.update(payload, **operators[0].headers)
    operators[1].post(decide, act="reject", reason="not asked for")

    found = mails(strict, member.email)
    text = strict.cli("mail", "show", found[-1]["id"]).output

    assert "was rejected" in text
    assert "Reason: not asked for" in text
    assert "8.8.4.77" in text
    assert operators[1].email in text


def test_an_import_is_pending_until_another_operator_imports_the_same_file(
    strict: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "directory.json"
    file.write_text(json.dumps([fip(62_001)]))

    def imported_by(name: str, *options: str) -> str:
        # Commands get what the service was started with: the name of anyone who runs the tests.
        monkeypatch.setitem(strict.environment, "LOGNAME", name)
        command = ("migrate", "registry-file", str(file), "--json", *options)
        return json.loads(strict.cli(*command).stdout)[0]["result"]

    assert [imported_by("olga", "--apply") for _ in range(2)] == ["pending", "pending"]
    assert imported_by("rohan") == "changed"
    assert [imported_by("rohan", "--apply") for _ in range(2)] == ["live", "unchanged"]
