"""The suite against implementations that do nothing right: it neither breaks nor is satisfied."""

import base64
import json
from collections.abc import Callable, Sequence

import httpx2
import pytest

from mudra.client import clock
from mudra.conformance.answer import Caller
from mudra.conformance.check import Need
from mudra.conformance.redaction import Redaction
from mudra.conformance.report.page import _PARTS
from mudra.conformance.result import Report, Result, Verdict
from mudra.conformance.run import run_checks, selected
from mudra.conformance.service.checks.catalogue import SERVICE_CHECKS
from mudra.conformance.service.implementation import Implementation
from mudra.conformance.service.target import EntityCredentials, Target, UserCredentials
from mudra.shared.secret_text import SecretText

TARGET = Target(
    base_url="https://iam.example/iam",
    entity=EntityCredentials("E", SecretText("the-secret")),
    user=UserCredentials("u", SecretText("the-password")),
    aa=EntityCredentials("A", SecretText("the-secret-of-the-aa")),
    permits=frozenset({Need.ALL_RESETS, Need.REGISTER, Need.PUSH, Need.CLOCK}),
)
ERROR = {
    "ver": "1.0.0",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "txnId": "x",
    "errorCode": "Unauthorized",
    "errorMsg": "no",
}
ONLY_A_STATUS = {"O-D3-10", "M-2.5-1", "M-2.6-1"}
"""Of these the line promises a 200 and nothing about a body."""


def run_against(answer: httpx2.Response | None) -> list[Result]:
    def respond(_: httpx2.Request) -> httpx2.Response:
        if answer is None:
            raise httpx2.ConnectError("no one there")
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)

    return run_with(respond)


def run_with(
    respond: Callable[[httpx2.Request], httpx2.Response],
    only: Sequence[str] = (),
    waits: Callable[[float], None] = lambda _: None,
) -> list[Result]:
    redaction = Redaction()
    checks = selected(SERVICE_CHECKS, only, decisions=True)
    with httpx2.Client(transport=httpx2.MockTransport(respond)) as client:
        caller = Caller(client, waits)
        one = Implementation(TARGET, caller, redaction, lambda _: None, clock.wall)
        return run_checks(checks, one, TARGET.given, redaction, clock.steady, lambda _: None)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        httpx2.Response(503, json=ERROR),
        httpx2.Response(200, json={}),
        httpx2.Response(200, json={"accessToken": None, "keys": [1], "secret": 3}),
        httpx2.Response(200, text="<html>"),
        httpx2.Response(
            200, text="<html>", headers={"Date": f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT"}
        ),
    ],
    ids=["no answer", "503", "empty object", "wrong types", "a page", "no time"],
)
def test_an_implementation_of_nothing_passes_nothing(answer: httpx2.Response | None) -> None:
    results = run_against(answer)

    assert len(results) == len(SERVICE_CHECKS)
    passed = {one.check_id for one in results if one.verdict is Verdict.PASSED}
    assert passed <= ONLY_A_STATUS


def test_a_token_that_is_nested_too_deeply_ends_no_run() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 3000).decode()
    results = run_against(httpx2.Response(200, json={"accessToken": f"e30.{deep}.e30"}))

    assert len(results) == len(SERVICE_CHECKS)


def test_one_that_refuses_everything_passes_only_refusals() -> None:
    results = run_against(httpx2.Response(401, json=ERROR))

    passed = [one for one in results if one.verdict is Verdict.PASSED]
    words = ("401", "refused", "wrong secret", "wrong password", "same", "400")
    assert all(any(word in one.title for word in words) for one in passed), passed


def test_a_limit_is_no_verdict() -> None:
    results = run_against(httpx2.Response(429, json=ERROR, headers={"Retry-After": "9999"}))

    assert not [one for one in results if one.verdict is Verdict.PASSED]
    assert sum(one.verdict is Verdict.SKIPPED for one in results) > 200


BUSY = {**ERROR, "errorCode": "ServiceUnavailable", "errorMsg": "busy"}


