"""The conformance suite against our own service: all holds, and each injected fault is found."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import httpx2
import msgspec
import pytest
import typer
from tests.conformance.conformance_faults import FAULTS
from tests.conformance.suite_runs import Network, described, failed, new_network, run_suite
from tests.support.registry.registry_members import live_entry
from tests.support.service import Service

from mudra.cli.commands.conformance.shown import finish
from mudra.conformance.check import Need
from mudra.conformance.report.junit import junit
from mudra.conformance.report.page import page
from mudra.conformance.result import Report, Verdict
from mudra.shared.secret_text import SecretText


@pytest.mark.slow
def test_our_service_passes_every_check(service: Service, tmp_path: Path) -> None:
    live_entry(service, "AA")
    network = new_network(service)
    files = {
        "secret-file": network.fip.secret(),
        "password-file": network.fip.password,
        "aa-secret-file": network.aa.secret(),
    }
    words = ["--base-url", service.issuer, "--sandbox-url", service.root]
    words += ["--entity-id", network.fip.entity_id, "--aa-id", network.aa.entity_id]
    words += ["--username", network.fip.email, "--all-resets", "--register", "--push"]
    for option, text in files.items():
        (tmp_path / option).write_text(text)
        words += [f"--{option}", str(tmp_path / option)]
    expired = tmp_path / "expired"
    expired.write_text(network.fip.entity_token(files["secret-file"]).json()["accessToken"])
    service.advance("PT25H")
    words += ["--expired-token-file", str(expired)]

    done = service.cli("conformance", "run", *words, check=False)

    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith(("failed", "skipped"))], done.stdout
    assert lines[-1].endswith(" passed, 0 failed, 0 skipped")
    assert int(lines[-1].split()[0]) > 200
    assert done.exit_code == 0
    assert not [text for text in files.values() if text in done.output]


@pytest.fixture(scope="module")
def network(service: Service) -> Network:
    return new_network(service)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_exactly_the_checks_that_name_it(name: str, network: Network) -> None:
    fault, only, expected = FAULTS[name]

    results = run_suite(network, Need.RESETS, Need.PUSH, Need.CLOCK, only=only, fault=fault)

    assert failed(results) == expected, described(results, Verdict.FAILED)


def test_an_old_secret_that_still_works_is_found(network: Network) -> None:
    old = network.fip.secret()

    def accepted(request: httpx2.Request, came: httpx2.Response) -> httpx2.Response | None:
        is_old = came.status_code == 401 and f"secret={old}".encode() in request.content
        return httpx2.Response(200, json={"accessToken": "t"}) if is_old else None

    results = run_suite(network, Need.RESETS, only=("T-3-1", "T-3-2"), fault=accepted)

    assert failed(results) == {"T-3-1"}


def test_no_secret_reaches_a_report_though_the_service_echoes_it(network: Network) -> None:
    target = network.target()
    assert target.entity is not None
    assert target.user is not None
    hidden = (target.entity.secret.reveal(), target.user.password.reveal())

    def echo(request: httpx2.Request, came: httpx2.Response) -> httpx2.Response | None:
        if came.status_code == 200:
            token = came.json().get("accessToken", "")
            return httpx2.Response(500, json={"errorMsg": f"{hidden} {token}", "errorCode": "X"})
        return None

    results = run_suite(network, only=("T-4.4-1", "T-4.1-1", "T-4.2-1"), fault=echo)

    assert failed(results) >= {"T-4.4-1", "T-4.1-1"}
    report = Report("x", "2026-01-01T00:00:00.000Z", results)
    for text in (page(report), junit(report).decode(), repr(results)):
        assert "***" in text
        assert "eyJ" not in text
        for secret in hidden:
            assert secret not in text


def test_the_command_writes_its_reports_and_exits_with_1_only_for_a_failure(
    network: Network, tmp_path: Path
) -> None:
    secret, wrong = tmp_path / "secret", tmp_path / "wrong"
    secret.write_text(network.fip.secret() + "\n")
    wrong.write_text("not-the-secret")
    words = ("conformance", "run", "--base-url", network.service.issuer, "--only", "4.4")
    words += ("--entity-id", network.fip.entity_id)
    files = ("--junit", str(tmp_path / "r.xml"), "--html", str(tmp_path / "r.html"))

    passed = network.service.cli(*words, "--secret-file", str(secret), *files)
    refused = network.service.cli(*words, "--secret-file", str(wrong), "--json", check=False)

    assert "0 failed" in passed.stdout
    suites = ET.parse(tmp_path / "r.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("3", "0")
    assert len(suites.findall("testsuite/testcase")) == 3
    html = (tmp_path / "r.html").read_text()
    assert "id (string, entity ID, required)" in html
    assert "http" not in html.replace(network.service.issuer, "").replace("http-equiv", "")
    assert refused.exit_code == 1
    verdicts = {one["checkId"]: one["verdict"] for one in json.loads(refused.stdout)["results"]}
    assert verdicts == {"T-4.4-1": "failed", "T-4.4-2": "passed", "T-4.4-3": "passed"}


def test_a_failure_names_its_request_and_failures_of_one_cause_are_together(
    network: Network, capsys: pytest.CaptureFixture[str]
) -> None:
    def other_body(request: httpx2.Request, came: httpx2.Response) -> httpx2.Response | None:
        is_error = came.status_code >= 400 and "/v1/" in request.url.path
        return httpx2.Response(came.status_code, json={"fault": "no"}) if is_error else None

    results = run_suite(network, only=("4.4", "7"), fault=other_body)
    report = Report("x", "2026-01-01T00:00:00.000Z", results)

    [cause] = report.causes()
    assert cause.came == "ver is missing"
    assert {"T-4.4-2", "T-4.4-3", "T-7-1"} <= set(cause.checks)
    asked = {one.check_id: one.request for one in results}
    token = f"POST {network.service.issuer}/v1/entity/token/generate"
    assert asked["T-4.4-2"] == token
    assert asked["T-4.4-1"] == ""  # it passed
    parts = {one.part: (one.passed, one.failed, one.skipped) for one in report.parts()}
    assert parts["4.4"] == (1, 2, 0)
    html = page(report)
    assert f"request: {token}" in html
    assert f"{len(cause.checks)} failures of one cause: ver is missing" in html
    assert token in junit(report).decode()
    with pytest.raises(typer.Exit):
        finish(report, None, None, as_json=False)
    shown = capsys.readouterr().out
    assert f"{len(cause.checks)} failures of one cause: ver is missing (T-4.4-2" in shown


def test_the_command_shows_a_summary_by_part_and_the_request(
    network: Network, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("not-the-secret")
    words = ("conformance", "run", "--base-url", network.service.issuer, "--only", "4.4")
    words += ("--entity-id", network.fip.entity_id, "--secret-file", str(wrong))

    shown = network.service.cli(*words, check=False).stdout
    as_json = json.loads(network.service.cli(*words, "--json", check=False).stdout)

    assert f"request:  POST {network.service.issuer}/v1/entity/token/generate" in shown
    assert "PART  PASSED  FAILED  SKIPPED" in shown
    assert as_json["parts"] == [{"part": "4.4", "passed": 2, "failed": 1, "skipped": 0}]
    assert as_json["causes"] == []


@pytest.mark.parametrize("accepted", [False, True])
def test_an_expired_token_that_is_given_must_be_refused(
    network: Network, tmp_path: Path, *, accepted: bool
) -> None:
    """Also where the clock of what is checked cannot be moved: yesterday's token."""
    issued = network.fip.entity_token(network.fip.secret()).json()["accessToken"]
    network.service.advance("PT25H")
    target = msgspec.structs.replace(network.target(), expired=SecretText(issued))

    def let_pass(request: httpx2.Request, came: httpx2.Response) -> httpx2.Response | None:
        return httpx2.Response(200, json=[]) if accepted and came.status_code == 401 else None

    results = run_suite(network, only=("T-5-5",), fault=let_pass, target=target)

    assert [one.verdict for one in results] == [Verdict.FAILED if accepted else Verdict.PASSED]
    assert issued not in repr(results)


def test_a_token_that_has_not_expired_proves_nothing(network: Network, tmp_path: Path) -> None:
    file = tmp_path / "token.jwt"
    file.write_text(network.fip.entity_token(network.fip.secret()).json()["accessToken"])
    words = ("conformance", "run", "--base-url", network.service.issuer, "--only", "T-5-5")

    done = network.service.cli(*words, "--expired-token-file", str(file), check=False)

    assert "the token of --expired-token-file has not expired" in done.stdout
    assert (done.exit_code, "nothing was checked" in done.output) == (1, True)


def test_an_address_where_no_one_answers_is_exit_code_5(service: Service) -> None:
    done = service.cli("conformance", "run", "--base-url", "http://127.0.0.1:9/iam", check=False)

    assert done.exit_code == 5
