"""The document as generators and people read it: whole, and made from the code."""

import enum
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from mudra.http.openapi import field_texts
from mudra.http.openapi.field_examples import FIELD_EXAMPLES
from mudra.http.openapi.field_texts import FIELD_TEXTS
from mudra.http.openapi.field_texts.queries import QUERY_TEXTS
from mudra.http.openapi.field_texts.sent import SENT_TEXTS
from mudra.http.openapi.field_words import FIELD_WORDS
from mudra.http.openapi.operation_ids import chosen_summaries
from mudra.levels.evidence import Fate
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.registry.lifecycle.decision import RegistryAction
from mudra.shared.entity_type import EntityType
from mudra.tokens.secrets.address_binding import AddressBinding

PARTS: dict[type, set[str]] = {
    RegistryAction: {*set(RegistryAction)} - {"submit", "update", "goLive"},  # of members, of time
    Fate: {Fate.LEFT_OUT, Fate.EXCUSED},
    AddressBinding: set(AddressBinding),
    EntityType: {EntityType.FIP, EntityType.AA},
}
"""Enumerations of which a field has some words alone."""
COMPONENT = re.compile(r'"#/components/schemas/([^"]+)"')
VERBS = {
    *("get", "list", "search", "read", "count", "stream", "verify", "introspect", "export"),
    *("add", "generate", "publish", "push", "submit", "import", "onboard", "announce", "begin"),
    *("set", "change", "update", "replace", "reset", "rotate", "resend", "retry", "request"),
    *("remove", "end", "retire", "revoke", "disable", "enable", "refuse", "admit", "decline"),
    *("confirm", "decide", "act", "acknowledge", "follow", "unfollow", "hand", "lint", "probe"),
    *("test", "start", "advance"),
}


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def parts(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts(part)


def test_every_field_says_what_it_means(document: dict[str, Any]) -> None:
    silent = [
        f"{title}.{name}"
        for title, schema in document["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if len(field.get("description", "")) < 3
    ]

    assert silent == []


def test_each_call_says_which_token_it_needs(document: dict[str, Any]) -> None:
    """There are two kinds, of a person and of an entity: "a bearer token" leaves one to guess."""
    kinds = {"User Access Token", "Entity Access Token"}
    for name, operation in operations(document):
        says = operation.get("description", "").partition("\n\nNeeds: ")[2]
        assert bool(operation.get("security")) == any(kind in says for kind in kinds), name


def test_generators_make_one_type_of_each_value(document: dict[str, Any]) -> None:
    """Of an enum without a type they make "anything", of a choice a class of its own."""
    for part in parts(document):
        if isinstance(part.get("enum"), list):
            assert "type" in part, part
        kinds = part.get("anyOf", [])
        if isinstance(kinds, list):
            named = [one for one in kinds if one != {"type": "null"}]
            of_one_event = {"type": "string"}, {"type": "integer"}
            assert len(named) <= 1 or tuple(named) == of_one_event, part


def test_generators_write_no_two_fields_of_an_object_alike(document: dict[str, Any]) -> None:
    """client_id and clientId are one name in Java, TypeScript and Go, which do not compile."""
    for title, schema in document["components"]["schemas"].items():
        names = [re.sub(r"\W|_", "", name).lower() for name in schema.get("properties", {})]
        assert len(names) == len(set(names)), title


def test_no_name_is_that_of_a_constructor_in_go(document: dict[str, Any]) -> None:
    """The generator for Go writes a function NewX for each schema X."""
    names = document["components"]["schemas"]

    assert [name for name in names if f"New{name}" in names] == []


def test_every_text_is_about_a_field(document: dict[str, Any]) -> None:
    named = {
        one
        for title, schema in document["components"]["schemas"].items()
        for name in schema.get("properties", {})
        for one in (name, f"{title}.{name}")
    }

    assert FIELD_TEXTS.keys() <= named


def test_every_parameter_of_a_query_says_what_it_does(document: dict[str, Any]) -> None:
    silent = [
        (name, parameter["name"])
        for name, operation in operations(document)
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ]

    assert silent == []


def test_every_text_of_a_sent_field_and_of_a_query_is_used(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    fields = {
        f"{title}.{name}" for title in schemas for name in schemas[title].get("properties", {})
    }
    queries = {
        one
        for _, operation in operations(document)
        for parameter in operation.get("parameters", [])
        for one in (parameter["name"], f"{operation['operationId']}.{parameter['name']}")
    }

    assert SENT_TEXTS.keys() <= fields
    assert QUERY_TEXTS.keys() <= queries


def test_a_parameter_of_one_call_is_said_under_the_name_of_the_call(
    document: dict[str, Any],
) -> None:
    """Another call that takes the name too would say what is true of the first one alone."""
    takers = Counter(
        parameter["name"]
        for _, operation in operations(document)
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query"
        and f"{operation['operationId']}.{parameter['name']}" not in QUERY_TEXTS
    )

    assert [name for name in QUERY_TEXTS if "." not in name and takers[name] < 2] == []


def test_no_two_areas_have_one_name_with_two_meanings() -> None:
    """The one that comes later would be the text of the other, too."""
    parts = [
        value
        for name, value in vars(field_texts).items()
        if name.endswith("_FIELDS") and isinstance(value, dict)
    ]

    assert len(parts) > 5
    assert sum(map(len, parts)) == len(FIELD_TEXTS)


def with_components(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """The schema with the components that it leads to: to pass on all of them takes 5 ms."""
    found: dict[str, Any] = {}
    left = COMPONENT.findall(json.dumps(schema))
    while left:
        name = left.pop()
        if name not in found:
            found[name] = document["components"]["schemas"][name]
            left += COMPONENT.findall(json.dumps(found[name]))
    return {**schema, "components": {"schemas": found}}


def test_every_request_has_a_whole_example_that_is_valid(document: dict[str, Any]) -> None:
    read = 0
    for name, operation in operations(document):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            examples = [one["value"] for one in content.get("examples", {}).values()]
            examples += [content["example"]] if "example" in content else []
            assert examples, name
            schema = with_components(content["schema"], document)
            for example in examples:
                jsonschema_rs.validate(schema, example)
                assert ': "text"' not in json.dumps(example), name  # no one's real value
                read += 1

    assert read > 50


def test_every_answer_in_json_has_a_whole_example_that_is_valid(document: dict[str, Any]) -> None:
    read = 0
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            content = response.get("content", {}).get("application/json")
            if status.startswith("2") and content:
                schema = with_components(content["schema"], document)
                jsonschema_rs.validate(schema, content["example"])
                assert ': "text"' not in json.dumps(content["example"]), name  # no one's real value
                read += 1

    assert read > 160


def test_an_example_has_no_token_and_no_secret(document: dict[str, Any]) -> None:
    """A reader may take them for real ones, and so may a scanner of secrets."""
    examples = json.dumps([one["example"] for one in parts(document["paths"]) if "example" in one])

    for token in re.findall(r"eyJ[\w-]+\.[\w.-]+", examples):
        assert re.fullmatch(
            r"[\w-]+\.(EXAMPLE|eyJzdWIiOiJGSU5TSUdIVC1GSVUifQ)\.c2lnbmF0dXJl", token
        )
    for secret in re.findall(r"whsec_[\w+/=]+", examples):
        assert secret == "whsec_EXAMPLE"


def words_of(field: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """The words that a field, or an element of it, may be."""
    if "$ref" in field:
        return words_of(schemas[field["$ref"].rpartition("/")[2]], schemas)
    inner = [*field.get("anyOf", []), *([field["items"]] if "items" in field else [])]
    found: list[str] = field.get("enum", []) if "properties" not in field else []
    return found or next((words for one in inner if (words := words_of(one, schemas))), [])


def test_every_word_of_a_field_says_what_it_means(document: dict[str, Any]) -> None:
    """But for words that an RFC or another page explains, and for a field with one word alone."""
    elsewhere = {
        *("errorCode", "alg", "category", "grant_type", "client_assertion_type"),
        *("RequestBlock.type", "NotificationBlock.type", "SubmittedCertificate.alg"),
        *("FaultRequest.kind", "FaultEndRequest.kind", "SandboxFault.kind"),
    }
    schemas = document["components"]["schemas"]
    silent = [
        f"{title}.{name}: {word}"
        for title, schema in schemas.items()
        for name, field in schema.get("properties", {}).items()
        if not {name, f"{title}.{name}"} & elsewhere
        and len(words := [word for word in words_of(field, schemas) if word]) > 1
        for word in words
        if f"`{word}`: " not in field["description"]
    ]

    assert silent == []


def test_a_field_has_all_words_of_the_code_and_no_others() -> None:
    for meanings in FIELD_WORDS.values():
        for kind in {type(word) for word in meanings if isinstance(word, enum.StrEnum)}:
            named = {word for word in meanings if isinstance(word, kind)}
            assert named == set(kind) or named <= PARTS.get(kind, set()), kind


def test_every_example_and_every_word_is_of_a_field(document: dict[str, Any]) -> None:
    exact = {
        f"{title}.{name}"
        for title, schema in document["components"]["schemas"].items()
        for name in schema.get("properties", {})
    }

    assert FIELD_WORDS.keys() <= exact
    assert FIELD_EXAMPLES.keys() <= exact | {one.rpartition(".")[2] for one in exact}


def test_operations_have_names_that_a_programmer_would_choose(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]

    assert len(names) == len(set(names))
    for name in names:
        assert re.fullmatch(r"[a-z]+([A-Z][a-z0-9]*)+|[a-z]+OAuth[A-Z][a-z]+", name), name
        assert len(name) <= 28, name
        assert re.match("[a-z]+", name)[0] in VERBS, name  # type: ignore[index]  # it begins so
    assert chosen_summaries() <= {operation["summary"] for _, operation in operations(document)}


def test_no_generator_meets_what_it_cannot_read(document: dict[str, Any]) -> None:
    for part in parts(document):
        assert part.get("items") is not False
        assert "prefixItems" not in part
        assert part.get("default", "given") != ""


def test_the_tag_is_the_discriminator_of_the_two_payloads(document: dict[str, Any]) -> None:
    push = document["paths"]["/metrics/perf/v1/push"]["post"]
    schema = push["requestBody"]["content"]["application/json"]["schema"]

    assert schema["discriminator"]["propertyName"] == "tag"
    assert schema["discriminator"]["mapping"] == {
        "req-fipMetrics-aa": "#/components/schemas/RequestMetrics",
        "not-fipMetrics-aa": "#/components/schemas/NotificationMetrics",
    }
    assert len(schema["oneOf"]) == 2


def test_codes_are_enums_and_positions_are_named(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    sent, received = (schemas[name]["properties"] for name in ("RequestBlock", "NotificationBlock"))

    assert sent["type"]["enum"] == [code.value for code in RequestType]
    assert received["type"]["enum"] == [code.value for code in NotificationType]
    assert "1 totalSentCnt, 2 200OKRecdCnt" in sent["counts"]["description"]
    assert "15 5xxOtherErrorsSentCnt" in received["counts"]["description"]
    assert "1 succRecdCnt, 2 failRecdCnt" in received["status"]["description"]
    assert "1 p50, 2 p95, 3 p99, 4 p100" in sent["pxx"]["description"]
    assert sent["counts"]["minItems"] == sent["counts"]["maxItems"] == 15


def test_it_says_whom_to_ask_and_what_each_group_is(document: dict[str, Any]) -> None:
    named = {tag["name"] for tag in document["tags"] if tag["description"]}

    assert document["info"]["contact"]
    assert document["info"]["description"]
    assert {one for _, operation in operations(document) for one in operation["tags"]} == named


def test_the_whole_service_is_in_it_at_its_address(document: dict[str, Any]) -> None:
    assert document["servers"] == [{"url": "https://o.example", "description": "This service"}]
    assert {
        "/iam/oauth2/token",
        "/iam/oauth2/introspect",
        "/iam/oauth2/revoke",
        "/iam/.well-known/jwks.json",
        "/iam/.well-known/openid-configuration",
        "/iam/revocations",
        "/status/network.json",
        "/status/network.csv",
        "/status/v1/fips.json",
    } <= document["paths"].keys()
