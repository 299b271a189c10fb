"""The user's own authenticator app: set up, replaced, removed; recovery codes.

Who must set one up at the first sign-in comes to these pages alone, with a session that opens
nothing else; the first right code replaces it by a full session with another cookie.
"""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler
from markupsafe import Markup

from mudra.console.framework import page
from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import SECOND_FACTOR
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import SIGN_IN
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import EACH_TIME
from mudra.http.auth.gates import SIGNED_IN
from mudra.identity.passkeys.manage_passkeys import MAX_NAME, MAX_PASSKEYS
from mudra.identity.second_factor.enroll import (
    Enrollment,
    app_kept,
    begin_enrollment,
    confirm_enrollment,
    pending_enrollment,
    remove_app,
    renew_recovery_codes,
)
from mudra.identity.second_factor.policy import is_required
from mudra.identity.second_factor.recovery_codes import FEW_LEFT
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sessions.console_sessions import (
    BegunSession,
    complete_session,
    end_other_sessions,
)
from mudra.identity.sessions.session import Stage
from mudra.identity.sessions.session_store import Sessions
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted
from mudra.localization.language import gettext
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

_PATH: Final = "/account/second-factor"


@page.get(_PATH, gate=SIGNED_IN, enrolling=True)
async def show(page_context: PageContext) -> Outcome:
    """Show whether the user has a second factor, and what can be done with it."""
    user, factors = page_context.user, SecondFactors(page_context.tx)
    return RenderedPage(
        "second_factor.html",
        {
            "enrolled": await factors.enrolled(user.user_id),
            "passkeys": await factors.passkeys.of_user(user.user_id),
            "most_passkeys": MAX_PASSKEYS,
            "longest_name": MAX_NAME,
            "codes_left": await factors.recovery_codes_left(user.user_id),
            "few": FEW_LEFT,
            "required": is_required(
                page_context.dependencies.settings.factor_roles,
                operator=bool(page_context.scopes),
                admin=user.is_of_a_member,
            ),
            "forced": page_context.session.stage is Stage.ENROLL,
            "done": page_context.query.get("told", ""),
        },
    )


@page.post(f"{_PATH}/begin", gate=SIGNED_IN, proof=EACH_TIME, enrolling=True)
async def begin(page_context: PageContext, _: Fields) -> Outcome:
    """Make the secret of a new app, and show it."""
    enrollment = await begin_enrollment(
        page_context.tx,
        page_context.user,
        page_context.session.key,
        page_context.dependencies.settings.network_name,
        page_context.dependencies.random_bytes,
    )
    return _setup(enrollment)


@page.post(f"{_PATH}/confirm", gate=SIGNED_IN, enrolling=True)
async def confirm(page_context: PageContext, fields: Fields) -> Outcome:
    """Put the new app into use by its first code, and show the recovery codes once."""
    tx, user, session = page_context.tx, page_context.user, page_context.session
    dependencies = page_context.dependencies
    if not await is_still_open(page_context):
        return GoTo(f"{SIGN_IN}?told=ended")
    codes = await confirm_enrollment(
        tx,
        user,
        session.key,
        SecretText(fields.get("new_code", "")),
        page_context.caller,
        dependencies.random_bytes,
    )
    if isinstance(codes, Refusal):
        enrollment = await pending_enrollment(
            tx, user, session.key, dependencies.settings.network_name
        )
        return enrollment if isinstance(enrollment, Refusal) else _setup(enrollment, codes)
    completed = await completed_alone(page_context)
    if completed is None:
        return GoTo(f"{SIGN_IN}?told=ended")
    return shown_codes(codes, gettext("The authenticator app is set up."), completed)


@page.post(f"{_PATH}/recovery-codes", gate=SIGNED_IN, proof=EACH_TIME)
async def renew(page_context: PageContext, _: Fields) -> Outcome:
    """Make new recovery codes, and show them once."""
    codes = await renew_recovery_codes(
        page_context.tx,
        page_context.user,
        page_context.caller,
        page_context.dependencies.random_bytes,
    )
    if isinstance(codes, Refusal):
        return codes
    return shown_codes(codes, gettext("The earlier codes have ended."))


async def _app_kept(page_context: PageContext, _: Fields) -> Refusal | None:
    roles = page_context.dependencies.settings.factor_roles
    return await app_kept(page_context.tx, page_context.user, roles)


@page.post(f"{_PATH}/remove", gate=SIGNED_IN, proof=EACH_TIME.after(_app_kept))
async def remove(page_context: PageContext, _: Fields) -> Outcome:
    """Remove the app, unless the user's role needs a second factor and there is no passkey."""
    tx, session = page_context.tx, page_context.session
    roles = page_context.dependencies.settings.factor_roles
    refused = await remove_app(tx, page_context.user, roles, page_context.caller)
    if refused is not None:
        return refused
    await end_other_sessions(tx, session, page_context.caller)
    return GoTo(f"{SECOND_FACTOR}?told=removed")


def _setup(enrollment: Enrollment, refused: Refusal | None = None) -> RenderedPage:
    problem = page_problem(refused) if refused else None
    return RenderedPage(
        "second_factor_setup.html",
        {
            "secret": enrollment.secret,
            "picture": qr_code(enrollment.uri),
            "problem": sentence(problem.sentence) if problem else "",
        },
        problem.status if problem else 200,
    )


async def is_still_open(page_context: PageContext) -> bool:
    """Take the turn of the person's codes; returns whether the session is there behind it.

    A reset of the factor ends the session in its own turn: no factor is stored for one that ended.
    """
    tx, session = page_context.tx, page_context.session
    await Attempts(tx).history(Counted.SECOND_FACTOR, page_context.user.user_id, lock=True)
    return await Sessions(tx).find(session.key) is not None


async def completed_alone(page_context: PageContext) -> BegunSession | None:
    """Complete the session of a person who has set up a factor, and end their others.

    None when it has ended meanwhile.
    """
    tx, session = page_context.tx, page_context.session
    await end_other_sessions(tx, session, page_context.caller)
    return await complete_session(
        tx,
        session,
        page_context.caller,
        page_context.now,
        random_bytes=page_context.dependencies.random_bytes,
    )


def shown_codes(
    codes: Sequence[SecretText], done: str, begun: BegunSession | None = None
) -> RenderedPage:
    """Show new recovery codes, once."""
    return RenderedPage("recovery_codes.html", {"codes": codes, "done": done}, begun=begun)


def qr_code(text: SecretText) -> Markup:
    """Draw the code of a text as SVG, black on white in any color scheme."""
    import segno  # noqa: PLC0415  # only by who sets up a second factor

    drawn = segno.make_qr(text.reveal(), error="m")
    return Markup(  # noqa: S704  # drawn here: numbers and fixed names alone
        drawn.svg_inline(scale=5, dark="#000", light="#fff", svgclass="qr", lineclass=None)
    )


handlers: Final[list[ControllerRouterHandler]] = [show, begin, confirm, renew, remove]
