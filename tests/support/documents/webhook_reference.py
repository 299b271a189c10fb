"""The reference of messages to webhooks, as tests compare it with what is sent."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs
from tests.support.documents.blocks import blocks_of, text_of

PAGE = "docs/reference/webhooks.md"
FIELDS = {"type", "timestamp", "data"}
"""Of each message in the standard format."""


@cache
def events() -> frozenset[str]:
    """The events of the table."""
    table = text_of(PAGE).partition("\n## Events\n")[2].partition("\n## ")[0]
    return frozenset(re.findall(r"^\| `([a-z_.]+)` \|", table, re.MULTILINE))


@cache
def samples() -> Mapping[str, Any]:
    """Each message that the page shows, by its event."""
    shown = [json.loads(one.body) for one in blocks_of(PAGE) if one.kind == "json"]
    return {one["type"]: one for one in shown if one.keys() == FIELDS}


@cache
def schema() -> Any:
    """The schema of all messages, which the page offers as a file."""
    return json.loads(text_of("docs/reference/webhooks.schema.json"))


def check_message(message: Mapping[str, Any]) -> None:
    """Fail where a message that was sent is not in the table, or not as its schema has it."""
    event = message["type"]
    assert event in events(), f"{event} is not in {PAGE}"
    jsonschema_rs.validator_for(schema()).validate(message)
