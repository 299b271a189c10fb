"""The meanings of fields agree with their types, and need no other text to be understood."""

import json
import re
from typing import Any

import pytest
from tools.pages.calls import calls_pages

from mudra.bootstrap.routes import service_routes
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    routes = service_routes(RouteSettings.of(Settings(sandbox=True))).routes
    found: dict[str, Any] = json.loads(json_document(routes.litestar, "https://o.example"))
    return found


@pytest.fixture(scope="module")
def pages() -> str:
    return "\n".join(calls_pages().values())


def test_a_text_that_says_null_is_of_a_field_that_may_be_null(document: dict[str, Any]) -> None:
    wrong = [
        f"{title}.{name}"
        for title, schema in document["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if re.search(r"\bnull\b", field.get("description", ""))
        and "type" in field  # any JSON value has none
        and '"null"' not in json.dumps(field)
    ]

    assert wrong == []


def test_an_answer_requires_what_each_answer_has(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    def left_out(title: str) -> set[str]:
        return schemas[title]["properties"].keys() - set(schemas[title]["required"])

    assert left_out("EntitySecretReadResponse") == {"oldSecretExpirationDate"}
    assert left_out("MailDetails") == {"sentAt", "lastError", "nextAttemptAt"}
    assert left_out("PublicRow") == set()
    assert left_out("Finding") == {"allowed", "nearest", "severity"}  # defaults are left out
    assert left_out("UserTokenResponse") == set()


def test_no_page_cites_a_specification_that_its_reader_has_not(pages: str) -> None:
    assert [cell for cell in pages.split("|") if re.search(r"\b(?:spec|part) \d", cell)] == []


def test_a_type_is_one_that_readers_know(pages: str) -> None:
    assert "email-or-empty" not in pages
    assert "| `limit` | query, integer | how many rows a page has" in pages
    assert "| `url` | JSON, needed, string, URL | " in pages


def test_a_call_takes_what_it_obeys_and_no_more(document: dict[str, Any]) -> None:
    export = document["paths"]["/operator/v1/members/export"]["get"]
    own = document["components"]["schemas"]["OwnHandOverRequest"]
    target = document["components"]["schemas"]["TargetRequest"]

    taken = {one["name"] for one in export["parameters"]}
    assert taken == {"type", "status", "words", "withoutAdmin"}
    assert "leaving" not in own["properties"]
    assert target["properties"]["role"]["enum"] == ["AA", "FIP"]
