"""http/response/errors.py shows every refusal that any area can return."""

import enum
import importlib
import pkgutil
import typing
from datetime import UTC, datetime

import pytest
from msgspec import Struct
from msgspec.structs import fields

import mudra
from mudra.console.framework.console_errors import console_refusals, page_problem
from mudra.http.response.errors import problem_of, refusals
from mudra.http.response.problem import ErrorCode, Problem
from mudra.identity.accounts.email_link import LinkFault, LinkRefused
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.shared.finding import Finding
from mudra.shared.refusal import Refusal
from mudra.tokens.secrets.reset_rule import ResetTooSoon

NEVER_AN_HTTP_RESPONSE = frozenset(
    {
        "NothingToConfirm",  # of a command
        "NothingToArchive",  # of a command
        "KeyRefused",  # the form of a registration answers with what it read, or why not
    }
)


def all_refusals() -> frozenset[type[Refusal]]:
    """Every refusal that any module of Mudra defines."""
    for module in pkgutil.walk_packages(mudra.__path__, "mudra."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)
    found: set[type[Refusal]] = set()
    left = [Refusal]
    while left:
        for kind in left.pop().__subclasses__():
            found.add(kind)
            left.append(kind)
    return frozenset(kind for kind in found if kind.__module__.startswith("mudra."))


def test_every_refusal_has_a_row_and_every_row_a_refusal() -> None:
    known = refusals() | console_refusals()

    missing = {kind.__name__ for kind in all_refusals() - known} - NEVER_AN_HTTP_RESPONSE

    assert not missing
    assert known <= all_refusals()


EXAMPLES: dict[type, object] = {
    int: 3,
    float: 2.0,
    str: "a sentence about a field",
    bool: True,
    datetime: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
}


@pytest.mark.parametrize(
    "kind",
    sorted(refusals() | console_refusals(), key=lambda kind: kind.__name__),
    ids=lambda kind: kind.__name__,
)
def test_every_refusal_has_a_sentence_with_a_known_word(kind: type) -> None:
    for refusal in examples_of(kind):
        problem = page_problem(refusal)

        assert isinstance(problem, Problem)
        # Pages may say 403 to a form of another site; the interface has no 403.
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
            assert problem.headers["WWW-Authenticate"].startswith(("Bearer", "DPoP"))


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


def test_a_wait_is_never_shown_shorter_than_it_is() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    until = now.replace(second=9, microsecond=1)

    for refusal in (TooManyAttempts(until, now), ResetTooSoon(until, now)):
        assert problem_of(refusal).headers["Retry-After"] == "10"


def test_links_are_refused_in_words_that_say_what_to_do() -> None:
    for fault in LinkFault:
        assert "token" in problem_of(LinkRefused(fault)).sentence


def test_an_unknown_outcome_is_a_fault_not_a_guess() -> None:
    with pytest.raises(KeyError):
        problem_of(mudra)
