"""The OpenAPI description of a handler, made from the structs that it reads and answers with."""

from dataclasses import dataclass
from typing import Final

import msgspec
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, Operation, RequestBody, Schema

from mudra.http.responses import ErrorBody
from mudra.secret_text import SecretText

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
_ERRORS: Final = {
    "400": "the request is wrong; errorMsg names the member and what is allowed",
    "401": "credentials, tokens or rights",
    "405": "another method than the documented one",
    "408": "the body came too slowly",
    "413": "the body is too large",
    "415": "another media type than the documented one",
    "429": "a limit is reached; Retry-After says when to come back",
    "500": "an unexpected fault",
    "503": "not available now; Retry-After says when to come back",
}


def described(
    summary: str,
    reads: type[msgspec.Struct] | None,
    answers: type[msgspec.Struct],
    *,
    bearer: bool = False,
    media: str = JSON,
    status: str = "200",
) -> type[Operation]:
    """Make the Operation class of one handler."""

    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            self.summary = summary
            if reads is not None:
                self.request_body = RequestBody(
                    content={media: OpenAPIMediaType(schema=_schema(reads))}, required=True
                )
            ok = OpenAPIResponse(
                description="done", content={JSON: OpenAPIMediaType(schema=_schema(answers))}
            )
            self.responses = {status: ok, **_errors()}
            self.security = [{"bearer": []}] if bearer else []

    return Described


def _errors() -> dict[str, OpenAPIResponse]:
    schema = _schema(ErrorBody)
    return {
        status: OpenAPIResponse(description=text, content={JSON: OpenAPIMediaType(schema=schema)})
        for status, text in _ERRORS.items()
    }


def _schema(struct: type[msgspec.Struct]) -> Schema:
    return _Inline(struct)


class _Inline(Schema):
    """A schema that msgspec wrote, set in place."""

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        super().__init__()
        self._struct = struct

    def to_schema(self) -> dict[str, object]:
        """Write the JSON Schema of the struct, with nothing to resolve."""
        (_,), components = msgspec.json.schema_components(
            [self._struct], schema_hook=_text_for_secret
        )
        schema = components[self._struct.__name__]
        assert isinstance(schema, dict)
        return schema


def _text_for_secret(wanted: type) -> dict[str, object]:
    if wanted is SecretText:
        return {"type": "string", "minLength": 1, "maxLength": 1024, "format": "password"}
    raise TypeError(f"no schema for {wanted.__name__}")