def busy_sign_in(times: int, retry_after: str = "2") -> Callable[[httpx2.Request], httpx2.Response]:
    """Answer the first sign-ins with 503, and the rest like a service that knows nothing else."""
    left = [times]

    def respond(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/user/token/generate"):
            left[0] -= 1
            if left[0] >= 0:
                return httpx2.Response(503, json=BUSY, headers={"Retry-After": retry_after})
            return httpx2.Response(200, json={"accessToken": "e30.e30.c2ln", "tokenType": "Bearer"})
        return httpx2.Response(401, json=ERROR)

    return respond


def test_what_needs_a_token_that_was_not_given_is_skipped_and_says_which_check_failed() -> None:
    results = run_with(busy_sign_in(10**6))

    failures = [one for one in results if one.verdict is Verdict.FAILED and "busy" in one.came]
    first = failures[0]
    assert {one.request for one in failures} == {
        "POST https://iam.example/iam/v1/user/token/generate"
    }
    behind = [one for one in results if one.reason.startswith("no User Access Token")]
    assert len(behind) >= 10
    assert {one.reason for one in behind} == {
        f"no User Access Token: 503 ServiceUnavailable busy; see {first.check_id}"
    }
    assert "T-4.2-1" in {one.check_id for one in behind}
    [cause] = [one for one in Report("x", "", results).causes() if "busy" in one.came]
    assert set(cause.checks) == {one.check_id for one in failures}


def test_where_the_check_of_the_token_was_not_chosen_the_first_that_needs_it_fails() -> None:
    results = run_with(busy_sign_in(10**6), ["T-4.2"])

    first, *others = (one for one in results if "busy" in one.came + one.reason)
    assert first.verdict is Verdict.FAILED
    assert (first.expected, first.came) == (
        "the User Access Token",
        "503 ServiceUnavailable busy",
    )
    assert others
    assert {one.verdict for one in others} == {Verdict.SKIPPED}


@pytest.mark.parametrize(
    ("times", "retry_after", "waited", "verdict"),
    [
        (1, "2", [2], Verdict.PASSED),
        (3, "10", [10, 10, 10], Verdict.PASSED),
        (4, "1", [1, 1, 1], Verdict.FAILED),
        (2, "20", [20], Verdict.FAILED),
        (1, "31", [], Verdict.FAILED),
        (1, "soon", [], Verdict.FAILED),
    ],
)
def test_a_busy_answer_is_asked_for_again_within_a_bound(
    times: int, retry_after: str, waited: list[float], verdict: Verdict
) -> None:
    waits: list[float] = []

    [result] = run_with(busy_sign_in(times, retry_after), ["T-4.1-1"], waits.append)

    assert waits == waited
    assert result.verdict is verdict


def test_a_service_that_is_always_busy_ends_a_run_in_minutes() -> None:
    waits: list[float] = []

    run_with(
        lambda _: httpx2.Response(503, json=BUSY, headers={"Retry-After": "9"}), (), waits.append
    )

    assert 0 < sum(waits) <= 300


def to_an_aa(request: httpx2.Request) -> httpx2.Response:
    """Grant tokens of an AA, list what is no entry, and refuse all else."""
    if request.url.path.endswith("/entity/token/generate"):
        parts = ({"alg": "RS256"}, {"roles": "AA"})
        encoded = (base64.urlsafe_b64encode(json.dumps(one).encode()).decode() for one in parts)
        token = ".".join([*(one.rstrip("=") for one in encoded), "c2ln"])
        return httpx2.Response(200, json={"accessToken": token, "expiresIn": 86400})
    if "/entityInfo/" in request.url.path:
        return httpx2.Response(200, json=["x"])
    return httpx2.Response(401, json=ERROR)


def test_whether_an_entity_that_is_no_aa_may_push_is_not_proven_by_an_aa() -> None:
    verdicts = {one.check_id: one.verdict for one in run_with(to_an_aa)}

    assert verdicts["M-D5-10"] is Verdict.SKIPPED


@pytest.mark.parametrize("check_id", ["R-D4-1", "R-2.7-1", "R-2.7-2", "R-2.7-3", "R-D4-9"])
def test_a_listing_without_objects_is_none(check_id: str) -> None:
    verdicts = {one.check_id: one.verdict for one in run_with(to_an_aa)}

    assert verdicts[check_id] is Verdict.FAILED


def test_checks_have_ids_lines_and_parts_of_their_own() -> None:
    ids = [one.check_id for one in SERVICE_CHECKS]

    assert len(set(ids)) == len(ids) >= 60
    assert all(one.line and one.title for one in SERVICE_CHECKS)
    assert {one.part for one in SERVICE_CHECKS} <= _PARTS.keys()


def test_parts_and_ids_select_checks() -> None:
    def chosen(*only: str, decisions: bool = True) -> set[str]:
        return {one.check_id for one in selected(SERVICE_CHECKS, only, decisions=decisions)}

    assert chosen("4.4") == {"T-4.4-1", "T-4.4-2", "T-4.4-3"}
    assert chosen("4") >= chosen("4.1") | chosen("4.2") | chosen("4.3") | chosen("4.4")
    assert chosen("T-D3-1") == {"T-D3-1"}
    assert chosen("D3", decisions=False) == set()


def test_a_report_is_one_line_without_secrets_and_tokens() -> None:
    redaction = Redaction()
    redaction.hide(SecretText("p@ss word"))
    token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln"

    shown = redaction.shown(f"a p@ss word, p%40ss+word,\n{token}\u202e {'x' * 400}")

    assert shown.startswith("a ***, ***, ***  x")
    assert len(shown) == 301
