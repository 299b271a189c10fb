"""http/response/errors.py tells every refusal that any area can return."""

import enum
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from msgspec import Struct
from msgspec.structs import fields

import mudra
from mudra.http.response.errors import ErrorCode, Problem, problem_of, refusals
from mudra.identity.accounts.email_link import LinkRefusal
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.shared.finding import Finding
from mudra.tokens.secrets.reset_rule import ResetTooSoon

AREAS = ("identity", "tokens", "registry", "metrics", "audit", "http")
NO_ANSWER_OF_AN_EDGE = {
    "OnboardRefused",
    "MemberDiffers",
    "NameRefused",
    "PasswordFault",  # told by the command line
    "AddressRefused",  # part of OnboardRefused, and any name may try to sign in
    "FormRefused",
    "JsonRefused",
    "Duplicate",  # an accepted push, told as its status
    "Fault",  # of the audit chain, told by the command line
    "RawRefusal",  # become MalformedBody; told before the application
}
WORDS = (
    "Refus",
    "Unknown",
    "Expired",
    "Revoked",
    "Invalid",
    "TooMany",
    "TooSoon",
    "TooLarge",
    "TooSlow",
    "Reached",
    "Ended",
    "NotYour",
    "Nothing",
    "Busy",
    "Unsupported",
    "Malformed",
    "Gone",
    "Unavailable",
    "Limited",
    "Differs",
    "Duplicate",
    "Fault",
)


def outcomes() -> Iterator[type]:
    """Every value type that a function of the areas may return beside what it promises."""
    for area in AREAS:
        package = importlib.import_module(f"mudra.{area}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for _, function in inspect.getmembers(
                importlib.import_module(module.name), inspect.isfunction
            ):
                if function.__module__ == module.name:
                    yield from returned_by(function)


def returned_by(function: types.FunctionType) -> Iterator[type]:
    try:
        answer = typing.get_type_hints(function).get("return")
    except (NameError, TypeError):
        return
    members = (
        typing.get_args(answer)
        if isinstance(answer, types.UnionType) or typing.get_origin(answer) is typing.Union
        else (answer,)
    )
    for member in members:
        if isinstance(member, type) and (issubclass(member, (Struct, enum.Enum))):
            yield member


def test_every_refusal_that_a_use_case_returns_is_in_the_table() -> None:
    found = {kind for kind in outcomes() if any(word in kind.__name__ for word in WORDS)}

    missing = {kind.__name__ for kind in found - refusals()} - NO_ANSWER_OF_AN_EDGE

    assert len(found) >= 15, "the walk finds too little to be believed"
    assert not missing


EXAMPLES: dict[type, object] = {
    int: 3,
    float: 2.0,
    str: "a sentence about a field",
    bool: True,
    datetime: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
}


@pytest.mark.parametrize(
    "kind", sorted(refusals(), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_every_refusal_is_told_in_a_sentence_with_a_known_word(kind: type) -> None:
    for refusal in examples_of(kind):
        problem = problem_of(refusal)

        assert isinstance(problem, Problem)
        # Pages may say 403 to a form of another site; the interface of decisions 3 has no 403.
        pages_only = {403} if kind.__module__.startswith("mudra.console.") else set()
        assert (
            problem.status in {400, 401, 404, 405, 408, 409, 413, 415, 429, 500, 503} | pages_only
        )
        assert problem.code in ErrorCode
        assert len(problem.sentence.split()) >= 3
        assert not problem.sentence.endswith(".")
        if problem.status in {429, 503}:
            assert int(problem.headers["Retry-After"]) >= 1
        if problem.status == 401:
            assert problem.headers["WWW-Authenticate"].startswith("Bearer")


def examples_of(kind: type) -> list[object]:
    if issubclass(kind, enum.Enum):
        return list(kind)
    if not issubclass(kind, Struct):
        pytest.skip(f"{kind.__name__} is built by its own area's test")
    hints = typing.get_type_hints(kind)
    values = {}
    for each in fields(kind):
        if each.required:
            wanted = hints[each.name]
            if wanted in EXAMPLES:
                values[each.name] = EXAMPLES[wanted]
            elif Finding in typing.get_args(wanted):
                values[each.name] = (Finding("$.fips[0]", "is wrong", "something else"),)
            elif typing.get_origin(wanted) is tuple:
                values[each.name] = ("POST",)
            elif isinstance(wanted, type) and issubclass(wanted, enum.Enum):
                values[each.name] = next(iter(wanted))
            else:
                pytest.skip(f"{kind.__name__}.{each.name} is built by its own area's test")
    return [kind(**values)]


def test_a_wait_is_never_told_shorter_than_it_is() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    until = now.replace(second=9, microsecond=1)

    for refusal in (TooManyAttempts(until, now), ResetTooSoon(until, now)):
        assert problem_of(refusal).headers["Retry-After"] == "10"


def test_links_are_refused_in_words_that_say_what_to_do() -> None:
    for refusal in LinkRefusal:
        assert "token" in problem_of(refusal).sentence


def test_an_unknown_outcome_is_a_fault_not_a_guess() -> None:
    with pytest.raises(KeyError):
        problem_of(mudra)
