"""The language of pages that no cache keeps: asked for, chosen by the person, remembered."""

from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from litestar import Response
from litestar.datastructures import Cookie

from mudra.audit.event import Caller
from mudra.console.framework.page_context import PageContext
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.accounts.acts.language_and_zone import choose_language
from mudra.identity.accounts.user import User
from mudra.localization.language import ENGLISH, current, use
from mudra.storage.database.transaction import Transaction

_COOKIE: Final = "mudra-language"
_YEAR_S: Final = 365 * 24 * 3600
R = TypeVar("R", Response[str], Response[str] | Response[bytes])


def write_in_language(
    request: AnyRequest, dependencies: HttpDependencies, chosen: str = ""
) -> dict[str, object]:
    """Write in the reader's language, and return the links to the others.

    What the address asks for comes first, then what the person of the page has `chosen`, what this
    browser asked for before, and what it accepts.
    """
    languages = dependencies.languages
    wanted = (request.query_params.get("lang", ""), chosen, request.cookies.get(_COOKIE, ""))
    asked = next((one for one in wanted if languages.find(one) is not None), "")
    use(languages.choose(asked, request.headers.get("accept-language", "")))
    if request.method not in {"GET", "HEAD"}:
        return {"languages": ()}  # a form that is answered has no address of its own
    query = dict(request.query_params.items())
    return {
        "languages": [
            (one, "?" + urlencode({**query, "lang": one.tag})) for one in languages.choices
        ]
    }


def write_in_language_of_page(request: AnyRequest, dependencies: HttpDependencies) -> None:
    """Write in the browser's language what takes the place of a page.

    What was chosen when the page began stays.
    """
    if current() is ENGLISH:
        write_in_language(request, dependencies)


def write_in_own_language(page_context: PageContext) -> None:
    """Write in the language that the person chose, else in the language of the network.

    English has its digits grouped as the region of the browser does.
    """
    request, languages = page_context.context.request, page_context.dependencies.languages
    own = languages.of(page_context.user.language)
    use(languages.choose(own.tag, request.headers.get("accept-language", "")))


def remember_language(request: AnyRequest, dependencies: HttpDependencies, response: R) -> R:
    """Store in the browser what the address asked for."""
    asked = request.query_params.get("lang", "")
    if dependencies.languages.find(asked) is not None:
        _store(asked, dependencies, response)
    return response


def remember_choice(tag: str, dependencies: HttpDependencies, response: Response[Any]) -> None:
    """Store in the browser what the person chose; empty for the language of the network."""
    if tag:
        _store(tag, dependencies, response)
    else:
        response.delete_cookie(_COOKIE)


async def take_over_language(
    request: AnyRequest,
    dependencies: HttpDependencies,
    tx: Transaction,
    user: User,
    caller: Caller,
) -> None:
    """Make what this browser asked for the language of a person who has chosen none."""
    asked = request.cookies.get(_COOKIE, "")
    known = {one.tag for one in dependencies.languages.choices}
    if not user.language and asked in known:
        await choose_language(tx, user, caller, asked, known)


def _store(tag: str, dependencies: HttpDependencies, response: Response[Any]) -> None:
    secure = dependencies.settings.issuer.startswith("https://")
    response.set_cookie(
        Cookie(
            key=_COOKIE, value=tag, path="/", max_age=_YEAR_S, secure=secure, httponly=True,
            samesite="lax",
        )
    )  # fmt: skip
