"""Clients of today's network change addresses only: what they call, and how they are answered.

An operator switches it on: an earlier identity server's realm, and the registry's published form.
"""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service

REALM = "/auth/realms/network"
BELOW = "/protocol/openid-connect"


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("moved") / "data"
    settings = {
        "MUDRA_REALM_PATHS": f"{REALM},/auth/realms/older",
        "MUDRA_REGISTRY_PUBLISHED_RESPONSES": "true",
    }
    with running_service(data_dir, keeps_store=True, **settings) as service:
        yield service


@pytest.mark.parametrize("path", [REALM, "/auth/realms/older"])
def test_keys_and_tokens_are_at_the_addresses_of_the_realm(moved: Service, path: str) -> None:
    member = new_member(moved)
    own = member.client.get(f"{BELOW}/certs")

    keys = httpx2.get(f"{moved.root}{path}{BELOW}/certs", verify=NO_TLS)
    token = httpx2.post(
        f"{moved.root}{path}{BELOW}/token",
        data={
            "grant_type": "client_credentials",
            "client_id": member.entity_id,
            "client_secret": member.secret(),
        },
        verify=NO_TLS,
    )

    assert keys.content == own.content
    assert token.status_code == 200
    secret = member.secret()
    assert moved.introspected(token.json()["access_token"], member.entity_id, secret)["active"]


def test_without_the_setting_there_is_no_realm(service: Service) -> None:
    answer = httpx2.get(f"{service.root}{REALM}{BELOW}/certs", verify=NO_TLS)

    assert answer.status_code == 404


def published(answer: httpx2.Response) -> tuple[int, str]:
    body = answer.json()
    assert answer.headers["content-length"] == str(len(answer.content))
    assert {"ver", "timestamp"} <= body.keys()
    return body["responseCode"], body["responseText"]


def test_the_registry_answers_writes_and_refusals_as_it_was_published(moved: Service) -> None:
    registry = Registry(new_member(moved))
    payload = payload_of(registry.member)

    written = registry.submit(payload)
    another = registry.submit(payload | {"txnid": "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"})
    wrong = registry.submit(payload | {"ver": ""})
    stranger = registry.submit(payload, Authorization="Bearer x")
    lost = registry.get("/entityInfo/FIP/NO-SUCH-FIP")
    nowhere = registry.get("/entityInfo")

    assert published(written) == (200, "200 OK")
    assert written.json()["status"] == "submitted"
    assert published(another) == (409, "Entity already exist")
    assert published(wrong) == (400, "400 BAD_REQUEST")
    assert wrong.json()["findings"][0]["path"] == "$.ver"
    assert published(stranger) == (401, "401 UNAUTHORIZED")
    assert published(lost) == published(nowhere) == (404, "Entity not found")
    assert lost.json()["errorCode"] == "NotFound"


def test_reads_lints_and_other_areas_are_as_ever(moved: Service) -> None:
    registry = Registry(new_member(moved))

    listed = registry.get("/entityInfo/FIP")
    linted = registry.lint(payload_of(registry.member))
    token = registry.member.entity_token("wrong")
    bodiless = httpx2.head(f"{registry.root}/entityInfo/FIP", verify=NO_TLS)

    assert isinstance(listed.json(), list)
    assert linted.json()["passes"]
    for answer in (linted, token):
        assert "responseCode" not in answer.json()
    assert (bodiless.status_code, bodiless.content) == (401, b"")


@pytest.mark.parametrize(("where", "written"), [("moved", "integer"), ("service", "string")])
def test_the_document_says_which_form_a_service_has(
    request: pytest.FixtureRequest, where: str, written: str
) -> None:
    root = request.getfixturevalue(where).root

    document: dict[str, Any] = httpx2.get(f"{root}/schema/openapi.json", verify=NO_TLS).json()

    fields = document["components"]["schemas"]["WriteResponse"]["properties"]
    assert fields["responseCode"]["type"] == written
