"""Refusals of the console itself, which no API has, and their errors."""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from mudra.http.response.errors import problem_of
from mudra.http.response.problem import ErrorCode, Problem
from mudra.shared.refusal import Refusal


class ForeignForm(Refusal, frozen=True):
    """The browser says that another site sent this form."""


class StaleForm(Refusal, frozen=True):
    """The form lacks the session's word: it was opened before the last sign-in."""


class ProofTooOld(Refusal, frozen=True):
    """The password was typed too long ago to show or change a secret, and none came along."""


class NoSuchPage(Refusal, frozen=True):
    """There is no page at this address of the console."""


R = TypeVar("R", bound=Refusal)


def _row(
    refusal: type[R], problem: Callable[[R], Problem]
) -> tuple[type[Refusal], Callable[[Refusal], Problem]]:
    return refusal, cast("Callable[[Refusal], Problem]", problem)


_TABLE: Final[Mapping[type[Refusal], Callable[[Refusal], Problem]]] = dict(
    (
        _row(
            ForeignForm,
            lambda _: Problem(
                403,
                ErrorCode.UNAUTHORIZED,
                "this form was sent by another site; nothing was changed",
            ),
        ),
        _row(
            StaleForm,
            lambda _: Problem(
                403,
                ErrorCode.UNAUTHORIZED,
                "this form was opened before you last signed in, so nothing was changed; "
                "open the page again",
            ),
        ),
        _row(
            ProofTooOld,
            lambda _: Problem(
                403,
                ErrorCode.UNAUTHORIZED,
                "type your password again, which was more than five minutes ago; "
                "nothing was shown or changed",
            ),
        ),
        _row(
            NoSuchPage,
            lambda _: Problem(404, ErrorCode.NOT_FOUND, "there is no page at this address"),
        ),
    )
)


def page_problem(refusal: Refusal) -> Problem:
    """Return the error of a page: the console's own, or that of the API (`problem_of`)."""
    own = _TABLE.get(type(refusal))
    return own(refusal) if own else problem_of(refusal)


def console_refusals() -> frozenset[type[Refusal]]:
    """List the refusals that only the console has."""
    return frozenset(_TABLE)
