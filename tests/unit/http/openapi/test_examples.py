"""Examples do not contradict themselves, nor the rules of the service."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from mudra.bootstrap.routes import service_routes
from mudra.http.openapi.act_examples import named_in_examples
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    routes = service_routes(RouteSettings.of(Settings(sandbox=True))).routes
    found: dict[str, Any] = json.loads(json_document(routes.litestar, "https://o.example"))
    return found


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
        assert 0 <= one["quartiles"]["low"] <= one["mine"] <= one["quartiles"]["high"] <= 1


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
        assert one["entity_id"].endswith("-AA")
        assert one["peer_id"].endswith("-FIP")
