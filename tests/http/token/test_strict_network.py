"""A network that enforces listed addresses, with exemptions, and takes few proofs of a member."""

import json
import select
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import pytest
from tests.http.token.bound_member import Bound, member_with_entry
from tests.support.dpop import KeyOfClient
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.service import Service


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service, "members")


def test_an_operator_s_exemption_stays_while_the_member_binds_itself(
    service: Service, operator: Operator
) -> None:
    one = member_with_entry(service)
    path = f"/members/{one.entity_id}/address-binding"

    def states(*switches: dict[str, Any]) -> list[tuple[str, bool]]:
        return [(each["binding"], each["exempt"]) for each in switches]

    assert operator.post(path, binding="watch").json()["exempt"] is True
    by_member = [one.switch(to).json() for to in ("network", "enforce", "enforce", "network")]
    assert states(*by_member) == [
        ("watch", True),
        ("enforce", True),
        ("enforce", True),
        ("watch", True),
    ]

    by_operator = [operator.post(path, binding=to).json() for to in ("enforce", "watch", "network")]
    assert states(*by_operator) == [("enforce", False), ("watch", True), ("network", False)]
    assert one.switch("network").json()["exempt"] is False
    details = [each["detail"] for each in one.audit() if each["event"] == "entity:addresses:change"]
    assert [(each["from"], each["to"], each["exemption"]) for each in details] == [
        ("network", "watch", "begun"),
        ("watch", "enforce", "kept"),
        ("enforce", "watch", "kept"),
        ("watch", "enforce", "ended"),
        ("enforce", "watch", "begun"),
        ("watch", "network", "ended"),
    ]


