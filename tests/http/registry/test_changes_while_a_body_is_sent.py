"""A registry write admits its sender before it reads the body, and decides by what holds after it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest
from tests.http.half_sent import HalfSent, request_half_sent
from tests.support.dpop import KeyOfClient
from tests.support.members import Member, new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

PATH = "/cr/v2/lint/AA"
BODY = json.dumps({"ver": "2.0.0"}).encode()


@contextmanager
def half_sent(service: Service, **headers: str) -> Iterator[HalfSent]:
    with request_half_sent(service, PATH, BODY, **headers) as request:
        yield request


@pytest.fixture
def aa(service: Service) -> Member:
    return new_member(service, "AA")


@pytest.fixture(scope="module")
def staff(service: Service) -> Operator:
    return new_operator(service, "members")


def entity_token(aa: Member) -> str:
    return str(aa.entity_token(aa.secret()).json()["accessToken"])


def revoke(aa: Member, _: Operator, token: str) -> httpx2.Response:
    auth = (aa.entity_id, aa.secret())
    return aa.client.post("/oauth2/revoke", data={"token": token}, auth=auth)


def suspend(aa: Member, staff: Operator, _: str) -> httpx2.Response:
    return staff.post(f"/members/{aa.entity_id}/status", status="suspended", reason="test")


def nothing(aa: Member, _: Operator, __: str) -> httpx2.Response:
    return aa.read()


@pytest.mark.parametrize(
    ("change", "expected"),
    [(nothing, (200, "")), (revoke, (401, "TokenRevoked")), (suspend, (401, "Unauthorized"))],
)
def test_an_entity_s_token_is_decided_upon_after_its_body(
    aa: Member,
    staff: Operator,
    change: Callable[[Member, Operator, str], httpx2.Response],
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
