"""The expectations of checks about answers: each gives a step, with words for the report."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import UNSET

from mudra.conformance.answer import Answer
from mudra.conformance.check import Expectation, Skip, Step, Steps

TOO_MANY: Final = 429
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_ISO_MS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
ERROR_FIELDS: Final = ("ver", "timestamp", "txnId", "errorCode", "errorMsg")


def that(holds: object, expected: str, came: str = "it does not hold") -> Expectation:
    """Expects a fact; `came` must have nothing secret."""
    return Expectation(bool(holds), expected, came)


def equal(what: str, expected: object, came: object) -> Expectation:
    """Expect a value that is not secret; types must be the same."""
    same = type(expected) is type(came) and expected == came
    return Expectation(same, f"{what} is {_shown(expected)}", f"{what} is {_shown(came)}")


def status(answer: Answer, *allowed: int) -> Step:
    """Expects one of these statuses; skips the rest of the check when a limit is reached."""
    if answer.status == TOO_MANY and TOO_MANY not in allowed:
        wait = answer.headers.get("Retry-After", "some")
        return Skip(f"a limit of the implementation is reached: 429, Retry-After {wait}")
    wanted = " or ".join(str(one) for one in allowed)
    holds = answer.status in allowed
    return Expectation(holds, f"status {wanted}", answer.described(), answer.request)


def alike(what: str, answer: Answer, other: Answer) -> Steps:
    """Expect two refusals that no one can tell apart, by status, word or sentence."""
    yield equal("status", other.status, answer.status)
    for name in ("errorCode", "errorMsg"):
        same = answer.field(name) == other.field(name)
        came = f"{name} differs: {answer.text(name)} / {other.text(name)}"
        yield Expectation(same, f"{name} is the same for {what}", came, answer.request)


def is_text(answer: Answer, name: str) -> Expectation:
    """Expect a field with a string that is not empty; its value is not shown."""
    value = answer.field(name)
    found = isinstance(value, str) and value != ""
    came = f"{name} is {kind(value)}"
    return Expectation(found, f"{name} is a string, not empty", came, answer.request)


def token_given(answer: Answer) -> Steps:
    """Expect a token response (specification 2.2)."""
    yield status(answer, 200)
    yield is_text(answer, "accessToken")


def is_number(answer: Answer, name: str, *, whole: bool = False) -> Expectation:
    """Expect a field with a number (never true or false)."""
    value = answer.field(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one kind of number
    fits = type(value) is int or (type(value) is float and not whole)
    word = "an integer" if whole else "a number"
    came = f"{name} is {_shown(answer.field(name))}"
    return Expectation(fits, f"{name} is {word}", came, answer.request)


def is_date_time(answer: Answer, name: str) -> Expectation:
    """Expect a field with a date-time of RFC 3339."""
    came = answer.field(name)
    fits = isinstance(came, str) and _ISO.fullmatch(came) is not None and moment(came) is not None
    shown = f"{name} is {_shown(came)}"
    return Expectation(fits, f"{name} is a date-time (RFC 3339)", shown, answer.request)


def is_utc_ms(answer: Answer, name: str) -> Expectation:
    """Expect a field with a time in UTC with milliseconds and `Z`."""
    came = answer.field(name)
    fits = isinstance(came, str) and _ISO_MS.fullmatch(came) is not None
    shown = f"{name} is {_shown(came)}"
    return Expectation(fits, f"{name} is YYYY-MM-DDThh:mm:ss.sssZ", shown, answer.request)


def error(answer: Answer, *allowed: int, naming: str = "") -> Steps:
    """Expect a refusal with the error body of part 7, which names a field."""
    yield status(answer, *allowed)
    for name in ERROR_FIELDS:
        yield is_text(answer, name)
    if naming:
        sentence = answer.text("errorMsg")
        yield that(
            naming.lower() in sentence.lower(), f"errorMsg names {naming}", f"errorMsg: {sentence}"
        )


def has(where: str, document: object, names: Iterable[str]) -> Expectation:
    """Expect an object with these fields."""
    found = document if isinstance(document, Mapping) else {}
    missing = [name for name in names if name not in found]
    return Expectation(
        not missing, f"{where} has {', '.join(names)}", f"{', '.join(missing)} missing"
    )


def lifetime(claims: Mapping[str, object], seconds: int) -> Steps:
    """Expect a token that lives for so many seconds."""
    yield has("the token", claims, ("exp", "iat"))
    begin, end = claims["iat"], claims["exp"]
    for name, value in (("iat", begin), ("exp", end)):
        yield that(type(value) is int, f"{name} is an integer", f"{name} is {kind(value)}")
    if isinstance(begin, int) and isinstance(end, int):
        yield equal("exp - iat", seconds, end - begin)


def moment(text: object) -> datetime | None:
    """Return the time that a text names, None where it names none."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def kind(value: object) -> str:
    """Name the kind of a JSON value without showing it."""
    if value is UNSET:
        return "missing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if isinstance(value, list) else "an object"


def _shown(value: object) -> str:
    if isinstance(value, str) and value:
        return f'"{value}"'
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return kind(value)
