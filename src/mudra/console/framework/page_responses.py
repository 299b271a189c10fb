"""Frames an outcome as HTTP: a page in the console's layout, a redirect, a file, a refusal."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import quote, urlsplit

from litestar import Response

from mudra.console.framework.console_errors import StaleForm, page_problem, refusal_text
from mudra.console.framework.navigation import (
    CONSOLE,
    SECOND_FACTOR,
    Link,
    help_path,
    member_links,
    member_path,
    operator_links,
)
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_language import remember_choice
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.page_zone import zone_switch
from mudra.console.framework.render import page, sentence
from mudra.console.framework.session.cookie import delete_session_cookie, set_session_cookie
from mudra.http.dependencies import HttpDependencies, SandboxNotice
from mudra.http.request.request_context import RequestContext
from mudra.http.response.http_refusals import UNEXPECTED
from mudra.identity.accounts.user import User
from mudra.identity.sessions.session import Stage
from mudra.localization.language import gettext, translatable
from mudra.shared.refusal import Refusal

PageResponse: TypeAlias = Response[str] | Response[bytes]
SIGN_IN: Final = f"{CONSOLE}/sign-in"
SECOND_STEP: Final = f"{SIGN_IN}/code"
_OWN_PAGE: Final = re.compile(
    r"/console(?:/(?!\.{1,2}(?:[/?]|$))[A-Za-z0-9@._~-]+)*(?:\?[A-Za-z0-9@._~=&%+-]*)?"
)
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_UNCHANGED: Final = translatable("Nothing was changed")
_NO_ACCESS: Final = translatable(
    "page not found, or you lack access; an operator can tell you who has it"
)
HEADINGS: Final = {
    400: translatable("That could not be read"),
    403: translatable("Not yours to see"),
    404: translatable("Nothing here"),
    409: translatable("That does not fit what is there"),
    429: translatable("Not yet"),
    500: translatable("That went wrong"),
    503: translatable("Out of reach for the moment"),
}


def site_facts(dependencies: HttpDependencies) -> dict[str, object]:
    """Return what every page of the site shows, signed in or not."""
    return {
        "network": dependencies.settings.network_name,
        "base": dependencies.settings.token_prefix,
        "sandbox": dependencies.settings.sandbox,
        "sign_on": dependencies.provider.terms.label if dependencies.provider else "",
        "passkeys_on": dependencies.passkeys.relying_party is not None,
    }


def frame(
    page_context: PageContext, outcome: Outcome, typed: Sequence[object] = ()
) -> PageResponse:
    """Return the response of an outcome; a refusal shows what was `typed` into the form."""
    if isinstance(outcome, GoTo):
        return _gone_to(page_context, outcome)
    if isinstance(outcome, Download):
        return download(outcome)
    if isinstance(outcome, StreamedPage):
        raise TypeError("only the answer to a GET can be streamed")
    shown = _refused(page_context, outcome, typed) if isinstance(outcome, Refusal) else outcome
    facts = together(layout_facts(page_context), shown.facts)
    if isinstance(outcome, Refusal):
        facts["zone_choices"] = {}  # its page repeats nothing of an address that may be another's
    if shown.begun is None:
        return page(shown.template, facts, status=shown.status)
    facts["csrf_token"] = shown.begun.csrf_token
    response = page(shown.template, facts, status=shown.status)
    set_session_cookie(response, shown.begun.cookie, page_context.dependencies.settings)
    return response


def _gone_to(page_context: PageContext, outcome: GoTo) -> Response[str]:
    dependencies = page_context.dependencies
    response = redirect(page_context.context, outcome.path)
    if outcome.begun is not None:
        set_session_cookie(response, outcome.begun.cookie, dependencies.settings)
    if outcome.ends:
        delete_session_cookie(response, dependencies.settings)
    if outcome.language is not None:
        remember_choice(outcome.language, dependencies, response)
    return response


def together(layout: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """Join the facts of layout and page; a name that both use is a mistake."""
    both = layout.keys() & own.keys()
    if both:
        raise RuntimeError(f"the layout shows {', '.join(sorted(both))} already: name it otherwise")
    return {**layout, **own}


def download(file: Download) -> Response[bytes]:
    """Return a file to download."""
    return Response(
        file.body,
        media_type=file.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{file.name}"',
            "Cache-Control": "no-store",
        },
    )


def redirect(context: RequestContext, path: str) -> Response[str]:
    """Go to another page; htmx reads its own header, since it would swap a fragment."""
    if context.request.headers.get("hx-request"):
        return Response("", status_code=204, headers={"HX-Redirect": path})
    return Response("", status_code=303, headers={"Location": path, "Cache-Control": "no-store"})


def not_signed_in(context: RequestContext) -> Response[str]:
    """Ask to sign in, and lead back then; the address of a form leads to its page.

    What htmx sends while one types is refused in place: the page with what was typed stays.
    """
    request = context.request
    asks = request.method in {"GET", "HEAD"}
    path, query = request.scope["path"], request.scope["query_string"].decode("latin-1")
    notice = "" if asks else "&told=ended"
    if request.headers.get("hx-request"):
        if not asks:
            return Response("", status_code=_FORBIDDEN, headers={"Cache-Control": "no-store"})
        path, query = _path_and_query(request.headers.get("hx-current-url", ""))
    back = path + (f"?{query}" if query else "")
    return redirect(context, f"{SIGN_IN}?to={quote(back, safe='')}{notice}")


def _path_and_query(url: str) -> tuple[str, str]:
    """Return both parts of an address; nothing of a text that is none."""
    try:
        at = urlsplit(url)
    except ValueError:
        return "", ""
    return at.path, at.query


def after_sign_in(stage: Stage, to: str) -> str:
    """Return where a sign-in in this stage goes on."""
    match stage:
        case Stage.FULL:
            return to
        case Stage.CODE:
            return f"{SECOND_STEP}?to={quote(to, safe='')}"
        case Stage.ENROLL:
            return SECOND_FACTOR


def own_page_path(text: str) -> str:
    """Give the address back if it is of the console, else the console itself (no open door)."""
    return text if _OWN_PAGE.fullmatch(text) else CONSOLE


def layout_facts(page_context: PageContext) -> dict[str, object]:
    """Return what the layout shows around every page of the console."""
    here = page_context.context.request.url.path
    entity = page_context.entity
    # One who must set up a second factor first is offered nothing else.
    settled = page_context.session.stage is Stage.FULL
    return (
        site_facts(page_context.dependencies)
        | zone_switch(page_context)
        | {
            "user": page_context.user,
            "csrf_token": page_context.session.csrf_token,
            "here": here,
            "help_path": help_path(here),
            "now": page_context.now,
            "query": page_context.query,
            "fault": None,
            "answers_form": page_context.context.request.method == "POST",
            "entity": entity,
            "entities": [
                Link(name, member_path(entity_id), bool(entity and entity.entity_id == entity_id))
                for entity_id, name in _own_entities(page_context.user)
                if settled
            ],
            "member_links": member_links(
                entity.entity_id,
                entity.entity_type,
                here,
                sandbox=page_context.dependencies.settings.sandbox,
                reads_only=page_context.reads_only,
            )
            if entity
            else [],
            "reads_only": page_context.reads_only,
            "suspension": page_context.suspension,
            "contact_of_network": page_context.dependencies.settings.contact,
            "faults_on": _faults_on(page_context),
            "operator_links": operator_links(
                page_context.scopes if settled else frozenset(),
                here,
                sandbox=page_context.dependencies.settings.sandbox,
            ),
        }
    )


def _own_entities(user: User) -> Iterator[tuple[str, str]]:
    """Return the ID and name of each entity that they administer or read."""
    yield from zip(user.administers, user.entity_names, strict=True)
    yield from zip(user.reads, user.read_names, strict=True)


def _faults_on(page_context: PageContext) -> Sequence[SandboxNotice]:
    """Return the sandbox's faults in force that a page warns of: those of its entity, or all."""
    if page_context.entity is not None:
        return page_context.dependencies.notices(page_context.entity.entity_id)
    return page_context.dependencies.notices("") if page_context.scopes else ()


def _refused(page_context: PageContext, refusal: Refusal, typed: Sequence[object]) -> RenderedPage:
    problem, stale = page_problem(refusal), isinstance(refusal, StaleForm)
    reopens = stale or refusal is UNEXPECTED
    # Who is signed in is known here: what the API calls 401 is a right that is missing.
    status = _FORBIDDEN if problem.status == _UNAUTHORIZED else problem.status
    lacks_right = problem.status == _UNAUTHORIZED
    words = sentence(gettext(_NO_ACCESS)) if lacks_right else refusal_text(refusal)
    heading = HEADINGS.get(status, HEADINGS[400])
    return RenderedPage(
        "refused.html",
        {
            "heading": gettext(_UNCHANGED if stale else heading),
            "again": page_context.context.request.url.path if reopens else "",
            "words": words,
            "txn_id": page_context.context.txn_id,
            "typed": typed,
        },
        status,
    )
