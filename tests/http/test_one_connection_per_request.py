"""A request holds one connection of a database at most: a pool of one serves every route.

A request that opened a second one would wait for itself, and answer 503.
"""

import asyncio
import re
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import msgspec
import pytest
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database.template_database import prepare
from tests.support.in_process import InProcess, in_process
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.people.console import Reader
from tests.support.registry.registry_actions import OPERATOR, checked
from tests.support.registry.registry_payloads import aa, fip

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.console.routes import console_pages
from mudra.demo.activation import activate, hash_once
from mudra.http.server.given import Given
from mudra.identity.memberships.onboard import NewMember, onboard_member
from mudra.identity.operators.manage_operators import save_operator
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import owner
from mudra.jobs.key_rotation import maintain_keys
from mudra.registry.lifecycle.acts.register import submit_entry
from mudra.registry.ports import Registry
from mudra.settings.settings import Settings
from mudra.storage.database import database

MAX_CONNECTIONS = 10
MANY = 2 * MAX_CONNECTIONS

AA, FIP, FIU = "SAARTHI-AA", "KAVERI-FIP", "FINSIGHT-FIU"
ADMINS = {AA: "meera@aa.example", FIP: "lakshmi@fip.example", FIU: "asha@fiu.example"}
STAFF = "vikram@network.example"
PASSWORD = "granite otter velvet lamp"
CALLER = Caller("operator:test")
UNKNOWN = str(uuid.UUID(int=0))
PLACES = {
    "entity_id": FIP,
    "entity_type": "FIP",
    "aa_id": AA,
    "fip_id": FIP,
    "grouping": "fip",
    "by": "weeks",
    "role": "FIP",
    "code": "cns",
    "act": "contact",
    "token": "no-such-link",
    "rest": "nowhere",
}
OWN = {"entityId": FIP}
SOMEONE = {**OWN, "email": "ravi@kaveribank.example", "name": "Ravi Iyer"}
LOGIN = {"username": ADMINS[FIP], "password": PASSWORD}
SENT: dict[str, dict[str, object]] = {
    "/iam/v1/user/token/generate": LOGIN,
    "/iam/v1/entity/token/generate": {"id": FIP, "secret": "no-such-secret"},
    "/iam/oauth2/token": {"grant_type": "client_credentials"},
    "/iam/oauth2/introspect": {"token": "none"},
    "/iam/oauth2/revoke": {"token": "none"},
    "/iam/v1/user/password/set": {"token": "x" * 43, "password": "granite otter velvet lamp"},
    "/iam/v1/user/password/forgot": {"username": ADMINS[FIP]},
    "/iam/v1/user/token/revoke": {"jti": UNKNOWN},
    "/iam/v1/user/session/end": {"sessionId": UNKNOWN},
    "/iam/v1/entity/admin/add": SOMEONE,
    "/iam/v1/entity/admin/remove": SOMEONE,
    "/iam/v1/entity/admin/handover": {**OWN, "email": ADMINS[FIP]},
    "/iam/v1/entity/admin/invite-again": {**OWN, "email": "no@fip.example"},
    "/iam/v1/entity/contact/set": SOMEONE,
    "/operator/v1/members": {
        "entityId": "NEW-FIP",
        "type": "FIP",
        "name": "New Bank",
        "adminEmail": "nia@new.example",
    },
    "/operator/v1/members/{entity_id}/status": {"status": "active", "reason": "a test"},
    "/operator/v1/members/bulk": {"act": "invite", "entityIds": ["NO-SUCH"]},
    "/operator/v1/members/import": {
        "csv": "entityId,type,name,adminEmail\nFILE-FIP,FIP,New Bank,file@fip.example\n"
    },
    "/operator/v1/members/admins/add": SOMEONE,
    "/operator/v1/members/admins/remove": SOMEONE,
    "/operator/v1/members/admins/handover": {**SOMEONE, "leaving": "no@fip.example"},
    "/operator/v1/members/contact": SOMEONE,
    "/operator/v1/users/{user_id}/email": {"email": "zoya@network.example"},
    "/operator/v1/operators": {"email": "zoya@network.example", "scopes": ["health"]},
    "/operator/v1/registry/entries/{entity_id}/decide": {"act": "suspend", "reason": "a test"},
    "/operator/v1/health/silences": {"ends": "2099-01-01T00:00:00Z", "reason": "a test"},
    "/operator/v1/announcements": {"title": "Sunday", "text": "Maintenance."},
    "/operator/v1/announcements/{announcement_id}": {"title": "Sunday", "text": "Maintenance."},
    "/operator/v1/levels/reports": {"entityId": FIP, "month": "2026-03"},
    "/metrics/perf/v1/levels/reports": {"month": "2026-03"},
    "/operator/v1/levels/targets": {
        "role": "FIP",
        "measure": "success",
        "value": "97.5",
        "since": "2099-01-01",
        "reason": "a test",
    },
    "/operator/v1/levels/rule": {
        "since": "2099-01-01",
        "noticeHours": 24,
        "hoursAMonth": 24,
        "reason": "a test",
    },
    "/iam/v1/user/alarm/webhooks": {"url": "https://alarms.example/mudra"},
    "/operator/v1/health/webhooks": {"url": "https://alarms.example/mudra"},
    "/metrics/perf/v1/webhooks": {"url": "https://alarms.example/mudra"},
    "/metrics/perf/v1/maintenance": {"ends": "2099-01-01T00:00:00Z", "reason": "a test"},
    "/metrics/perf/v1/push": as_value(request_metrics(aa_id=AA)),
    "/cr/v2/entityInfo/{entity_type}": fip(1, id=FIP),
    "/cr/v2/entityInfo/{entity_type}/{entity_id}": fip(1, id=FIP),
    "/cr/v2/lint/{entity_type}": fip(1, id=FIP),
    "/sandbox/v1/clock": {"advance": "PT0S"},
}
FORM = {"act": "approve", "payload": "{}", "entityId": FIP, "to": ""}
FORMS = {
    *("/iam/v1/user/token/generate", "/iam/v1/entity/token/generate"),
    *("/iam/oauth2/token", "/iam/oauth2/introspect", "/iam/oauth2/revoke"),
}
REFUSED = {
    "POST /iam/v1/entity/token/generate",
    "POST /iam/v1/user/password/set",
    *("POST /iam/oauth2/token", "POST /iam/oauth2/introspect", "POST /iam/oauth2/revoke"),
}
"""Operations whose request here cannot succeed, for want of a secret or a link."""
NOT_SHOWN = {
    "GET /console/nowhere",
    "GET /console/operator/entry",  # wants to know of which member
    f"GET /console/operator/announcements/{UNKNOWN}",
    f"GET /console/operator/disputes/{UNKNOWN}",
    f"GET /console/operator/disputes/{UNKNOWN}/evidence/{UNKNOWN}",
    f"GET /console/entity/{FIP}/disputes/{UNKNOWN}",
    f"GET /console/entity/{FIP}/disputes/{UNKNOWN}/evidence/{UNKNOWN}",
    f"GET /console/operator/incidents/{UNKNOWN}",
    f"GET /console/operator/mails/{UNKNOWN}",
    f"GET /console/account/notifications/{UNKNOWN}",
    f"GET /console/entity/{FIP}/health/incidents/{UNKNOWN}",
    f"GET /console/operator/levels/{UNKNOWN}",
    f"GET /console/entity/{FIP}/levels/{UNKNOWN}",
    f"GET /console/entity/{FIP}/levels/league",  # the operator shows none
}
"""Pages that do not exist here; every other one is shown."""
ACCEPTED_FORMS = 13
"""At least so many forms need no more than the fields of `FORM`; the others are refused."""


