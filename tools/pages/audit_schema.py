"""docs/reference/audit-event.schema.json: the object that MUDRA_AUDIT_EXPORT sends."""

from typing import Any

import msgspec

from mudra.audit.export import ExportedEvent


def audit_schema() -> str:
    """Return the schema, as JSON Schema 2020-12."""
    made: dict[str, Any] = msgspec.json.schema(ExportedEvent)
    definitions = made["$defs"]
    event = definitions.pop(ExportedEvent.__name__)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **event,
        "title": "An event of Mudra's audit",
        "$defs": definitions,
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
