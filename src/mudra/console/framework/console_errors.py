"""Refusals of the console itself, which no API has, and their errors."""

import math
from typing import Final

from markupsafe import Markup, escape
from msgspec.structs import replace

from mudra.console.framework.render import sentence
from mudra.http.response.errors import Problem, problem_of
from mudra.http.response.http_refusals import UNEXPECTED, Unavailable
from mudra.localization.language import (
    ENGLISH,
    current,
    gettext,
    ngettext,
    translatable,
    written_in,
)
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, Refusal, RefusalKind


class CrossSiteForm(Refusal, frozen=True):
    """The browser says that another site sent this form."""

    kind = RefusalKind.FORBIDDEN
    sentence = translatable("this form was sent by another site; nothing was changed")


class StaleForm(Refusal, frozen=True):
    """The form lacks the CSRF token of the session: it was opened before the last sign-in."""

    kind = RefusalKind.FORBIDDEN
    sentence = translatable(
        "this form was opened before you last signed in, so nothing was changed; "
        "open the page again"
    )


class PageRefusal(Refusal, frozen=True):
    """Refuses what a form of the console asks for, in the language of the reader."""

    kind = RefusalKind.INVALID
    sentence: str


PROOF_TOO_OLD: Final = PlainRefusal(
    RefusalKind.FORBIDDEN,
    translatable(
        "you last confirmed that it is you some minutes ago, so nothing was shown or "
        "changed; confirm again"
    ),
)


NO_SUCH_PAGE: Final = PlainRefusal(
    RefusalKind.NOT_FOUND, translatable("there is no page at this address")
)


_SECONDS_SHOWN: Final = 120
"""A longer wait is shown in minutes."""


def page_problem(refusal: Refusal) -> Problem:
    """Returns the error of a page: the API's error (`problem_of`) in the reader's language.

    Where the API names `Retry-After`, which no browser shows, a page says how long to wait.
    """
    problem = problem_of(refusal)
    if isinstance(refusal, Unavailable):
        return replace(problem, sentence=outage_text(refusal))
    if refusal is UNEXPECTED:
        text = gettext("an unexpected error; report the reference below to the operator")
        return replace(problem, sentence=text)
    wait = _wait_text(refusal.retry_after_s)
    text, limit, rest = problem.sentence.partition(f"; {WAIT_TEXT}")
    if limit and not rest:
        text = gettext("%(problem)s; try again in %(wait)s", problem=gettext(text), wait=wait)
    else:
        again = gettext("try again in %(wait)s", wait=wait)
        text = gettext(problem.sentence).replace(WAIT_TEXT, again)
    return replace(problem, sentence=text)


def language_of(refusal: Refusal) -> str:
    """Return the tag of the language of a refusal's text: English where only the API has it."""
    if isinstance(refusal, PageRefusal):
        return current().tag
    text = page_problem(refusal).sentence
    with written_in(ENGLISH):
        is_english = text == page_problem(refusal).sentence
    return ENGLISH.tag if is_english else current().tag


def refusal_text(refusal: Refusal) -> Markup:
    """Returns a refusal as a sentence of a page, marked as English where only the API has it."""
    text, tag = page_problem(refusal).sentence, language_of(refusal)
    if tag == current().tag or current().tag.startswith(ENGLISH.tag):
        return escape(sentence(text))
    with written_in(ENGLISH):
        words = sentence(text)
    return Markup('<span lang="{}">{}</span>').format(tag, words)


def _wait_text(seconds: int) -> str:
    if seconds < _SECONDS_SHOWN:
        return ngettext("%(num)s second", "%(num)s seconds", seconds)
    minutes = math.ceil(seconds / 60)
    return ngettext("%(num)s minute", "%(num)s minutes", minutes)


SENTENCES: Final = frozenset(
    (
        translatable("the service cannot reach its database"),
        translatable("the service's database did not answer in time"),
        translatable("the service's database is read-only"),
        translatable("the service's database is a standby, which takes no changes"),
        translatable("the service's database was replaced by another primary"),
        translatable("the disk of the service's database is full"),
        translatable("all connections to the service's database are in use"),
        translatable("the service's database takes no more connections"),
        translatable("the service's database refuses its sign-in"),
        translatable("the schema of the service's database is that of another release"),
        translatable("the clock of this node is wrong"),
        translatable("this node has not all versions of the master key"),
        translatable("no signing key can be used yet"),
        translatable("this node is stopping"),
        translatable("this node is too busy"),
        translatable(
            "stored metrics of this time are damaged, until the operator has repaired them"
        ),
    )
)
"""Each outage; a sentence with a number stays in English."""


def outage_text(refusal: Unavailable) -> str:
    """Return what a page says of it; the sentences are those of `mudra.shared.unavailable`."""
    if refusal.why not in SENTENCES:
        return refusal.sentence
    return gettext("%(outage)s; try again", outage=gettext(refusal.why))
