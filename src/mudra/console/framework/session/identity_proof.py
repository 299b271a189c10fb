"""The proof that a form is sent by the user, and not by one who found the browser open.

A passkey or a code proves who has a second factor, the password who has none. It counts for as
long as the setting says (`step_up`), and each code and each challenge once.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.csrf import CSRF_FIELD
from mudra.http.auth.with_password import with_password
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.check_code import FactorKind
from mudra.identity.second_factor.factors import EnrolledFactors
from mudra.identity.second_factor.show_factor import second_factor_shown
from mudra.identity.sessions.session_store import Sessions
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.localization.language import gettext, translatable
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

_OPERATOR: Final = "/operator/"
_MEMBER: Final = "/operator/members/(?P<entity>[^/]+)/"
_OWN: Final = "/entity/(?P<entity>[^/]+)/"
_CONFIRMED: Final = {
    _OPERATOR + "people": "Operator %(email)s: scopes %(scopes)s.",
    _OPERATOR + "people/second-factor": "Reset the second factor of %(email)s.",
    _OPERATOR + "onboard": "Onboard %(entityId)s (%(name)s).",
    _OPERATOR + "keys/rotate": "Rotate the signing key.",
    _OPERATOR + "bulk": "Act on the chosen members.",
    _OPERATOR + "approvals/(?P<entity>[^/]+)": "Decide on the registry entry of %(entity)s.",
    _OPERATOR + "webhooks": "Add the webhook %(url)s.",
    _OPERATOR + "webhooks/[^/]+/rotate": "Make a new signing secret of a webhook.",
    _MEMBER + "invitation": "Send %(email)s a link to set a password.",
    _MEMBER + "second-factor": "Reset the second factor of %(email)s.",
    _MEMBER + "removal": "Remove %(email)s from %(entity)s.",
    _MEMBER + "admins": "Make %(email)s an admin of %(entity)s.",
    _MEMBER + "contact": "Change the backup contact of %(entity)s.",
    _MEMBER + "binding": "Change from which addresses %(entity)s gets tokens.",
    _MEMBER + "status": "Change whether %(entity)s gets tokens.",
    _OWN + "registration/submit": translatable("Submit the registration of %(entity)s."),
    _OWN + "people/.+": translatable("Change the people of %(entity)s: %(email)s."),
    _OWN + "addresses": translatable("Change from which addresses %(entity)s gets tokens."),
    _OWN + "webhooks": translatable("Add the webhook %(url)s."),
    _OWN + "webhooks/[^/]+/rotate": translatable("Make a new signing secret of a webhook."),
    "/account/webhooks": translatable("Add the webhook %(url)s."),
    "/account/webhooks/[^/]+/rotate": translatable("Make a new signing secret of a webhook."),
    "/account/second-factor/remove": translatable("Remove your authenticator app."),
    "/account/second-factor/recovery-codes": translatable("Make new recovery codes."),
    "/account/second-factor/begin": translatable("Set up an authenticator app."),
    "/account/second-factor/passkey/.+": translatable("Change your passkeys."),
}
"""What each form that may ask for a proof does, by the pattern of its path."""
_SHOWN: Final = ("email", "entityId", "url", "name")
_MOST_SHOWN: Final = 200
PROOF_FIELDS: Final = frozenset({"password", "code", "passkey"})


class AskedProof(Struct, frozen=True):
    """The proof that a serious form asks for; without one, a page asks for it."""

    each_time: bool = False
    """Whether a code comes with the form itself of one who has a second factor.

    However lately one was typed: a stolen session changes nothing of it.
    """
    on_own_page: bool = False
    """Whether the page of the form has the field: its handler checks `is_proven`.

    Or `proof_given`, where what was typed before does not count.
    """
    check: Callable[[PageContext, Mapping[str, str]], Awaitable[Outcome | None]] | None = None
    """Refuses a form before its code is used up; see `after`."""

    def after(
        self, check: Callable[[PageContext, Mapping[str, str]], Awaitable[Outcome | None]]
    ) -> "AskedProof":
        """Ask once the check has refused nothing.

        A code is used up in the transaction of the act: neither a form that is refused nor an act
        that fails costs a code (0075).
        """
        return replace(self, check=check)


RECENT: Final = AskedProof()
RECENT_ON_OWN_PAGE: Final = AskedProof(on_own_page=True)
EACH_TIME: Final = AskedProof(each_time=True)
EACH_TIME_ON_OWN_PAGE: Final = AskedProof(each_time=True, on_own_page=True)


class Proof(Struct, frozen=True):
    """The proof that came with a form: nothing, a right password or code, or a refused one."""

    is_accepted: bool
    refusal: Refusal | None = None


NO_PROOF: Final = Proof(is_accepted=False)


def has_proof(fields: Mapping[str, str]) -> bool:
    """Return whether something came that may be a proof."""
    return any(fields.get(name) for name in PROOF_FIELDS)


async def by_second_factor(page_context: PageContext, fields: Mapping[str, str]) -> Proof:
    """Check the passkey or code of one who has a second factor, in the open transaction."""
    tx = page_context.tx
    checked = await second_factor_shown(
        tx,
        page_context.user,
        page_context.session.key,
        fields,
        page_context.caller,
        page_context.dependencies.passkeys,
    )
    if checked is None:
        return NO_PROOF
    if not isinstance(checked, FactorKind):
        return Proof(is_accepted=False, refusal=checked)
    await Sessions(tx).proven(page_context.session, page_context.now)
    return Proof(is_accepted=True)


async def by_typed_password(page_context: PageContext, fields: Mapping[str, str]) -> Proof:
    """Check the password of one without a second factor, by the rules of signing in."""
    typed = fields.get("password", "")
    if not typed:
        return NO_PROOF
    session = page_context.session

    async def enter(tx: Transaction, _: User) -> None:
        await Sessions(tx).proven(session, await People(tx).now())

    refused = await with_password(
        page_context.context, page_context.user.email, SecretText(typed), enter
    )
    return Proof(is_accepted=refused is None, refusal=refused)


def confirmed_act(path: str, fields: Mapping[str, str]) -> str:
    """Returns what a form at a path does once its sender is confirmed; empty for an unknown one."""
    for pattern, text in _CONFIRMED.items():
        found = re.fullmatch(f"/console{pattern}", path)
        if found:
            scopes = ", ".join(one.value for one in Scope if one.value in fields)
            shown = {name: fields.get(name, "")[:_MOST_SHOWN] for name in _SHOWN}
            shown |= {"scopes": scopes or gettext("none")} | found.groupdict()
            return gettext(text, **shown)
    return ""


def without_proof(fields: Mapping[str, str]) -> Mapping[str, str]:
    """Return what a form sent, without the password or code that came with it."""
    return {name: value for name, value in fields.items() if name not in PROOF_FIELDS}


def ask_again(
    page_context: PageContext, fields: Mapping[str, str], enrolled: EnrolledFactors
) -> RenderedPage:
    """Ask for the proof; the page sends the same form again with it."""
    refusal = page_context.proof_refused
    text = page_problem(refusal).sentence if refusal else ""
    if isinstance(refusal, SignInRefused):
        text = gettext("that is not your password; nothing was changed")
    kept = {k: v for k, v in without_proof(fields).items() if k != CSRF_FIELD}
    return RenderedPage(
        "confirm_identity.html",
        {
            "kept": kept,
            "what": confirmed_act(page_context.context.request.url.path, kept),
            "enrolled": enrolled,
            "problem": sentence(text) if text else "",
        },
        HTTPStatus.FORBIDDEN,
    )
