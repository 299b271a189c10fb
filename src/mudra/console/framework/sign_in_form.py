"""The form of signing in, and what stands there when a session ended behind a form's back."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from litestar import Response
from msgspec import Struct

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.cookie import can_be_kept
from mudra.console.framework.csrf import CSRF_FIELD, is_same_origin
from mudra.console.framework.page_responses import nobody_signed_in, own_page_path, site_facts
from mudra.console.framework.render import page, sentence
from mudra.http.request.request_context import RequestContext

_MAX_NAME: Final = 254
_OF_THE_FORM: Final = frozenset({CSRF_FIELD, "act", "status", "version"})
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
    context: RequestContext,
    to: str,
    username: str = "",
    refusal: object | None = None,
) -> Response[str]:
    """Show the form; who signs in goes on at `to`."""
    problem = page_problem(refusal) if refusal is not None else None
    headers = {} if problem is None else dict(problem.headers)
    headers.pop("WWW-Authenticate", None)  # a form, not HTTP's own dialog
    wait = headers.get("Retry-After", "")
    facts = {
        "username": username[:_MAX_NAME],
        "problem": sentence(_words(problem.sentence, wait)) if problem else "",
        "told": context.request.query_params.get("told", ""),
    }
    return page(
        "sign_in.html",
        _facts(context, to) | facts,
        status=problem.status if problem else HTTPStatus.OK,
        headers=headers,
    )


def form_without_session(context: RequestContext, fields: object) -> Response[str]:
    """Ask whoever sent a form to sign in; what was typed into one of ours is given back."""
    request = context.request
    ours = is_same_origin(request, context.service.settings) is True
    words = typed(fields) if ours and not request.headers.get("hx-request") else ()
    if not words:
        return nobody_signed_in(context)
    facts = {"username": "", "problem": "", "told": "ended", "typed": words}
    to = own_page_path(request.url.path)
    return page("sign_in.html", _facts(context, to) | facts, status=HTTPStatus.FORBIDDEN)


def _facts(context: RequestContext, to: str) -> dict[str, object]:
    possible = can_be_kept(context.service.settings)
    return site_facts(context.service) | {"to": to, "possible": possible, "typed": ()}


def _words(text: str, wait: str) -> str:
    """Say the seconds of `Retry-After`, which nobody sees in a browser."""
    said = f"{wait} second{'' if wait == '1' else 's'}"
    return text.replace("wait as Retry-After says", f"try again in {said}") if wait else text