class Network:
    """The demonstration network behind one worker, with a token for each kind of caller."""

    def __init__(self, served: InProcess) -> None:
        self.served = served
        self.operator = self._user(STAFF)
        self.admin = self._user(ADMINS[FIP])
        self.entity, self.fiu = self._entity(AA), self._entity(FIU)

    def _user(self, email: str) -> str:
        login = {"username": email, "password": PASSWORD}
        answer = self.served.client().post("/iam/v1/user/token/generate", data=login)
        assert answer.status_code == 200, answer.text
        return answer.json()["accessToken"]

    def _entity(self, entity_id: str) -> str:
        own = self.served.client(self._user(ADMINS[entity_id]))
        read = own.post("/iam/v1/entity/secret/read", json={"entityId": entity_id})
        form = {"id": entity_id, "secret": read.json()["secret"]}
        answer = self.served.client().post("/iam/v1/entity/token/generate", data=form)
        assert answer.status_code == 200, answer.text
        return answer.json()["accessToken"]

    def token_for(self, method: str, path: str) -> str:
        if path.startswith("/operator/") or (path.startswith("/cr/") and method != "GET"):
            return self.operator
        if "/followed-fips" in path:
            return self.fiu
        return self.entity if path.startswith(("/cr/", "/metrics/")) else self.admin

    def call(self, method: str, path: str) -> httpx2.Response:
        url = re.sub(r"\{(\w+)\}", lambda place: PLACES.get(place[1], UNKNOWN), path)
        client = self.served.client(self.token_for(method, path))
        if method == "GET":
            return client.get(url, params={"entityId": FIP} if "/entity/" in path else {})
        if method == "DELETE":
            return client.delete(url, params={"reason": "a test"})
        sent = SENT.get(path, OWN)
        return client.request(method, url, **{"data" if path in FORMS else "json": sent})

    def reader(self, email: str) -> Reader:
        return reader(self.served, email)


def reader(served: InProcess, email: str) -> Reader:
    browser = Reader(served.client(), "")
    signed_in = browser.sign_in(email, PASSWORD)
    assert signed_in.status_code == 303, signed_in.text
    return browser


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, ...]]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("one") / "data", sandbox=True)
    prepare(settings.data_dir)
    # Longer than any request here takes: only one that waits for itself gets no connection.
    with (
        pytest.MonkeyPatch.context() as patch,
        open_store(settings, create=True) as opened,
    ):
        patch.setattr(database, "POOL_WAIT_S", 20.0)
        asyncio.run(_set_up(settings, *opened))
        yield settings, *opened


