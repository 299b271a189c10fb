"""Pages without anybody signed in that say what went wrong, or that an address is wrong."""

from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from litestar import Response
from litestar.exceptions import MethodNotAllowedException

from mudra.console.framework.console_errors import NO_SUCH_PAGE, page_problem, refusal_text
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_responses import site_facts
from mudra.console.framework.render import page
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import Unavailable
from mudra.localization.language import gettext, use
from mudra.shared.refusal import Refusal

RELOAD_S: Final = 5
_STATUS: Final = "/status"
_OF_PROGRAMS: Final = "/status/v1/"
"""Below the public status, but not a page."""


def error_page(
    dependencies: HttpDependencies,
    outcome: Refusal,
    heading: str,
    txn_id: str = "",
    *,
    public: bool = False,
    reloads: bool = False,
) -> Response[str]:
    """Show a refusal as a page of its own; a public one leads to the status of the network.

    One that `reloads` is asked for again by the browser after a few seconds, and says so.
    """
    problem = page_problem(outcome)
    again = {"Refresh": str(RELOAD_S)} if reloads else {}
    return page(
        "refused_alone.html",
        site_facts(dependencies)
        | {
            "heading": heading,
            "words": refusal_text(outcome),
            "txn_id": txn_id,
            "public": public,
            "reload_s": RELOAD_S if reloads else 0,
        },
        status=problem.status,
        headers={**problem.headers, **again},
    )


def out_of_reach_page(
    dependencies: HttpDependencies,
    request: AnyRequest,
    outage: Unavailable,
    *,
    public: bool = False,
) -> Response[str]:
    """Show that a page cannot be made now."""
    # A form would be sent twice, and htmx shows what it gets inside the page.
    reloads = request.method == "GET" and "hx-request" not in request.headers
    heading = gettext("Out of reach for the moment")
    return error_page(dependencies, outage, heading, public=public, reloads=reloads)


def no_such_page(dependencies: HttpDependencies, *, public: bool) -> Response[str]:
    """Return the page for an unknown address."""
    return error_page(dependencies, NO_SUCH_PAGE, gettext("Nothing here"), public=public)


def not_found_page(
    dependencies: HttpDependencies, request: AnyRequest, error: Exception
) -> Response[str] | None:
    """Return the page for a wrong address of the console or the status; None for others.

    The address of a form leads to the page that it is on: a browser that is reloaded after a
    sign-in opens it.
    """
    path = request.scope["path"]
    if path.startswith(_OF_PROGRAMS) or not path.startswith((f"{CONSOLE}/", f"{_STATUS}/")):
        return None
    if not isinstance(error, MethodNotAllowedException):
        if path.startswith(f"{_STATUS}/"):
            accepted = request.headers.get("accept-language", "")
            use(dependencies.languages.choose(request.query_params.get("lang", ""), accepted))
        return no_such_page(dependencies, public=path.startswith(f"{_STATUS}/"))
    if request.method not in {"GET", "HEAD"}:
        return None
    above = quote(path.rstrip("/").rpartition("/")[0], safe="/@~")
    return Response("", status_code=HTTPStatus.SEE_OTHER, headers={"Location": above})
