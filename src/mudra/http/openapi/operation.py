"""The OpenAPI description of a handler, made from the structs that it reads and returns.

Examples come from the structs' own fields, so that none can become outdated.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final

import msgspec
from litestar.openapi.spec import (
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    Parameter,
    Reference,
    RequestBody,
    Schema,
)
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType

from mudra.http.openapi.always_there import require_always_there
from mudra.http.openapi.components import OF_THE_FIELD, mapping
from mudra.http.openapi.operation_ids import operation_id
from mudra.http.request.request_context import RequestEnvelope
from mudra.http.request.validation import needs_fields
from mudra.http.response.errors import problem_of
from mudra.http.response.response_body import (
    CsvText,
    ErrorBody,
    EventStream,
    FindingsErrorBody,
    PdfFile,
    ResponseBody,
)
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
ERRORS: Final[Mapping[str, str]] = {
    "400": "The request is wrong; errorMsg names the field and what is allowed.",
    "401": "Credentials, token or rights are missing or wrong.",
    "404": "Nothing has this name.",
    "405": "Another method than the documented one.",
    "408": "The body came too slowly.",
    "409": "The current state does not permit it.",
    "413": "The body is too large.",
    "415": "Another media type than the documented one.",
    "429": "A limit is reached; Retry-After says when to retry.",
    "500": "An unexpected error; the operator finds it by the txnId.",
    "503": "Not available now; Retry-After says when to retry.",
}
_OF_THE_CALL: Final = frozenset({"400", "401", "429"})
_HEADERS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "401": {"WWW-Authenticate": 'Bearer realm="mudra"'},
    "405": {"Allow": "The methods that this path accepts."},
    "429": {"Retry-After": "Whole seconds until the next permitted time."},
    "503": {"Retry-After": "Whole seconds."},
}
_ALWAYS: Final[Mapping[str, str]] = {
    "X-Request-Id": "The txnId of the response.",
    "Cache-Control": "no-store: a response may carry a token.",
}
_NO_MORE: Final[Mapping[str, str]] = MappingProxyType({})
_TEXT: Final = OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
HERE: Final = ("default", "examples")
"""Facts of a field whose type is that of others too."""
CSV: Final = "text/csv"
PDF: Final = "application/pdf"
_TEXTS: Final[Mapping[object, tuple[str, OpenAPIMediaType]]] = {
    CsvText: (CSV, _TEXT),
    PdfFile: (
        PDF,
        OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY)),
    ),
    EventStream: ("text/event-stream", _TEXT),
}


def described(  # noqa: PLR0913  # each argument is one fact of the description
    summary: str,
    reads: object,
    *answers: object,
    needs: str = "",
    media: str = JSON,
    status: int = 200,
    query: type[msgspec.Struct] | None = None,
    conflicts: Sequence[Refusal] = (),
    findings: bool = False,
    headers: Mapping[str, str] = _NO_MORE,
    refuses: type[msgspec.Struct] = ErrorBody,
    traced: bool = True,
) -> type[Operation]:
    """Make the Operation class of one handler.

    `reads` is a struct, to which the envelope's fields are added, or a JSON Schema.
    `answers` are the types of its response; CsvText, PdfFile and EventStream are no JSON.
    `conflicts`: the refusals by the present state, each with the status of its kind.
    `needs`: which token the caller presents, such as "Entity Access Token of an AA".
    `findings`: its 400 may list all findings in a document. `headers`: those of a response
    that can be revalidated, with their descriptions; such a handler may return 304.
    `refuses`: the body of 400, 401 and 429 where it is not that of part 7. `traced`: whether
    requests and responses have the envelope of the specification and the header X-Request-Id.
    """
    always = _ALWAYS if traced else _NO_MORE

    class Described(Operation):
        # No dataclass of its own: making one takes a millisecond or two of every start, and
        # there are as many as there are handlers.
        def __init__(self, **known: Any) -> None:  # as the framework fills it
            super().__init__(**known)
            self.summary, self.operation_id = summary, operation_id(summary)
            if reads is not None:
                self.request_body = RequestBody(
                    content={media: _sent(reads, media if traced else "")},
                    required=not (isinstance(reads, type) and not needs_fields(reads)),
                )
            ok = OpenAPIResponse(
                description="Done.",
                headers=_headers({**always, **headers}),
                content=dict(
                    _TEXTS[answer] if answer in _TEXTS else (JSON, _content(answer))
                    for answer in answers
                ),
            )
            self.responses = {
                str(status): ok,
                **_errors(refuses, conflicts, findings=findings),
            }
            if headers:
                self.responses["304"] = OpenAPIResponse(
                    description="Not modified: the caller has it.",
                    headers=_headers({**always, **headers}),
                )
            if query is not None:
                self.parameters = [*(self.parameters or []), *_parameters(query)]
            _ask_for(self, needs)

    return Described


def _ask_for(operation: Operation, needs: str) -> None:
    operation.security = [{"bearer": []}] if needs else []
    if needs:
        operation.description = f"{operation.description or operation.summary}\n\nNeeds: {needs}."


def _parameters(query: type[msgspec.Struct]) -> list[Parameter | Reference]:
    """Describe each parameter of a query."""
    schema = _schema_of(query)
    needed = schema.get("required", [])
    members = mapping(schema["properties"])
    assert isinstance(needed, list)
    return [
        Parameter(
            name=name,
            param_in="query",
            required=name in needed,
            schema=_Written(mapping(member)),
        )
        for name, member in members.items()
    ]


class _Written(Schema):
    """A JSON Schema that is written by hand."""

    def __init__(self, written: dict[str, object]) -> None:
        super().__init__()
        self._written = written

    def to_schema(self) -> dict[str, object]:
        """Return it unchanged."""
        return self._written


def _errors(
    refuses: type[msgspec.Struct], conflicts: Sequence[Refusal], *, findings: bool
) -> dict[str, OpenAPIResponse]:
    bodies = {status: refuses if status in _OF_THE_CALL else ErrorBody for status in ERRORS}
    if findings:
        bodies["400"] = FindingsErrorBody
    said: dict[str, dict[str, None]] = {}
    for one in conflicts:
        said.setdefault(str(problem_of(one).status), {})[one.sentence] = None
    return {
        status: _error(status, body, tuple(said.get(status, ())))
        for status, body in bodies.items()
        if status in said or status != "409"
    }


class _Shared(OpenAPIResponse):
    """A response of many operations: its description is made once."""

    @cached_property
    def _described(self) -> dict[str, Any]:
        return super().to_schema()

    def to_schema(self) -> dict[str, Any]:
        """Return the description, which no one changes."""
        return self._described


@cache
def _error(status: str, body: type[msgspec.Struct], sentences: tuple[str, ...]) -> _Shared:
    return _Shared(
        description="\n- ".join([ERRORS[status], *sentences]),
        headers=_headers(
            {**(_ALWAYS if issubclass(body, ErrorBody) else {}), **_HEADERS_OF.get(status, {})}
        ),
        content={JSON: _content(body)},
    )


def _headers(texts: Mapping[str, str]) -> dict[str, OpenAPIHeader | Reference]:
    return {
        name: OpenAPIHeader(
            schema=Schema(type=OpenAPIType.STRING),
            description=text,
            required=True,
        )
        for name, text in texts.items()
    }


def _sent(shape: object, envelope_of: str) -> OpenAPIMediaType:
    schema = _Written(shape) if isinstance(shape, dict) else _Sent(shape, envelope_of)
    return OpenAPIMediaType(schema=schema)


def _content(shape: object) -> OpenAPIMediaType:
    return OpenAPIMediaType(schema=_Answered(shape))


class _Answered(Schema):
    """The schema of an answer, which msgspec made, with its references resolved."""

    def __init__(self, shape: object) -> None:
        super().__init__()
        self._shape = shape

    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the struct without references."""
        schema = _schema_of(self._shape)
        require_always_there(schema, self._shape)
        if isinstance(self._shape, type) and issubclass(self._shape, ResponseBody):
            if "txnId" not in self._shape.envelope_fields:
                del mapping(schema["properties"])["txnId"]
            schema["required"] = [*self._shape.envelope_fields, *_names(schema)]
        return schema


