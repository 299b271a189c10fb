"""The form of signing in, and what stands there when a session ended behind a form's back."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from litestar import Response
from msgspec import Struct

from mudra.console.framework.cookie import can_be_kept
from mudra.console.framework.csrf import FORM_WORD, comes_from_us
from mudra.console.framework.page_responses import nobody_signed_in, own_page_path, site_facts
from mudra.console.framework.render import page, sentence
from mudra.http.request.request_context import Exchange
from mudra.http.response.errors import problem_of

_LONGEST_NAME: Final = 254
_OF_THE_FORM: Final = frozenset({FORM_WORD, "act", "status", "version"})
"""What forms send beside what was typed."""


class Typed(Struct, frozen=True):
    """What stood in a field of a form that was not taken."""

    name: str
    value: str


def typed(fields: object) -> Sequence[Typed]:
    """Give back what was typed into a form, so that it can be copied; never a password."""
    if not isinstance(fields, Mapping):
        return ()
    return [
        Typed(name, value)
        for name, value in fields.items()
        if value and name not in _OF_THE_FORM and "password" not in name.lower()
    ]


def sign_in_form(
    exchange: Exchange,
    to: str,
    username: str = "",
    refusal: object | None = None,
) -> Response[str]:
    """Show the form; who signs in goes on at `to`."""
    problem = problem_of(refusal) if refusal is not None else None
    headers = {} if problem is None else dict(problem.headers)
    headers.pop("WWW-Authenticate", None)  # a form, not HTTP's own dialog
    wait = headers.get("Retry-After", "")
    facts = {
        "username": username[:_LONGEST_NAME],
        "problem": sentence(_words(problem.sentence, wait)) if problem else "",
        "told": exchange.request.query_params.get("told", ""),
    }
    return page(
        "sign_in.html",
        _facts(exchange, to) | facts,
        status=problem.status if problem else HTTPStatus.OK,
        headers=headers,
    )


def form_without_session(exchange: Exchange, fields: object) -> Response[str]:
    """Ask whoever sent a form to sign in; what was typed into one of ours is given back."""
    request = exchange.request
    ours = comes_from_us(request, exchange.service.settings) is True
    words = typed(fields) if ours and not request.headers.get("hx-request") else ()
    if not words:
        return nobody_signed_in(exchange)
    facts = {"username": "", "problem": "", "told": "ended", "typed": words}
    to = own_page_path(request.url.path)
    return page("sign_in.html", _facts(exchange, to) | facts, status=HTTPStatus.FORBIDDEN)


def _facts(exchange: Exchange, to: str) -> dict[str, object]:
    possible = can_be_kept(exchange.service.settings)
    return site_facts(exchange.service) | {"to": to, "possible": possible, "typed": ()}


def _words(text: str, wait: str) -> str:
    """Say the seconds of `Retry-After`, which nobody sees in a browser."""
    said = f"{wait} second{'' if wait == '1' else 's'}"
    return text.replace("wait as Retry-After says", f"try again in {said}") if wait else text
