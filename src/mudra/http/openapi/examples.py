"""Whole examples of what each operation takes and answers, made from its schemas.

Which members an example has, and of which type, is that of the structs; `field_examples` has
values for those whose struct names none, and `act_examples` those of one address or operation.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mudra.http.openapi.act_examples import examples_of_call
from mudra.http.openapi.components import Document, mapping, name_of
from mudra.http.openapi.field_examples import FIELD_EXAMPLES

_BY_FORMAT: Final = {
    "date-time": "2026-01-31T09:30:00.000Z",
    "uuid": "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90",
    "date": "2026-01-31",
}
_NAME: Final = "KAVERI-FIP"
"""The name of a member of an object by name."""
_DEEPEST: Final = 12
_NOT_NOW: Final = {
    "TokenResponse.message",
    "EntitySecretReadResponse.oldSecretExpirationDate",
    "EntitySecretUseResponse.old",
    "AccountResponse.pendingEmail",
    "MailDetails.nextAttemptAt",
    "AdminDetails.invitedUntil",
    "AdminDetails.takesOverFrom",
    "UserDetails.linkValidUntil",
    "OAuthIntrospection.cnf",
    "Calls.statuses",
    "TimedCalls.statuses",
}
"""Members that answers have only for a time, as in a grace period, or of one kind of thing."""
_CHOICES: Final = ("oneOf", "anyOf")
_JSON: Final = "application/json"


def add_examples(document: Document, schemas: Document) -> None:
    """Add an example of each body of a request, and of each answer in JSON."""
    for path, operation in _operations(document):
        act = examples_of_call(path, str(operation["operationId"]))
        sent = mapping(operation.get("requestBody", {})).get("content", {})
        for content in mapping(sent).values():
            _add(mapping(content), _Examples(schemas, act, whole=False))
        for status, response in mapping(operation["responses"]).items():
            content = mapping(mapping(response).get("content", {})).get(_JSON)
            if status.startswith("2") and content:
                _add(mapping(content), _Examples(schemas, act, whole=True))


def _operations(document: Document) -> Iterator[tuple[str, Document]]:
    for path, operations in mapping(document["paths"]).items():
        for operation in mapping(operations).values():
            if isinstance(operation, dict):
                yield path, operation


def _add(content: Document, examples: "_Examples") -> None:
    """Add one, or one of each alternative where there are several."""
    schema = mapping(content["schema"])
    discriminator = schema.get("discriminator")
    if not isinstance(discriminator, dict):
        content["example"] = examples.of(schema)
        return
    content["examples"] = {
        word: {"value": examples.of({"$ref": reference})}
        for word, reference in discriminator["mapping"].items()
    }


class _Examples:
    """Examples of requests, or whole ones: an answer has the members that are not needed too."""

    def __init__(self, schemas: Document, act: Mapping[str, object], *, whole: bool) -> None:
        self._schemas = schemas
        self._act = act
        self._whole = whole

    def of(self, schema: Document, depth: int = 0) -> object:
        """Return an example of a schema, from the examples of its fields."""
        examples = schema.get("examples")
        if isinstance(examples, list) and examples:
            return examples[0]
        if "$ref" in schema:
            return self.of(mapping(self._schemas[name_of(schema)]), depth)
        for several in _CHOICES:
            if several in schema and "properties" not in schema:
                kinds = schema[several]
                assert isinstance(kinds, list)
                return self.of(kinds[0], depth)
        if "properties" in schema and depth < _DEEPEST:
            return self._of_object(schema, depth)
        words = schema.get("enum")
        if isinstance(words, list):
            return next((word for word in words if word), words[0])
        return self._of_several(schema, depth) if depth < _DEEPEST else _plain(schema)

    def _of_several(self, schema: Document, depth: int) -> object:
        items, others = schema.get("items"), schema.get("additionalProperties")
        if schema.get("type") == "array" and isinstance(items, dict):
            return [] if items.keys() <= {"type"} else [self.of(items, depth + 1)]
        if isinstance(others, dict) and others.keys() & {"$ref", "items"}:
            return {_NAME: self.of(others, depth + 1)}
        return _plain(schema)

    def _of_object(self, schema: Document, depth: int) -> Document:
        required, title = schema.get("required", []), schema.get("title")
        assert isinstance(required, Sequence)
        return {
            name: self._of_field(f"{title}.{name}", name, mapping(field), depth)
            for name, field in mapping(schema["properties"]).items()
            if name in required or self._is_shown(f"{title}.{name}", mapping(field))
        }

    def _of_field(self, exact: str, name: str, field: Document, depth: int) -> object:
        if exact in self._act:
            return self._act[exact]
        if exact in FIELD_EXAMPLES:
            return FIELD_EXAMPLES[exact]
        is_own = name in FIELD_EXAMPLES and not self._says_itself(field)
        return FIELD_EXAMPLES[name] if is_own else self.of(field, depth + 1)

    def _says_itself(self, field: Document) -> bool:
        """Return whether the values of a field are in its schema."""
        if field.keys() & {"examples", "enum", "const", "$ref"}:
            return True
        inner = [one for several in _CHOICES for one in field.get(several, ())]  # type: ignore[attr-defined]  # a list, by OpenAPI
        items = field.get("items")
        return any(map(self._says_itself, [*inner, *([items] if isinstance(items, dict) else [])]))

    def _is_shown(self, exact: str, field: Document) -> bool:
        """Return whether an example has a field that a request, or an answer, may leave out."""
        if exact in self._act:
            return True
        return exact not in _NOT_NOW if self._whole else self._has_example(field)

    def _has_example(self, field: Document) -> bool:
        if "$ref" in field and "examples" not in field:
            return self._has_example(mapping(self._schemas[name_of(field)]))
        return bool(field.get("examples"))


def _plain(schema: Document) -> object:
    if "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default"))
    kind = schema.get("type")
    if kind in {"integer", "number"}:
        return schema.get("minimum", 1)
    if kind == "boolean":
        return False
    if kind == "object":
        return {}
    return _BY_FORMAT.get(str(schema.get("format")), "text")
