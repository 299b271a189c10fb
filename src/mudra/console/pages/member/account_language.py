"""The language of a user's pages and emails."""

from collections.abc import Mapping
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import own_page_path
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.http.auth.gates import SIGNED_IN
from mudra.identity.accounts.choose_language import choose_language
from mudra.shared.refusal import Refusal


async def choose(page_context: PageContext, fields: Mapping[str, str]) -> str | Refusal:
    """Change the language to `language`, empty for that of the network; returns it."""
    known = {one.tag for one in page_context.dependencies.languages.choices}
    user, wanted = page_context.user, fields.get("language", "")
    return await choose_language(page_context.tx, user, page_context.caller, wanted, known)


@page.post("/account/language", gate=SIGNED_IN)
async def change_language(page_context: PageContext, fields: Fields) -> Outcome:
    """Change the language of the user's emails and pages, and return to the page of the switch."""
    outcome = await choose(page_context, fields)
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(own_page_path(fields.get("to", "")), language=outcome)


def language_facts(page_context: PageContext) -> dict[str, object]:
    """Returns what the account page shows of languages."""
    languages = page_context.dependencies.languages
    return {
        "languages": languages.choices,
        "chosen_language": page_context.user.language,
        "network_language": languages.name_of(languages.default.tag),
    }


handlers: Final[list[ControllerRouterHandler]] = [change_language]
