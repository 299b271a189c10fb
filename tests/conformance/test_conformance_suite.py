"""The conformance suite against our own service: all holds, and each injected fault is found."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import httpx2
import pytest
from tests.conformance.conformance_faults import FAULTS
from tests.conformance.suite_runs import Network, described, failed, new_network, run_suite
from tests.support.registry.registry_members import live_entry
from tests.support.service import Service

from mudra.conformance.check import Need
from mudra.conformance.report.junit import junit
from mudra.conformance.report.page import page
from mudra.conformance.result import Report, Verdict


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


def test_an_address_where_no_one_answers_is_exit_code_5(service: Service) -> None:
    done = service.cli("conformance", "run", "--base-url", "http://127.0.0.1:9/iam", check=False)

    assert done.exit_code == 5
