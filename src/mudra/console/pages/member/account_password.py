"""The change of the user's own password, a form of the account page."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import PROOF_TOO_OLD
from mudra.console.framework.identity_proof import EACH_TIME_ON_OWN_PAGE
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import SIGN_IN
from mudra.console.framework.page_results import GoTo, LongAct, Outcome
from mudra.console.pages.member.account import account_page
from mudra.http.auth.gates import SIGNED_IN
from mudra.identity.accounts.acts.set_password import change_password, refused_password
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText


async def _check(page_context: PageContext, fields: Fields) -> Outcome | None:
    network = page_context.dependencies.settings.network_name
    refused = refused_password(_chosen(fields), page_context.user, network)
    return await account_page(page_context, refused) if refused else None


@page.post("/account/password", gate=SIGNED_IN, proof=EACH_TIME_ON_OWN_PAGE.after(_check))
async def change(page_context: PageContext, fields: Fields) -> Outcome | LongAct:
    """Change the password; all sessions end, so that one signs in with the new one."""
    dependencies = page_context.dependencies
    if not page_context.proof_given:
        return await account_page(page_context, page_context.proof_refused or PROOF_TOO_OLD)

    async def run() -> GoTo | Refusal:
        outcome = await change_password(
            page_context.user,
            _chosen(fields),
            page_context.caller,
            hasher=dependencies.hasher,
            open_transaction=dependencies.transaction,
        )
        return outcome or GoTo(f"{SIGN_IN}?told=password")

    return LongAct(run)


def _chosen(fields: Fields) -> SecretText:
    return SecretText(fields.get("new_password", ""))


handlers: Final[list[ControllerRouterHandler]] = [change]
