"""Examples do not contradict themselves, nor the rules of the service."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mudra.http.openapi.act_examples import named_in_examples


@pytest.fixture(scope="module")
def objects(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Each object of each example of an answer."""
    return [
        one
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, response in operation["responses"].items()
        if status.startswith("2")
        for content in response.get("content", {}).values()
        for one in parts(content.get("example"))
    ]


def parts(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts(part)


def test_each_example_of_one_operation_is_of_a_field(document: dict[str, Any]) -> None:
    names = {
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    }
    fields = {
        f"{title}.{name}"
        for title, schema in document["components"]["schemas"].items()
        for name in schema.get("properties", {})
    }

    of_operations, named = named_in_examples()
    assert of_operations <= names
    assert named <= fields


def test_what_ends_ends_after_its_begin(objects: list[dict[str, Any]]) -> None:
    pairs = [
        *(("from", "to"), ("start", "end"), ("begins", "ends"), ("began", "ended")),
        *(("startsAt", "endsAt"), ("lastUsedAt", "endsAt"), ("issuedAt", "expiresAt")),
        *(("issuedAt", "validUntil"), ("since", "invitedUntil"), ("at", "until")),
        *(("submittedAt", "goesLiveAt"), ("liveFrom", "liveUntil"), ("iat", "exp")),
        *(("onboardedAt", "secretExpiresAt"), ("timestamp", "expirationDate")),
        ("timestamp", "validUntil"),
    ]
    compared = 0
    for one in objects:
        for begin, end in pairs:
            if one.get(begin) is not None and type(one[begin]) is type(one.get(end)):
                assert one[begin] < one[end], (begin, end, one)
                compared += 1

    assert compared > 50


def test_an_end_is_the_same_in_milliseconds_and_as_text(objects: list[dict[str, Any]]) -> None:
    secrets = [one for one in objects if "expiresOn" in one]

    assert len(secrets) == 2
    for one in secrets:
        end = datetime.fromisoformat(one["expirationDate"]).timestamp()
        assert one["expiresOn"] == end * 1000


def test_a_share_is_between_0_and_1_and_kinds_of_calls_add_up(
    objects: list[dict[str, Any]],
) -> None:
    calls = [one for one in objects if "judged" in one and one.get("errors")]
    steps = [one for one in objects if "doneShare" in one]
    status = [one for one in objects if "timeout_percentage" in one]
    measures = [one for one in objects if one.get("measure") == "done_share"]

    assert calls
    for one in calls:
        assert one["succeeded"] + sum(one["errors"].values()) == one["requests"]
    assert steps
    for one in steps:
        lost = [one[name] for name in ("notFound404", "other4xx", "failed", "noAnswer")]
        assert one["done"] + sum(lost) == one["begun"]
        assert one["done"] / one["begun"] == one["doneShare"]
    assert status
    for one in status:
        assert sum(share for name, share in one.items() if name.endswith("_percentage")) == 100
    assert measures
    for one in measures:
        assert 0 <= one["quartiles"]["low"] <= one["quartiles"]["high"] <= 1
        if one["mine"] is not None:
            assert one["quartiles"]["low"] <= one["mine"] <= one["quartiles"]["high"]


def test_an_invitation_and_a_dispute_end_when_the_service_ends_them(
    objects: list[dict[str, Any]],
) -> None:
    """An invitation and its link live 24 hours; an operator has five days for a dispute."""
    lives = [
        ("since", "invitedUntil", timedelta(hours=24)),
        ("raisedAt", "dueAt", timedelta(days=5)),
        ("iat", "exp", timedelta(hours=24)),
    ]
    compared: Counter[str] = Counter()
    for one in objects:
        for begin, end, life in lives:
            if one.get(begin) and one.get(end):
                assert instant(one[end]) - instant(one[begin]) == life, one
                compared[end] += 1

    assert compared.keys() == {end for _, end, _ in lives}


def instant(value: str | float) -> datetime:
    return (
        datetime.fromisoformat(value)
        if isinstance(value, str)
        else datetime.fromtimestamp(value, UTC)
    )


def test_an_answer_reports_nothing_of_a_time_to_come(document: dict[str, Any]) -> None:
    past = {
        *("at", "madeAt", "changedAt", "decidedAt", "endedAt", "raisedAt", "addedAt"),
        *("submittedAt", "liveFrom", "createdAt", "signedInAt", "lastUsedAt", "beganAt"),
        *("began", "detected", "lastBad", "evidence_from", "judged_until", "deliveredAt"),
        *(
            "receivedAt",
            "overAt",
            "sentAt",
            "from",
            "to",
            "start",
            "end",
            "start_time",
            "end_time",
            "window",
            "publishAt",
        ),
    }
    compared = 0
    for answer in answers(document).values():
        for one in parts(answer):
            for name in past & one.keys():
                if "T" in str(one[name]):
                    assert one[name] <= "2026-01-31T09:30:00.000Z", (name, one)
                    compared += 1

    assert compared > 200


def answers(document: dict[str, Any]) -> dict[str, Any]:
    """The example of each answer in JSON, by method and address."""
    return {
        f"{method.upper()} {path}": content["example"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for status, response in operation["responses"].items()
        if status.startswith("2")
        for content in response.get("content", {}).values()
        if "example" in content
    }


def test_what_is_read_is_of_the_one_who_reads(document: dict[str, Any]) -> None:
    """A webhook of a person or of the network is of no entity; that of a member is of the caller."""
    owners = {
        "/iam/v1/user/alarm/webhooks": ("", "user:"),
        "/operator/v1/health/webhooks": ("", "operator:"),
        "/metrics/perf/v1/webhooks": ("SAARTHI-AA", "entity:SAARTHI-AA"),
    }
    compared = 0
    for name, answer in answers(document).items():
        for begin, (entity_id, maker) in owners.items():
            for one in parts(answer) if name.partition(" ")[2].startswith(begin) else ():
                if "webhookId" in one:
                    assert (one["entityId"], one["madeBy"].startswith(maker)) == (entity_id, True)
                    assert one["format"] == "standard" or one["url"].endswith("/…"), one
                    compared += 1

    assert compared >= 15


def test_a_target_is_met_by_a_value_that_reaches_it(objects: list[dict[str, Any]]) -> None:
    figures = [one for one in objects if "met" in one]

    assert figures
    for one in figures:
        assert one["met"] == (one["value"] >= one["target"]), one
        assert one["value"] == 100 * one["part"] / one["whole"]
        budget = one["budget"]
        assert budget["spent"] == one["whole"] - one["part"]
        assert budget["spentPercent"] == 100 * budget["spent"] / budget["allowed"]


def test_a_bearer_token_is_bound_to_no_key(objects: list[dict[str, Any]]) -> None:
    shown = [one for one in objects if "token_type" in one]

    assert shown
    for one in shown:
        assert (one["token_type"] == "DPoP") == ("cnf" in one)


def test_what_answers_what_was_sent_has_it(document: dict[str, Any]) -> None:
    """A field of the request that the answer has as well has the same value there."""
    other = {"begins", "ends", "url", "secret", "apis", "value", "email", "version", "status"}
    compared = 0
    for path, operations in document["paths"].items():
        sent = operations.get("post", {}).get("requestBody", {}).get("content", {})
        body = sent.get("application/json", {}).get("example")
        answer = answers(document).get(f"POST {path}")
        if not isinstance(body, dict) or answer is None:
            continue
        found = list(parts(answer))
        for name in body.keys() - other - {"ver", "timestamp", "txnId"}:
            values = [one[name] for one in found if name in one]
            assert not values or body[name] in values, (path, name, body[name], values)
            compared += bool(values)

    assert compared > 30


def test_what_waits_has_not_ended_yet(objects: list[dict[str, Any]]) -> None:
    ends = ("overAt", "decidedAt", "decidedBy", "endedAt")
    states = [one for one in objects if "state" in one and any(end in one for end in ends)]

    assert len(states) > 5
    for one in states:
        over = one["state"] not in {"waiting", "scheduled", "current"}
        assert over == any(one.get(end) for end in ends), one


def test_a_path_is_from_the_aa_to_the_fip(objects: list[dict[str, Any]]) -> None:
    paths = [one for one in objects if one.get("kind") == "path"]

    assert paths
    for one in paths:
        assert one.get("entity_id", one.get("entityId", "")).endswith("-AA")
        assert one.get("peer_id", one.get("peerId", "")).endswith("-FIP")
