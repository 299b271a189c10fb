"""The meanings of fields agree with their types, and need no other text to be understood."""

import json
import re
from typing import Any

import pytest
from tools.pages.calls import calls_pages


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


def test_a_call_that_replaces_says_what_becomes_of_a_field_that_is_left_out(pages: str) -> None:
    """The sample of such a call has all fields but those that the call does not change."""
    section = pages.partition("### Change an announcement\n")[2].partition("\n### ")[0]
    command = section.partition("```sh\n")[2].partition("```")[0]
    rows = re.findall(r"^\| `(\w+)` \| JSON, (.*)$", section, re.MULTILINE)
    left_out = [(name, row) for name, row in rows if "needed" not in row]

    assert left_out
    for name, row in left_out:
        assert re.search(r"left out|default `|stays|leaves it", row), name
        assert f'"{name}": ' in command or name in {"publishAt", "incidentId"}, name


def test_a_sample_silences_one_entity(pages: str) -> None:
    section = pages.partition("### Begin a silence\n")[2].partition("\n### ")[0]
    command = section.partition("```sh\n")[2].partition("```")[0]

    assert '"entityId": "KAVERI-FIP"' in command


def test_what_ends_a_thing_comes_last_in_its_part(pages: str) -> None:
    """Who makes the calls of a part from the top down finds what each of them needs."""
    ends = re.compile(
        r"(Remove|End|Stop|Retire|Revoke|Disable|Reset|Suspend|Replace the|Decline)\b"
    )
    compared = 0
    for part in re.split(r"^## ", pages, flags=re.MULTILINE):
        calls = re.findall(r"^### (.+)\n\n`(?:GET|POST|PUT|DELETE) ", part, re.MULTILINE)
        ending = [ends.match(call) is not None for call in calls]
        assert ending == sorted(ending), calls
        compared += any(ending)

    assert compared > 10


def test_no_list_of_words_is_twice_on_a_page() -> None:
    for name, page in calls_pages().items():
        lists = [
            frozenset(found.split("<br>"))
            for found in re.findall(r"<br>(`[^`|]+`: [^|]+?)(?:; default `[^`]+`)? \|", page)
        ]
        long = [one for one in lists if len(one) > 4]
        assert len(long) == len(set(long)), name