class _Sent(Schema):
    """The schema of a request, with the members that each request may have."""

    def __init__(self, shape: object, envelope_of: str) -> None:
        super().__init__()
        self._shape = shape
        self._envelope_of = envelope_of

    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the struct without references."""
        schema = _schema_of(self._shape)
        if self._envelope_of and "properties" in schema:
            members = mapping(_schema_of(RequestEnvelope)["properties"])
            for member in map(mapping, members.values()):
                if self._envelope_of == JSON:
                    member["type"] = ["string", "null"]
            schema["properties"] = {**members, **mapping(schema["properties"])}
        return schema


def _names(schema: Mapping[str, object]) -> list[object]:
    required = schema.get("required", [])
    assert isinstance(required, list)
    return required


def _schema_of(shape: object) -> dict[str, object]:
    (schema,), components = msgspec.json.schema_components(
        [shape], schema_hook=_text_for_secret, ref_template="{name}"
    )
    return mapping(_inlined(schema, components))


def _inlined(schema: object, components: Mapping[str, object]) -> object:
    """Put each named schema in the place where it is named."""
    if isinstance(schema, list):
        return [_inlined(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        inlined = mapping(_inlined(components[schema["$ref"]], components))
        here = {name: schema[name] for name in HERE if name in schema}
        return {**inlined, OF_THE_FIELD: here} if here else inlined
    # A discriminator may point to named schemas only: `whole.py` adds it. An empty default is what
    # a reader takes for a field that was not sent, and often no valid value.
    whole = {
        name: _ecma(part) if name == "pattern" else _inlined(part, components)
        for name, part in schema.items()
        if name != "discriminator" and not (name == "default" and part == "")
    }
    return _as_list(_with_type(whole))


def _with_type(schema: dict[str, object]) -> dict[str, object]:
    """Say that words are texts: of an enum without a type, generators make "anything"."""
    words = schema.get("enum")
    is_text = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return {"type": "string", **schema} if is_text else schema


def _as_list(schema: dict[str, object]) -> dict[str, object]:
    """Write an array of so many equal elements without `items: false`, which few generators read.

    A tuple of fifteen counts is a list of numbers in every language.
    """
    elements = schema.get("prefixItems")
    if not isinstance(elements, list) or any(one != elements[0] for one in elements):
        return schema
    return {
        **{name: part for name, part in schema.items() if name != "prefixItems"},
        "items": elements[0],
    }


def _ecma(pattern: object) -> object:
    r"""Write a pattern as ECMA 262 has it: its `$` is Python's `\Z`."""
    return pattern.replace(r"\Z", "$") if isinstance(pattern, str) else pattern


def _text_for_secret(wanted: type) -> dict[str, object]:
    if wanted is SecretText:
        return {"type": "string", "minLength": 1, "maxLength": 1024, "format": "password"}
    if wanted is object:
        return {"description": "any JSON value"}
    raise TypeError(f"no schema for {wanted.__name__}")
