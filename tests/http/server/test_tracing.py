"""Traces by OpenTelemetry: requests, statements and jobs, and nothing secret in them."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.http.server.trace_collector import Collector, facts, trace_collector
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.service import PASSWORD, Service

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with trace_collector() as running:
        yield running


@pytest.fixture(scope="module")
def traced(collector: Collector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir: Path = tmp_path_factory.mktemp("traced")
    with running_service(data_dir, keeps_store=True, MUDRA_OTLP_URL=collector.url) as service:
        yield service


def test_a_request_is_a_span_with_its_transaction_and_its_statements(
    traced: Service, collector: Collector
) -> None:
    member = new_member(traced)
    answer = traced.client().post(
        "/v1/user/token/generate", data={"username": member.email, "password": PASSWORD}
    )

    span = collector.wait("POST /iam/v1/user/token/generate", answer.json()["txnId"])

    assert facts(span) == {
        "http.request.method": "POST",
        "http.response.status_code": "200",
        "http.route": "/iam/v1/user/token/generate",
        "mudra.txn_id": answer.json()["txnId"],
        "url.path": "/iam/v1/user/token/generate",
        "url.scheme": "http",
    }
    assert span.kind == span.SPAN_KIND_SERVER
    statements = [one for one in collector.spans if one.parent_span_id == span.span_id]
    assert "SELECT" in {one.name for one in statements}
    assert {facts(one)["db.system.name"] for one in statements} == {"postgresql"}
    assert "SELECT" in {facts(one)["db.operation.name"] for one in statements}


def test_a_method_without_a_name_in_the_conventions_is_other(
    traced: Service, collector: Collector
) -> None:
    refused = traced.client().request("PROPFIND", f"{traced.root}/pot")

    span = collector.wait("HTTP", refused.json()["txnId"])

    assert facts(span)["http.request.method"] == "_OTHER"
    assert "http.route" not in facts(span)
    assert facts(span)["url.path"] == "/pot"


def test_the_hot_path_has_spans_too(traced: Service, collector: Collector) -> None:
    answer = traced.client().post("/v1/entity/token/generate", data={"id": "x", "secret": "y"})

    span = collector.wait("POST /iam/v1/entity/token/generate", answer.json()["txnId"])

    assert span.end_time_unix_nano > span.start_time_unix_nano


def test_a_callers_trace_is_continued(traced: Service, collector: Collector) -> None:
    parent = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    assert traced.client().get("/.well-known/jwks.json", headers=parent).status_code == 200

    span = collector.wait("GET /iam/.well-known/jwks.json")

    assert span.trace_id.hex() == TRACE
    assert span.parent_span_id.hex() == "00f067aa0ba902b7"


def test_a_job_is_a_span(traced: Service, collector: Collector) -> None:
    assert traced.issuer
    assert collector.wait("job mail", within_s=90).start_time_unix_nano


def test_no_span_has_a_secret_an_address_or_a_value(traced: Service, collector: Collector) -> None:
    member = new_member(traced)
    secret = member.secret()
    answer = member.entity_token(secret)
    link = "/iam/activate/a-one-time-token-of-a-link"
    traced.client().get(traced.root + link, headers={"traceparent": "00-" * 1000})
    last = traced.client().post("/v1/entity/token/generate", data={"id": "x", "secret": "y"})
    collector.wait("POST /iam/v1/entity/token/generate", last.json()["txnId"])

    token = answer.json()["accessToken"]
    for hidden in (secret, token, member.email, PASSWORD, link, base64.b64encode(secret.encode())):
        found = hidden if isinstance(hidden, bytes) else hidden.encode()
        assert not [one for one in collector.raw if found in one]


def test_a_collector_that_is_gone_stops_nothing_and_the_log_names_each_trace(
    tmp_path: Path,
) -> None:
    """By the application, and on the hot path, whose span is made after the answer."""
    parent = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    with running_service(tmp_path, MUDRA_OTLP_URL="http://127.0.0.1:9") as service:
        client = service.client()
        keys = client.get("/.well-known/jwks.json", headers=parent)
        token = client.post("/v1/entity/token/generate", data={"id": "x", "secret": "y"})
        service.stop()
    log = (tmp_path / "mudra.log").read_text()
    written = [json.loads(line) for line in log.splitlines()]

    assert (keys.status_code, token.status_code) == (200, 401)
    lines = {line["path"]: line for line in written if line["event"] == "request"}
    assert lines["/iam/.well-known/jwks.json"]["trace_id"] == TRACE
    hot = lines["/iam/v1/entity/token/generate"]
    assert re.fullmatch("[0-9a-f]{32}", hot["trace_id"])
    assert re.fullmatch("[0-9a-f]{16}", hot["span_id"])
    assert hot["level"] == "info"
