"""The document says what the annotations of the handlers say."""

import asyncio
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.endpoint import ANYONE, Call, request_type, respond, response_types
from mudra.http.openapi.document import json_document
from mudra.http.request.request_context import RequestContext
from mudra.http.response.response_body import CsvText, ResponseBody
from mudra.http.route import post
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings
from mudra.shared.refusal import Refusal


class Sent(Struct):
    number: int


class Returned(ResponseBody, kw_only=True):
    twice: int


class Odd(Refusal, frozen=True):
    number: int


async def double(call: Call[Sent], unit: str) -> Returned | CsvText | Odd:
    """Double a number."""
    return Odd(call.body.number) if call.body.number % 2 else Returned(twice=2 * call.body.number)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    made = json_document(
        build_routes(
            RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers
        ).litestar
    )
    found: dict[str, Any] = msgspec.json.decode(made)
    return found


def parts(node: object, place: str = "") -> list[tuple[str, dict[str, Any]]]:
    if isinstance(node, list):
        return [found for one in node for found in parts(one, place)]
    if not isinstance(node, dict):
        return []
    return [
        (place, node),
        *(p for name, one in node.items() for p in parts(one, f"{place}/{name}")),
    ]


def test_a_handlers_annotations_are_all_that_names_its_structs():
    assert request_type(double) is Sent
    assert response_types(double) == [Returned, CsvText]

    operation = post("/{unit:str}", "Double", gate=ANYONE)(double).operation_class()

    body = operation.request_body.content["application/json"].schema.to_schema()
    assert body["title"] == "Sent"
    content = operation.responses["200"].content
    assert content["application/json"].schema.to_schema()["title"] == "Returned"
    assert set(content) == {"application/json", "text/csv"}


def test_a_refusal_of_what_was_sent_comes_back_without_the_handler():
    context: RequestContext = SimpleNamespace()  # type: ignore[assignment]  # passed on only

    assert asyncio.run(respond(ANYONE, double, context, Odd(7), {})) == Odd(7)
    assert asyncio.run(respond(ANYONE, double, context, Sent(3), {"unit": "m"})) == Odd(3)


def test_no_published_object_is_free(document: dict[str, Any]):
    free = [
        place
        for place, part in parts(document)
        if part.get("type") == "object"
        and not part.get("properties")
        and not part.get("additionalProperties")
    ]

    assert free == []


def test_every_operation_has_a_description_and_a_named_response(document: dict[str, Any]):
    operations = [one for path in document["paths"].values() for one in path.values()]

    assert [one["operationId"] for one in operations if not one.get("description")] == []
    untitled = [
        one["operationId"]
        for one in operations
        for status, response in one["responses"].items()
        if status.startswith("2")
        for media, content in response["content"].items()
        if media == "application/json" and "$ref" not in msgspec.json.encode(content).decode()
    ]
    assert untitled == []
