"""The error body, and which condition is which status (specification 7)."""

from collections.abc import Iterator
from typing import Final

from mudra.conformance.answer import Answer
from mudra.conformance.check import Basis, Check, Steps, decided, specified
from mudra.conformance.expectation import error, is_date_time, is_text, is_utc_ms, status, that
from mudra.conformance.service.implementation import Implementation

_WORDS: Final = frozenset({
    "InvalidRequest", "Unauthorized", "TokenExpired", "TokenRevoked", "SecretExpired",
    "SecretGraceEnded", "ResetTooSoon", "ResetLimitReached", "TooManyAttempts", "NotFound",
    "Conflict", "PayloadTooLarge", "UnsupportedMediaType", "IdempotencyError", "InternalError",
    "ServiceUnavailable",
})  # fmt: skip
_ALWAYS: Final = "Always the error body of part 7, on every path"
_TOO_LARGE: Final = 8 * 1024 * 1024


def _refused(one: Implementation) -> Iterator[tuple[Answer, int]]:
    yield one.refused_form, 400
    yield one.refused_secret, 401


def _of_field(number: int, name: str, line: str) -> Check[Implementation]:
    def steps(one: Implementation) -> Steps:
        for answer, code in _refused(one):
            yield status(answer, code)
            yield is_date_time(answer, name) if name == "timestamp" else is_text(answer, name)

    return Check(
        f"T-7-{number}", "7", f"{name} of an error body", line, Basis.SPECIFICATION, (), steps
    )


_FIELDS: Final = (
    _of_field(1, "ver", "ver | string"),
    _of_field(2, "timestamp", "timestamp | string, date-time"),
    _of_field(3, "txnId", "txnId | string"),
    _of_field(4, "errorCode", "errorCode | string"),
    _of_field(5, "errorMsg", "errorMsg | string"),
)


@specified("T-7-6", "errors are JSON",
           "return 400 (Bad Request) and 401 (Unauthorized) with this JSON body")  # fmt: skip
def _media_type(one: Implementation) -> Steps:
    for answer, code in _refused(one):
        yield status(answer, code)
        media = answer.headers.get("Content-Type", "")
        yield that(media.startswith("application/json"), "Content-Type application/json", media)


@decided("T-D3-20", "errorCode is one of the stable words",
         "errorCode is a stable word, errorMsg a sentence that names the field")  # fmt: skip
def _code(one: Implementation) -> Steps:
    for answer, code in _refused(one):
        yield status(answer, code)
        word = answer.text("errorCode")
        yield that(word in _WORDS, "errorCode is a word of the network's list", word)


@decided("T-D3-21", "errorMsg of a missing field names it",
         "errorMsg a sentence that names the field")  # fmt: skip
def _names(one: Implementation) -> Steps:
    answer = one.form("/v1/entity/token/generate", {"id": "no-such-entity"})
    yield from error(answer, 400, naming="secret")


@decided("T-D3-22", "the timestamp of an error is the server's time in ms, Z",
         "the server's time (ms, Z)")  # fmt: skip
def _time(one: Implementation) -> Steps:
    yield status(one.refused_form, 400)
    yield is_utc_ms(one.refused_form, "timestamp")


@decided("T-D3-23", "an unknown path: 404 with the error body", _ALWAYS)
def _path(one: Implementation) -> Steps:
    yield from error(one.get("/v1/no-such-path"), 404)


@decided("T-D3-24", "a wrong method: 405 with the error body", _ALWAYS)
def _method(one: Implementation) -> Steps:
    answer = one.get("/v1/entity/token/generate")
    yield from error(answer, 405)
    yield that("POST" in answer.headers.get("Allow", ""), "Allow names POST", "it does not")


@decided("T-D3-25", "a body of 8 MiB: 413 with the error body", "Beyond these: 404, 405, 409, 413")
def _size(one: Implementation) -> Steps:
    yield from error(one.form("/v1/entity/token/generate", "id=" + "a" * _TOO_LARGE), 413)


@decided("T-D3-26", "a body that cannot be read: 400 with the error body", "unreadable body")
def _unreadable(one: Implementation) -> Steps:
    yield from error(one.json("/v1/entity/secret/read", b"{"), 400, 401)


CHECKS: Final = (
    *_FIELDS, _media_type, _code, _names, _time, _path, _method, _size, _unreadable,
)  # fmt: skip
