"""The sign-in form, also shown when a session ended while a form was open."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from litestar import Response
from msgspec import Struct

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.page_language import remember_language, write_in_language
from mudra.console.framework.page_responses import not_signed_in, own_page_path, site_facts
from mudra.console.framework.render import page, sentence
from mudra.console.framework.session.cookie import sessions_are_safe
from mudra.console.framework.session.csrf import CSRF_FIELD, is_same_origin
from mudra.http.request.request_context import RequestContext
from mudra.shared.refusal import Refusal

_MAX_NAME: Final = 254
_OF_THE_FORM: Final = frozenset(
    {CSRF_FIELD, "act", "status", "version", "code", "new_code", "passkey"}
)
"""Fields that forms send in addition to what was typed."""


class Typed(Struct, frozen=True):
    """The content of a field of a form that was not accepted."""

    name: str
    value: str


def typed(fields: Mapping[str, str] | Refusal) -> Sequence[Typed]:
    """Return what was typed into a form, so that it can be copied; never a password or code."""
    if isinstance(fields, Refusal):
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
    refusal: Refusal | None = None,
) -> Response[str]:
    """Show the form; after sign-in the user continues at `to`."""
    facts = _facts(context, to)
    problem = page_problem(refusal) if refusal is not None else None
    headers = {} if problem is None else dict(problem.headers)
    headers.pop("WWW-Authenticate", None)  # a form, not HTTP's own dialog
    facts |= {
        "username": username[:_MAX_NAME],
        "problem": sentence(problem.sentence) if problem else "",
        "notice": context.request.query_params.get("told", ""),
    }
    status = problem.status if problem else HTTPStatus.OK
    shown = page("sign_in.html", facts, status=status, headers=headers)
    return remember_language(context.request, context.dependencies, shown)


def form_without_session(
    context: RequestContext, fields: Mapping[str, str] | Refusal
) -> Response[str]:
    """Ask the sender of a form to sign in; what was typed into our own form is returned."""
    request = context.request
    ours = is_same_origin(request, context.dependencies.settings) is True
    fields_typed = typed(fields) if ours and not request.headers.get("hx-request") else ()
    if not fields_typed:
        return not_signed_in(context)
    facts = {"username": "", "problem": "", "notice": "ended", "typed": fields_typed}
    to = own_page_path(request.url.path)
    return page("sign_in.html", _facts(context, to) | facts, status=HTTPStatus.FORBIDDEN)


def _facts(context: RequestContext, to: str) -> dict[str, object]:
    safe = sessions_are_safe(context.dependencies.settings)
    return {
        **site_facts(context.dependencies),
        **write_in_language(context.request, context.dependencies),
        "to": to,
        "possible": safe,
        "typed": (),
    }
