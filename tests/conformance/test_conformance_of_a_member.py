"""The member's half of the conformance suite: each kind of forgetfulness is found."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.http_clients import NO_TLS
from tests.support.issuer import NOW, Issuer
from tests.support.member_server import (
    Accepts,
    all_checked,
    audience_ignored,
    exp_ignored,
    member_server,
    none_accepted,
    signature_ignored,
)
from tests.support.members import new_member
from tests.support.registry.registry_members import approve, payload_of
from tests.support.service import Service

from mudra.client import TokenVerifier, clock
from mudra.conformance.answer import Caller
from mudra.conformance.member.address import api_address
from mudra.conformance.member.catalogue import MEMBER_CHECKS
from mudra.conformance.member.peer import MemberTarget, Peer
from mudra.conformance.redaction import Redaction
from mudra.conformance.result import Verdict
from mudra.conformance.run import run_checks
from mudra.shared.secret_text import SecretText


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    yield issuer
    issuer.close()


@pytest.mark.parametrize(
    ("accepts", "expected"),
    [
        (all_checked, set()),
        (signature_ignored, {"B-D3-1", "B-D3-2", "B-D3-3", "B-D3-4", "B-D3-5", "B-D3-6"}),
        (exp_ignored, {"B-5-1"}),
        (audience_ignored, {"B-D3-7"}),
        (none_accepted, {"B-D3-2"}),
        (lambda *_: False, {"B-1-1", "B-D1-1"}),
        (lambda *_: True, {f"B-D3-{n}" for n in range(1, 8)} | {"B-1-3", "B-5-1"}),
    ],
    ids=["checks all", "no signature", "no exp", "no audience", "alg none", "never", "always"],
)
def test_what_a_member_forgets_to_check_is_found(
    issuer: Issuer, accepts: Accepts, expected: set[str]
) -> None:
    verifier = TokenVerifier(issuer.url, audience="aa-network", wall=lambda: NOW)
    redaction = Redaction()
    with member_server(verifier, accepts) as url, httpx2.Client(verify=NO_TLS) as client:
        target = MemberTarget(
            base_url=url,
            header="aa_api_key",
            token=SecretText(issuer.token()),
            keys=[key.as_dict(private=False) for key in issuer.keys],
            expired=SecretText(issuer.token(iat=NOW - 90_000, nbf=NOW - 90_000, exp=NOW - 3_600)),
            other_audience=SecretText(issuer.token(aud="another-network")),
        )
        results = run_checks(
            MEMBER_CHECKS,
            Peer(target, Caller(client, lambda _: None), redaction),
            target.given,
            redaction,
            clock.steady,
            lambda _: None,
        )

    assert {one.check_id for one in results if one.verdict is Verdict.FAILED} == expected
    skipped = {one.check_id for one in results if one.verdict is Verdict.SKIPPED}
    assert skipped == {"B-D4-1"}  # this machine's own address needs no TLS


def test_no_token_goes_over_plain_http_to_another_machine(issuer: Issuer) -> None:
    seen: list[httpx2.Request] = []

    def record(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(401)

    redaction = Redaction()
    with httpx2.Client(transport=httpx2.MockTransport(record)) as client:
        target = MemberTarget(
            base_url="http://fip.example/v2", header="aa_api_key", token=SecretText(issuer.token())
        )
        results = run_checks(
            MEMBER_CHECKS,
            Peer(target, Caller(client, lambda _: None), redaction),
            (),
            redaction,
            clock.steady,
            lambda _: None,
        )

    assert all("aa_api_key" not in request.headers for request in seen)
    assert "B-D4-1" in {one.check_id for one in results if one.verdict is Verdict.FAILED}


@pytest.mark.parametrize(
    ("baseurl", "expected"),
    [
        ("v1:https://a.example/v1,v2:https://a.example/v2", "https://a.example/v2"),
        ("v2:https://a.example/v2/", "https://a.example/v2"),
        ("https://a.example/api", "https://a.example/api"),
        ("", ""),
        ("v2:a.example", ""),
    ],
)
def test_the_address_of_the_highest_version_is_taken(baseurl: str, expected: str) -> None:
    assert api_address(baseurl) == expected


def test_the_command_reads_the_address_from_the_registry(service: Service, tmp_path: Path) -> None:
    aa, fip = new_member(service, "AA"), new_member(service, "FIP")
    secret = tmp_path / "secret"
    secret.write_text(aa.secret())
    verifier = TokenVerifier(service.issuer, wall=service.wall)
    with member_server(verifier) as url:
        answer = httpx2.post(
            f"{service.root}/cr/v2/entityInfo/FIP",
            json=payload_of(fip, baseurl=f"v2:{url}"),
            headers=fip.bearer(),
            verify=NO_TLS,
        )
        assert answer.status_code == 200, answer.text
        approve(fip)
        words = ("--base-url", service.issuer, "--entity-id", aa.entity_id)
        done = service.cli(
            "conformance", "member", fip.entity_id, *words, "--secret-file", str(secret), "--json"
        )

    results = {one["checkId"]: one["verdict"] for one in json.loads(done.stdout)["results"]}
    assert results["B-1-1"] == results["B-D3-3"] == "passed"
    assert results["B-5-1"] == "skipped"
