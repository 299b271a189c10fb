"""The document with each schema under its name once."""

import pytest

from mudra.http.openapi.components import NamedTwice, with_components

ERROR = {"description": "Wrong.", "content": {"application/json": {"schema": {"type": "object"}}}}


def document(*schemas):
    paths = {
        f"/{place}": {
            "post": {
                "responses": {
                    "200": {"content": {"application/json": {"schema": schema}}},
                    "400": ERROR,
                }
            }
        }
        for place, schema in enumerate(schemas)
    }
    return {"paths": paths, "components": {"securitySchemes": {"bearer": {}}}}


def named(name, /, **properties):
    return {"title": name, "type": "object", "properties": properties}


def test_a_schema_within_another_and_a_shared_error_are_referred_to():
    inner = named("Inner", title={"type": "string"})  # a member that is called title
    made = with_components(document(named("Outer", one=inner, more={"items": inner}), inner))

    assert made["components"] == {
        "securitySchemes": {"bearer": {}},
        "schemas": {
            "Inner": inner,
            "Outer": named(
                "Outer",
                one={"$ref": "#/components/schemas/Inner"},
                more={"items": {"$ref": "#/components/schemas/Inner"}},
            ),
        },
        "responses": {"BadRequest": ERROR},
    }
    answers = made["paths"]["/1"]["post"]["responses"]
    assert answers["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Inner"
    }
    assert answers["400"] == {"$ref": "#/components/responses/BadRequest"}


def test_an_error_that_says_something_else_stays_in_its_place():
    given = document({"type": "string"}, {"type": "string"}, {"type": "string"})
    special = {**ERROR, "description": "Wrong in its own way."}
    given["paths"]["/0"]["post"]["responses"]["400"] = special

    made = with_components(given)

    assert made["paths"]["/0"]["post"]["responses"]["400"] == special
    assert made["components"]["responses"] == {"BadRequest": ERROR}


def test_two_that_differ_cannot_have_one_name():
    with pytest.raises(NamedTwice, match="Same"):
        with_components(document(named("Same", one={}), named("Same", two={})))