def test_pages_and_command_show_the_exemption(service: Service, operator: Operator) -> None:
    one = member_with_entry(service)
    operator.post(f"/members/{one.entity_id}/address-binding", binding="watch")
    member, cli = one.registry.member, service.cli
    browser = reader(service)
    browser.sign_in(member.email)
    page = f"/console/entity/{one.entity_id}/addresses"

    assert browser.act(page, page, binding="enforce").status_code == 303
    bound_page = browser.get(page).text
    switched = browser.act(page, page, binding="network")

    assert "applies again when you accept any address" in bound_page
    assert "setting applies again" in bound_page
    assert switched.headers["location"].endswith("told=exempt")
    assert "exempted by the operator" in browser.get(page).text
    cli("login", member.email, "--password-stdin", stdin=member.password)
    assert "yes, by an operator" in cli("registry", "binding", one.entity_id, "network").stdout
    assert one.entity_id in json.loads(cli("registry", "addresses", "--json").stdout)["exempt"]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A network that enforces, behind a proxy on the loopback, and takes few proofs of a member."""
    folder: Path = tmp_path_factory.mktemp("strict") / "data"
    proxies = {"MUDRA_ADDRESS_BINDING": "enforce", "MUDRA_TRUSTED_PROXIES": "127.0.0.0/8"}
    few = {"MUDRA_PROOF_RATE": "1+1"}
    with running_service(folder, keeps_store=True, **proxies, **few) as service:
        yield service


def test_the_network_s_setting_binds_those_that_list_addresses(strict: Service) -> None:
    without = new_member(strict)
    assert without.entity_token(without.secret()).status_code == 200
    one = member_with_entry(strict, "203.0.113.7", "2001:db8::/48")
    client = one.registry.member.client

    def status(forwarded: str) -> int:
        return one.generate(client, **{"X-Forwarded-For": forwarded}).status_code

    assert one.generate(client).status_code == 401
    assert status("203.0.113.7") == 200
    assert status("::ffff:203.0.113.7") == 200
    assert status("2001:db8::1") == 200
    assert status("203.0.113.8") == 401
    assert status("203.0.113.7, 198.51.100.4") == 401, "claimed to the proxy, not by it"
    assert status("198.51.100.4, 203.0.113.7") == 200
    assert status("not an address") == 401
    staff, path = new_operator(strict, "members"), f"/members/{one.entity_id}/address-binding"
    assert staff.post(path, binding="watch").json()["enforced"] is False
    assert one.generate(client).status_code == 200
    assert one.switch("network", evenSo=True).json()["enforced"] is False
    assert one.switch("enforce", evenSo=True).json()["enforced"] is True
    assert one.generate(client).status_code == 401
    assert one.switch("network").json()["enforced"] is False
    assert one.generate(client).status_code == 200, "as the operator had set"
    assert staff.post(path, binding="network", evenSo=True).json()["enforced"] is True
    assert one.generate(client).status_code == 401


def test_the_address_is_in_the_header_that_the_network_s_proxies_write(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """By RFC 7239 here: what a client sends in the other header passes the proxy, and counts for nothing."""
    proxies = {
        "MUDRA_ADDRESS_BINDING": "enforce",
        "MUDRA_TRUSTED_PROXIES": "127.0.0.0/8",
        "MUDRA_FORWARDED_HEADER": "forwarded",
    }
    folder = tmp_path_factory.mktemp("forwarded") / "data"
    with running_service(folder, **proxies) as service:
        one = member_with_entry(service, "203.0.113.7", "2001:db8::/48")

        def status(forwarded: str) -> int:
            claimed = {"X-Forwarded-For": "203.0.113.7", "Forwarded": forwarded}
            return one.generate(one.registry.member.client, **claimed).status_code

        assert status('for=198.51.100.4, for="203.0.113.7:443";proto=https') == 200
        assert status('by=10.0.0.1;for="[2001:db8::1]:4711"') == 200
        assert status("for=203.0.113.7, for=198.51.100.4") == 401
        assert status("for=203.0.113.7, for=_hidden") == 401
        assert status("for=unknown") == 401


@pytest.fixture(scope="module")
def listed(strict: Service) -> Bound:
    """A member with one address, which no test changes."""
    return member_with_entry(strict, "203.0.113.7")


@pytest.mark.parametrize("path", ["/iam/v1/entity/token/generate", "/iam/oauth2/token"])
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_trailer_is_no_field_of_the_header(
    strict: Service, listed: Bound, path: str, pieces: int
) -> None:
    one = listed
    form = urlencode({"id": one.entity_id, "secret": one.registry.secret})
    if path.endswith("/oauth2/token"):
        form = f"grant_type=client_credentials&client_id={one.entity_id}&client_secret={one.registry.secret}"

    def status(proxy: str, trailer: str) -> int:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Trailer: x-forwarded-for\r\nX-Forwarded-For: {proxy}\r\n\r\n"
        )
        body = f"{len(form):x}\r\n{form}\r\n0\r\nX-Forwarded-For: {trailer}\r\n\r\n"
        whole = [head + body] if pieces == 1 else [head, body]
        with socket.create_connection(("127.0.0.1", urlsplit(strict.issuer).port or 0)) as raw:
            for piece in whole:
                raw.sendall(piece.encode())
            return int(raw.makefile("rb").readline().split()[1])

    assert status("198.51.100.7", "203.0.113.7") == 401
    assert status("203.0.113.7", "198.51.100.7") == 200


@pytest.mark.parametrize("endless", [b"x-a: " + b"a" * 8000, b"x: y\r\n" * 1000])
def test_a_trailer_has_an_end(strict: Service, endless: bytes) -> None:
    head = (
        b"POST /iam/v1/user/token/generate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\n0\r\n"
    )
    with socket.create_connection(("127.0.0.1", urlsplit(strict.issuer).port or 0)) as raw:
        raw.sendall(head)
        for _ in range(5):
            raw.sendall(endless)
            select.select([raw], [], [], 0.1)

        answer = raw.makefile("rb").readline()

    assert answer.startswith(b"HTTP/1.1 431")


def test_a_member_beyond_its_proofs_waits_wherever_it_sends_one(strict: Service) -> None:
    member, key = new_member(strict, "AA"), KeyOfClient()
    auth = (member.entity_id, member.secret())
    endpoint, registry = f"{strict.issuer}/oauth2/token", f"{strict.root}/cr/v2/entityInfo/AA"

    def token() -> httpx2.Response:
        proof = key.proof("POST", endpoint, strict.wall())
        form = {"grant_type": "client_credentials"}
        return member.client.post("/oauth2/token", data=form, auth=auth, headers={"DPoP": proof})

    def with_proof(method: str, url: str) -> dict[str, str]:
        proof = key.proof(method, url, strict.wall(), bound)
        return {"Authorization": f"DPoP {bound}", "DPoP": proof}

    def reads() -> httpx2.Response:
        return member.client.get(registry, headers=with_proof("GET", registry))

    def asks() -> httpx2.Response:
        asked = f"{strict.issuer}/oauth2/introspect"
        headers = with_proof("POST", asked)
        return member.client.post(asked, data={"token": "x"}, headers=headers)

    def limited(call: Callable[[], httpx2.Response]) -> httpx2.Response:
        for _ in range(20):  # a machine under load may answer one a second
            with ThreadPoolExecutor(4) as pool:
                answers = [one.result() for one in [pool.submit(call) for _ in range(4)]]
            assert {one.status_code for one in answers} <= {200, 429}
            found = next((one for one in answers if one.status_code == 429), None)
            if found is not None:
                return found
        raise AssertionError("no limit was reached")

    bound = token().json()["access_token"]

    for call in (reads, asks, token):
        assert int(limited(call).headers["Retry-After"]) >= 1
    assert member.entity_token(auth[1]).status_code == 200, "what needs no proof goes on"
