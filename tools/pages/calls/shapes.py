"""The rows of a table that say what is sent or answered, from JSON Schemas."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

Json = Mapping[str, Any]
_MOST_WORDS: Final = 24
"""Allowed words that a cell lists; of longer lists it says how many there are."""
_MOST_INNER: Final = 14
"""Fields of an object that are shown in the table that names it."""
_DEEPEST: Final = 2
_FORMS: Final = (
    "an ISO 8601 instant",
    "json or csv",
    "true or false",
    "the value of next",
    "upto of",
    "a text",
    "FIP or AA",
    "FIP, FIU or AA",
    "active, suspended",
    "invited, active",
    "success, refused",
)
"""Descriptions that say no more than the type, where a parameter has a meaning of its own."""
_NAMES_OF_FORMATS: Final = {
    "email-or-empty": "email, or empty",
    "webhook-url": "URL",
    "member-file": "CSV",
    "plain-line": "",
    "password": "",
}
_WHOLE_NUMBER: Final = "a whole number from"
_DIGITS: Final = "^[0-9]{1,15}$"
_EXPLAINED: Final = {
    "15 counts of calls": "../metrics-payloads.md#the-15-counts",
    "7 counts of FI requests": "../metrics-payloads.md#fi-requests-finot-sfireqnot-ffireqnot",
    "hash of the full set": "../registry.md#following-changes",
}
"""Words of which another page says more."""
_WORDS: Final = re.compile(r"`[^`]*`(?:, `[^`]*`)+(?:, of \d+ words)?")
"""Words of a type; where the meaning lists them, the type does not."""
_FLAG: Final = "^(true|false)$"
_ELSEWHERE: Final = {
    "RequestFip": "../metrics-payloads.md",
    "NotificationFip": "../metrics-payloads.md",
    "EntityInfo": "../registry.md#entityinfo",
    "SubmittedEntityInfo": "../registry.md#entityinfo",
    "Requester": "../registry.md#requester",
    "SubmittedRequester": "../registry.md#requester",
}
"""Objects that another page describes."""


class Shapes:
    """The schemas of a document, for one page: what it needs twice has a list of its own."""

    def __init__(self, components: Json, needed: Iterable[Json]) -> None:
        self._schemas = components["schemas"]
        self._answers = components["responses"]
        self._uses: Counter[str] = Counter()
        for schema in needed:
            self._count(schema)
        self._linked: dict[str, None] = {}

    def _count(self, node: object) -> None:
        """Count where objects are named, the fields of each once."""
        if isinstance(node, list):
            for part in node:
                self._count(part)
        elif isinstance(node, Mapping):
            if "$ref" in node:
                name = _name_of(node)
                self._uses[name] += 1
                if self._uses[name] == 1 and name not in _ELSEWHERE:
                    self._count(self._schemas[name])
            for part in node.values():
                self._count(part)

    def rows(
        self, schema: Json, *, without: frozenset[str] = frozenset(), answered: bool = True
    ) -> Iterator[list[str]]:
        """Gives name, type and meaning of each field; inner fields as `outer.inner`.

        Of an answer it says which fields may be left out.
        """
        for row, needed in self._fields(schema, "", without, 0, answered=answered):
            if answered and not needed:
                row[1] = f"{row[1]}, may be absent"
            yield row

    def _fields(
        self, schema: Json, before: str, without: frozenset[str], depth: int, *, answered: bool
    ) -> Iterator[tuple[list[str], bool]]:
        required = schema.get("required", ())
        for name, one in schema.get("properties", {}).items():
            if name not in without:
                inner, mark = self._inner(one, depth)
                kind = "object" if inner and not mark else "array of objects" if inner else ""
                null = " or null" if inner and _may_be_null(one) else ""
                needed = name in required
                about = meaning({**one, "default": None} if answered and needed else one)
                typed = _WORDS.sub("word", self.type_of(one)) if "<br>" in about else ""
                kind = kind + null or typed or self.type_of(one)
                yield [f"`{before}{name}`", kind, about], needed
                if inner:
                    yield from self._fields(
                        inner, f"{before}{name}{mark}.", frozenset(), depth + 1, answered=answered
                    )

    def _inner(self, one: Json, depth: int) -> tuple[Json | None, str]:
        """Returns the object of a field that only this table names, with `[]` for a list."""
        mark = ""
        if "anyOf" in one:
            kinds = [kind for kind in one["anyOf"] if kind.get("type") != "null"]
            one = kinds[0] if len(kinds) == 1 else {}
        if one.get("type") == "array":
            one, mark = one.get("items") or {}, "[]"
        if "$ref" not in one or depth >= _DEEPEST:
            return None, ""
        name = _name_of(one)
        schema = self._schemas[name]
        fields = len(schema.get("properties", {}))
        alone = self._uses[name] == 1 and name not in _ELSEWHERE
        return (schema, mark) if alone and 0 < fields <= _MOST_INNER else (None, "")

    def objects(self) -> Iterator[tuple[str, Json]]:
        """Gives the objects that tables link to, and those that these link to in turn."""
        done: set[str] = set()
        while left := sorted(self._linked.keys() - done):
            for name in left:
                done.add(name)
                yield name, self._schemas[name]

    def answer(self, response: Json) -> Json:
        """Returns the answer that a reference points to, or that is given."""
        found: Json = self._answers[_name_of(response)] if "$ref" in response else response
        return found

    def resolved(self, schema: Json) -> Json:
        """Returns the object that a schema is, or that its array or choice begins with."""
        if "$ref" in schema:
            return self.resolved(self._schemas[_name_of(schema)])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self.resolved(schema[several][0])
        return self.resolved(schema["items"]) if schema.get("type") == "array" else schema

    def type_of(self, schema: Json) -> str:
        """Returns the words for a type; an object of its own list is a link."""
        if "$ref" in schema:
            return self._named(_name_of(schema))
        for several in ("anyOf", "oneOf"):
            if several in schema:
                kinds = dict.fromkeys(filter(None, map(self.type_of, schema[several])))
                return " or ".join(kinds)
        if words := _words_of(schema):
            return words
        kind = schema.get("type", "")
        if isinstance(kind, list):
            return " or ".join(kind)
        if kind == "array":
            items = schema.get("items") or {"anyOf": schema.get("prefixItems", [])[:1]}
            return f"array of {self.type_of(items) or 'any'}"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"object of {self.type_of(schema['additionalProperties']) or 'any'} by name"
        of_query = schema.get("description", "").startswith(_WHOLE_NUMBER)
        if of_query or schema.get("pattern") == _DIGITS:  # in a query a number is a text
            kind = "integer"
        return ", ".join(filter(None, (str(kind), _form(schema))))

    def _named(self, name: str) -> str:
        if name in _ELSEWHERE:
            return f"[{name}]({_ELSEWHERE[name]})"
        schema = self._schemas[name]
        if "properties" not in schema:  # a list of words, which a reader wants in its place
            return self.type_of(schema)
        self._linked[name] = None
        return f"[{name}](#{name.lower()})"


def meaning(schema: Json, first: str = "") -> str:
    """Returns the description, with the bounds and the default that it does not name."""
    form = schema.get("description", "")
    parts = [first, "" if first and form.startswith(_FORMS) else form]
    text = " ".join(parts)
    low, high, longest = (schema.get(name) for name in ("minimum", "maximum", "maxLength"))
    if low is not None and high is not None and str(high) not in text:
        parts.append(f"{low:,} to {high:,}")
    if longest is not None and str(longest) not in text and f"{longest:,}" not in text:
        parts.append(f"at most {longest:,} characters")
    default = schema.get("default")
    if default is not None and not isinstance(default, list) and default != "":
        parts.append(f"default `{_plain(default)}`")
    about = cell("; ".join(dict.fromkeys(filter(None, parts))))
    for words, place in _EXPLAINED.items():
        about = about.replace(words, f"[{words}]({place})")
    return about


def cell(text: str) -> str:
    """Returns a text as one cell of a table; a list has a line for each point."""
    first, *points = text.split("\n- ")
    return "<br>".join(" ".join(one.split()) for one in (first, *points)).replace("|", "\\|")


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _form(schema: Json) -> str:
    form = str(schema.get("format", ""))
    return _NAMES_OF_FORMATS.get(form, form)


def _words_of(schema: Json) -> str:
    """Returns the words that a value may be; empty where it may be any."""
    if schema.get("pattern") == _FLAG:
        return "`true`, `false`"
    words = [schema["const"]] if "const" in schema else schema.get("enum", ())
    named = [word for word in words if word not in ("", None)]
    shown = ", ".join(f"`{word}`" for word in named[:_MOST_WORDS])
    return f"{shown}, of {len(named)} words" if len(named) > _MOST_WORDS else shown


def _may_be_null(schema: Json) -> bool:
    return any(kind.get("type") == "null" for kind in schema.get("anyOf", ()))


def _name_of(reference: Json) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
