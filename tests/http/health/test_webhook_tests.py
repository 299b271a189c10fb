"""Test messages are counted by whose webhook it is: one that is removed and added counts on."""

from typing import Any

import httpx2
import pytest
from tests.support.alarm_network import as_entity
from tests.support.depth import with_every_change
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

MAX_TESTS = 20

OF_MEMBERS = "/metrics/perf/v1/webhooks"
OF_PEOPLE = "/v1/user/alarm/webhooks"
NOWHERE = {"url": "https://alarms.example/mudra"}


class Hooks:
    """The webhooks of one owner, by the API."""

    def __init__(self, client: httpx2.Client, path: str, headers: dict[str, str]) -> None:
        self._client, self._path, self._headers = client, path, headers

    def add(self) -> str:
        found = self._post("")
        assert found.status_code == 200, found.text
        webhook_id = found.json()["webhook"]["webhookId"]
        assert isinstance(webhook_id, str)
        return webhook_id

    def act(self, webhook_id: str, act: str) -> httpx2.Response:
        return self._post(f"/{webhook_id}/{act}")

    def test_once(self) -> httpx2.Response:
        """Tests one that is added for it, and removes it."""
        webhook_id = self.add()
        answer = self.act(webhook_id, "test")
        assert self.act(webhook_id, "remove").status_code == 200
        return answer

    def _post(self, rest: str) -> httpx2.Response:
        sent = {} if rest else NOWHERE
        return self._client.post(self._path + rest, json=sent, headers=self._headers)


def hooks_of(member: Member) -> Hooks:
    return Hooks(member.client, member.service.root + OF_MEMBERS, as_entity(member))


def own_hooks(member: Member) -> Hooks:
    return Hooks(member.client, OF_PEOPLE, member.bearer())


def hooks_of_network(operator: Operator) -> Hooks:
    url = f"{operator.root}/operator/v1/health/webhooks"
    return Hooks(operator.client, url, operator.headers)


@pytest.mark.parametrize("whose", with_every_change(["network"], ["member", "person", "network"]))
def test_a_webhook_that_is_added_again_has_no_tests_of_its_own(
    service: Service, whose: str
) -> None:
    service.advance("PT1H")  # of the network's webhooks other tests may have tested some
    member, other = new_member(service), new_member(service)
    hooks, others = {
        "member": (hooks_of(member), hooks_of(other)),
        "person": (own_hooks(member), own_hooks(other)),
        "network": (hooks_of_network(new_operator(service, "health")), hooks_of(other)),
    }[whose]

    sent = [hooks.test_once().status_code for _ in range(MAX_TESTS)]
    refused = hooks.test_once()

    assert sent == [200] * MAX_TESTS
    assert (refused.status_code, refused.json()["errorCode"]) == (429, "TooManyAttempts")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert "test messages" in refused.json()["errorMsg"]
    assert others.test_once().status_code == 200
    service.advance("PT1H")
    assert hooks.test_once().status_code == 200


def test_the_page_says_how_long_to_wait_and_an_operator_tests_no_more_of_it(
    service: Service,
) -> None:
    member, hooks = (found := new_member(service)), hooks_of(found)
    assert {hooks.test_once().status_code for _ in range(MAX_TESTS)} == {200}
    webhook_id = hooks.add()
    browser, path = reader(service), f"/console/entity/{member.entity_id}/webhooks"
    browser.sign_in(member.email)

    shown = browser.act(path, f"{path}/{webhook_id}/test")

    assert shown.status_code == 429
    assert "the test messages that one hour permits are used up" in shown.text.lower()
    assert "try again in" in shown.text
    by_operator = hooks_of_network(new_operator(service, "health")).act(webhook_id, "test")
    assert by_operator.status_code == 429


def test_each_test_is_in_the_audit_and_a_refused_one_is_not(service: Service) -> None:
    member = new_member(service)
    hooks = hooks_of(member)
    webhook_id = hooks.add()

    assert hooks.act(webhook_id, "test").status_code == 200
    assert hooks.act(webhook_id, "test").status_code == 409, "one waits"

    (found,) = audited_tests(service, member)
    assert found["actor"] == f"entity:{member.entity_id}"
    assert found["detail"] == {"webhookId": webhook_id, "url": NOWHERE["url"]}


def audited_tests(service: Service, member: Member) -> list[dict[str, Any]]:
    auditor = new_operator(service)
    answer = auditor.get("/audit", event="metrics:webhook:test", entityId=member.entity_id)
    assert answer.status_code == 200, answer.text
    found = answer.json()["events"]
    assert isinstance(found, list)
    return found
