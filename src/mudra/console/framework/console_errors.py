"""Refusals of the console itself, which no API has, and their errors."""

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from msgspec.structs import replace

from mudra.console.framework.outages import outage_text
from mudra.http.response.errors import problem_of
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.problem import Problem, rate_limited
from mudra.localization.language import (
    ENGLISH,
    current,
    gettext,
    ngettext,
    translatable,
    written_in,
)
from mudra.metrics.subscriptions.webhook_subscription import (
    TooManyChallenges,
    TooManySubscriptions,
)
from mudra.shared.refusal import WAIT_TEXT, ErrorCode, Refusal


class CrossSiteForm(Refusal, frozen=True):
    """The browser says that another site sent this form."""


class StaleForm(Refusal, frozen=True):
    """The form lacks the CSRF token of the session: it was opened before the last sign-in."""


class ProofTooOld(Refusal, frozen=True):
    """Password or code was typed too long ago for such an act, and none came along."""


class NoSuchPage(Refusal, frozen=True):
    """There is no page at this address of the console."""


R = TypeVar("R", bound=Refusal)
_SECONDS_SHOWN: Final = 120
"""A longer wait is shown in minutes."""


def _row(
    refusal: type[R], problem: Callable[[R], Problem]
) -> tuple[type[Refusal], Callable[[Refusal], Problem]]:
    return refusal, cast("Callable[[Refusal], Problem]", problem)


_TOMORROW: Final = rate_limited(
    86400, translatable("too many webhooks or challenges; try again tomorrow")
)

_TABLE: Final[Mapping[type[Refusal], Callable[[Refusal], Problem]]] = dict(
    (
        _row(
            CrossSiteForm,
            lambda _: Problem(
                403,
                ErrorCode.UNAUTHORIZED,
                translatable("this form was sent by another site; nothing was changed"),
            ),
        ),
        _row(
            StaleForm,
            lambda _: Problem(
                403,
                ErrorCode.UNAUTHORIZED,
                translatable(
                    "this form was opened before you last signed in, so nothing was changed; "
                    "open the page again"
                ),
            ),
        ),
        _row(
            ProofTooOld,
            lambda _: Problem(
                403,
                ErrorCode.UNAUTHORIZED,
                translatable(
                    "you last confirmed that it is you some minutes ago, so nothing was shown or "
                    "changed; confirm again"
                ),
            ),
        ),
        _row(
            NoSuchPage,
            lambda _: Problem(
                404, ErrorCode.NOT_FOUND, translatable("there is no page at this address")
            ),
        ),
        _row(TooManySubscriptions, lambda _: _TOMORROW),
        _row(TooManyChallenges, lambda _: _TOMORROW),
    )
)


def page_problem(refusal: Refusal) -> Problem:
    """Return the error of a page: the console's own, or that of the API (`problem_of`).

    Where the API names `Retry-After`, which no browser shows, a page says how long to wait.
    """
    own = _TABLE.get(type(refusal))
    problem = own(refusal) if own else problem_of(refusal)
    if isinstance(refusal, Unavailable):
        return replace(problem, sentence=outage_text(refusal))
    wait = _wait_text(int(problem.headers.get("Retry-After", "0")))
    text, limit, rest = problem.sentence.partition(f"; {WAIT_TEXT}")
    if limit and not rest:
        text = gettext("%(problem)s; try again in %(wait)s", problem=gettext(text), wait=wait)
    else:
        again = gettext("try again in %(wait)s", wait=wait)
        text = gettext(problem.sentence).replace(WAIT_TEXT, again)
    return replace(problem, sentence=text)


def language_of(refusal: Refusal) -> str:
    """Return the tag of the language of a refusal's text: English where only the API has it."""
    text = page_problem(refusal).sentence
    with written_in(ENGLISH):
        is_english = text == page_problem(refusal).sentence
    return ENGLISH.tag if is_english else current().tag


def _wait_text(seconds: int) -> str:
    if seconds < _SECONDS_SHOWN:
        return ngettext("%(num)s second", "%(num)s seconds", seconds)
    minutes = math.ceil(seconds / 60)
    return ngettext("%(num)s minute", "%(num)s minutes", minutes)


def console_refusals() -> frozenset[type[Refusal]]:
    """List the refusals that only the console has."""
    return frozenset(_TABLE)