async def _set_up(settings: Settings, conninfo: str, encryption: Any) -> None:
    dependencies = build_dependencies(settings, conninfo, encryption)
    await maintain_keys(dependencies.transaction)
    with cheap_hashes():
        hashed = await hash_once(dependencies, PASSWORD)
    for entity_id, email in ADMINS.items():
        member = NewMember(entity_id, entity_id[-3:].strip("-"), "A Bank", email, "Lakshmi Iyer")
        async with dependencies.transaction() as tx:
            onboarded = await onboard_member(tx, member, owner(CALLER))
        await activate(dependencies, onboarded.admin, hashed)
    async with dependencies.transaction() as tx:
        made = await save_operator(tx, STAFF, "Vikram", frozenset(Scope), CALLER)
        await submit_entry(tx.service(Registry), checked(fip(1, id=FIP)), OPERATOR, approved=True)
    await activate(dependencies, made.user, hashed)
    await dependencies.invalidation.stop()
    await dependencies.close()


@pytest.fixture(
    scope="module",
    params=["cached", pytest.param("uncached", marks=pytest.mark.slow)],
)
def network(request: pytest.FixtureRequest, store: tuple[Any, ...]) -> Iterator[Network]:
    """A worker with one connection, whose caches are valid, then one whose caches never are."""
    with in_process(*store, connections=1) as served:
        if request.param == "uncached":
            served.edge.dependencies.invalidation.is_valid = lambda _: False
        yield Network(served)


def operations(network: Network) -> list[tuple[str, str]]:
    document = network.served.client().get("/schema/openapi.json").json()
    return [
        (name.upper(), path)
        for path, each in document["paths"].items()
        if not path.endswith("/feed/events")  # a stream does not end by itself
        for name in each
    ]


def test_one_connection_serves_every_operation_of_the_document(network: Network) -> None:
    answers = {
        f"{method} {path}": network.call(method, path) for method, path in operations(network)
    }

    unavailable = [name for name, answer in answers.items() if answer.status_code >= 500]
    unauthorized = {name for name, answer in answers.items() if answer.status_code == 401}
    assert unavailable == []
    assert unauthorized == REFUSED
    assert sum(answer.is_success for answer in answers.values()) > len(answers) / 2


@pytest.mark.slow
def test_one_connection_serves_every_page_of_the_console(network: Network) -> None:
    staff, admin = network.reader(STAFF), network.reader(ADMINS[FIP])
    words = {id(one): one.word("/console/account") for one in (staff, admin)}
    answers = {}
    for url, methods in pages(network):
        browser = staff if "/operator" in url else admin
        for method in methods & {"GET", "POST"}:
            form = {**FORM, "csrf_token": words[id(browser)]}
            answer = browser.get(url) if method == "GET" else browser.post(url, form)
            answers[f"{method} {url}"] = answer

    failed = [name for name, answer in answers.items() if answer.status_code >= 500]
    asked_to_sign_in = [name for name, one in answers.items() if "sign-in?to" in str(one.headers)]
    assert failed == []
    assert asked_to_sign_in == ["POST /console/sign-in/code", "POST /console/sign-out"]
    assert len(answers) > 50
    shown = {name for name, one in answers.items() if one.status_code < 400}
    assert {name for name in answers if name.startswith("GET")} - shown == NOT_SHOWN
    assert sum(name.startswith("POST") for name in shown) >= ACCEPTED_FORMS


def pages(network: Network) -> list[tuple[str, set[str]]]:
    """Each address of the console with its methods, the end of the session last."""
    found = [
        (
            re.sub(r"\{(\w+)[^}]*\}", lambda at: PLACES.get(at[1], UNKNOWN), route.path),
            route.methods,
        )
        for route in console_pages(Given()).routes
    ]
    return sorted(found, key=lambda page: page[0].endswith("/sign-out"))


def test_a_draft_is_submitted_and_decided_with_one_connection(network: Network) -> None:
    staff, admin = network.reader(STAFF), network.reader(ADMINS[AA])
    own, approval = f"/console/entity/{AA}/registration", f"/console/operator/approvals/{AA}"
    payload = msgspec.json.encode(aa(int(time.monotonic()), id=AA)).decode()

    checked = admin.act(own, f"{own}/check", payload=payload)
    submitted = admin.act(own, f"{own}/submit", payload=payload)
    rejected = staff.act(approval, approval, act="reject", reason="a test", version="0")

    assert checked.status_code == 200
    assert submitted.headers["location"].endswith("told=submitted"), submitted.text
    assert rejected.headers["location"].endswith("told=reject"), rejected.text


def test_more_overviews_at_once_than_connections_are_all_served(store: tuple[Any, ...]) -> None:
    with in_process(*store, connections=MAX_CONNECTIONS) as served:
        browser = reader(served, ADMINS[FIP])
        with ThreadPoolExecutor(MANY) as together:
            answers = list(together.map(browser.get, [f"/console/entity/{FIP}"] * MANY))

    assert {answer.status_code for answer in answers} == {200}
