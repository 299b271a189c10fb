"""An operator probes the base URL of an entry before the approval."""

import json
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import PASSWORD, Service
from tests.support.until import PATIENCE_S

from mudra.client import BodySigner, KeyProof, TokenVerifier
from mudra.client.web.key_proof_wsgi import KeyProofMiddleware


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def not_found(_: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [])
    return [b""]


@contextmanager
def member_server(app_of: Any) -> Iterator[str]:
    """Serve what `app_of` makes for the address; gives that address."""
    server = make_server("127.0.0.1", 0, not_found, handler_class=Quiet)
    url = f"http://127.0.0.1:{server.server_port}/aa"
    server.set_app(app_of(url))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()


def submitted(service: Service, url: str, entity: Registry, key: RSAKey) -> str:
    payload = payload_of(entity.member)
    payload["entityinfo"]["certificate"] = key.as_dict(private=False)
    payload["entityinfo"]["baseurl"] = url
    answer = entity.submit(payload)
    assert answer.status_code == 200, answer.text
    return entity.member.entity_id


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service, "registry")


def new_key() -> RSAKey:
    return rsa_key(kid=uuid.uuid4().hex, use="sig", alg="RS256")


def result(operator: Operator, service: Service, entity_id: str) -> dict[str, Any]:
    path = f"/registry/entries/{entity_id}/probe"
    assert operator.post(path).json()["version"] == 1
    service.wait_until(lambda: operator.get(path).json()["doneAt"] is not None)
    found: dict[str, Any] = operator.get(path).json()
    return found


def test_a_member_with_the_handler_proves_its_key_and_the_page_shows_it(
    service: Service, operator: Operator
) -> None:
    entity, key = Registry(new_member(service)), new_key()
    signer = BodySigner(key.as_pem(private=True), str(key.kid))

    def app_of(url: str) -> KeyProofMiddleware:
        entity_id = entity.member.entity_id
        proof = KeyProof(entity_id, url, service.issuer, signer, service.wall)
        return KeyProofMiddleware(not_found, TokenVerifier(service.issuer), proof)

    with member_server(app_of) as url:
        versions = f"v1:http://127.0.0.1:9/none,v2:{url}"
        entity_id = submitted(service, versions, entity, key)
        found = result(operator, service, entity_id)

        assert (found["status"], found["problem"], found["keyProven"]) == (200, "", True)
        assert found["certificate"] is None
        service.cli("login", operator.email, "--password-stdin", stdin=PASSWORD)
        shown = service.cli("registry", "probe", entity_id, "--json").stdout
        assert json.loads(shown)["keyProven"] is True
    browser = reader(service)
    browser.sign_in(operator.email)
    page = f"/console/operator/approvals/{entity_id}"
    assert "key proven" in browser.get(page).text
    assert "Approve version 1" in browser.get(page).text
    audit = service.cli("audit", "list", "--entity", entity_id, "--json").stdout
    events = [one for one in json.loads(audit) if one["event"] == "registry:entry:probe"]
    assert events[0]["detail"]["key"] == "proven"
    assert events[0]["actor"] == f"operator:{operator.email}"


def test_a_member_without_it_answers_and_may_be_approved_all_the_same(
    service: Service, operator: Operator
) -> None:
    entity = Registry(new_member(service))
    with member_server(lambda _: not_found) as url:
        entity_id = submitted(service, url, entity, new_key())
        browser = reader(service)
        browser.sign_in(operator.email)
        page = f"/console/operator/approvals/{entity_id}"
        assert browser.act(page, f"{page}/probe").status_code == 303
        service.wait_until(lambda: "status 404" in browser.get(page).text)

    text = browser.get(page).text
    assert "not proven: the server does not answer the challenge" in text
    decided = operator.post(f"/registry/entries/{entity_id}/decide", act="approve", version=1)
    assert decided.status_code == 200


def test_no_one_there_is_shown_and_an_entity_without_an_entry_is_none(
    service: Service, operator: Operator
) -> None:
    entity = Registry(new_member(service))
    assert operator.post("/registry/entries/NO-SUCH-FIP/probe").status_code == 404
    entity_id = submitted(service, "http://127.0.0.1:9/aa", entity, new_key())

    found = result(operator, service, entity_id)

    assert (found["status"], found["keyProven"]) == (0, False)
    assert found["problem"] == "no connection: no program listens there, or a firewall refuses it"

    browser = reader(service)
    browser.sign_in(operator.email)
    page = f"/console/operator/approvals/{entity_id}"
    refused = browser.act(page, page, act="approve", version="1")
    assert refused.status_code == 400
    assert "The probe of its address failed (no connection" in refused.text
    why = "the member opens its firewall on Monday"
    assert browser.act(page, page, act="approve", version="1", reason=why).status_code == 303
    audit = service.cli("audit", "list", "--entity", entity_id, "--json").stdout
    assert why in audit


def test_one_probe_of_an_entity_waits_at_a_time(service: Service, operator: Operator) -> None:
    entity, over = Registry(new_member(service)), threading.Event()

    def slow(_: Any, start_response: Any) -> list[bytes]:
        over.wait(PATIENCE_S)
        return not_found(_, start_response)

    with member_server(lambda _: slow) as url:
        entity_id = submitted(service, url, entity, new_key())
        path = f"/registry/entries/{entity_id}/probe"
        never = operator.get(path)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: operator.post(path), range(8)))
        over.set()
        service.wait_until(lambda: operator.get(path).json()["doneAt"] is not None)

    assert never.status_code == 404
    assert never.json()["errorMsg"] == f"the base URL of {entity_id} has not been probed"
    assert {one.status_code for one in answers} == {200}
    assert len({one.json()["requestedAt"] for one in answers}) == 1
