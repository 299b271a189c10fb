"""A registry write admits its sender before it reads the body, and decides by what holds after it."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.dpop import KeyOfClient
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Member, Service, new_member

PATH = "/cr/v2/lint/AA"
BODY = json.dumps({"ver": "2.0.0"}).encode()
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class HalfSent:
    """A request whose sender was admitted: the service asked for its body."""

    talk: socket.socket

    def rest(self) -> tuple[int, str]:
        """Send the body; gives the status and the error code of the answer."""
        self.talk.sendall(BODY)
        said = b""
        while more := self.talk.recv(65536):
            said += more
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]), str(json.loads(body).get("errorCode", ""))


@contextmanager
def half_sent(service: Service, **headers: str) -> Iterator[HalfSent]:
    lines = {"Content-Type": "application/json", "Content-Length": str(len(BODY)), **headers}
    lines |= {"Host": "x", "Connection": "close", "Expect": "100-continue"}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    port = urlsplit(service.root).port
    with socket.create_connection(("127.0.0.1", port), 30) as talk:
        talk.sendall(f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode())
        said = b""
        while len(said) < len(CONTINUE) and (more := talk.recv(len(CONTINUE) - len(said))):
            said += more
        assert said == CONTINUE, said
        yield HalfSent(talk)


@pytest.fixture
def aa(service: Service) -> Member:
    return new_member(service, "AA")


@pytest.fixture(scope="module")
def staff(service: Service) -> Operator:
    return new_operator(service, "members")


def entity_token(aa: Member) -> str:
    return str(aa.entity_token(aa.secret()).json()["accessToken"])


def revoke(aa: Member, _: Operator, token: str) -> httpx.Response:
    auth = (aa.entity_id, aa.secret())
    return aa.client.post("/oauth2/revoke", data={"token": token}, auth=auth)


def suspend(aa: Member, staff: Operator, _: str) -> httpx.Response:
    return staff.post(f"/members/{aa.entity_id}/status", status="suspended", reason="test")


def nothing(aa: Member, _: Operator, __: str) -> httpx.Response:
    return aa.read()


@pytest.mark.parametrize(
    ("change", "expected"),
    [(nothing, (200, "")), (revoke, (401, "TokenRevoked")), (suspend, (401, "Unauthorized"))],
)
def test_an_entity_s_token_is_decided_upon_after_its_body(
    aa: Member,
    staff: Operator,
    change: Callable[[Member, Operator, str], httpx.Response],
    expected: tuple[int, str],
) -> None:
    token = entity_token(aa)

    with half_sent(aa.service, Authorization=f"Bearer {token}") as request:
        assert change(aa, staff, token).is_success
        assert request.rest() == expected


def test_an_admin_s_token_is_decided_upon_after_its_body(aa: Member) -> None:
    token = aa.user_token()

    with half_sent(aa.service, Authorization=f"Bearer {token}") as request:
        assert aa.client.post("/oauth2/revoke", data={"token": token}).is_success
        status, _ = request.rest()

    assert status == 401


def test_a_proof_that_two_requests_were_admitted_with_is_used_by_one(aa: Member) -> None:
    service, key = aa.service, KeyOfClient()
    url = f"{service.issuer}/oauth2/token"
    headers = {"DPoP": key.proof("POST", url, service.wall())}
    form = {"grant_type": "client_credentials"}
    auth = (aa.entity_id, aa.secret())
    token = aa.client.post(url, data=form, auth=auth, headers=headers).json()["access_token"]
    proof = key.proof("POST", f"{service.root}{PATH}", service.wall(), token)
    sent = {"Authorization": f"DPoP {token}", "DPoP": proof}

    with half_sent(service, **sent) as one, half_sent(service, **sent) as other:
        answers = [other.rest(), one.rest()]

    assert answers == [(200, ""), (401, "ProofInvalid")]
