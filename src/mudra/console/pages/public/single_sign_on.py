"""Sign-in of operators by OpenID Connect: to the provider, and back (decision 0078)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from litestar import Response, get
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import CrossSiteForm
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_responses import SIGN_IN, after_sign_in, own_page_path, redirect
from mudra.console.framework.session.cookie import (
    BrowserCookie,
    browser_cookie,
    sessions_are_safe,
    set_browser_cookie,
    set_session_cookie,
)
from mudra.console.framework.session.sign_in_form import sign_in_form
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.second_factor.after_password import stage_after_password
from mudra.identity.sessions.console_sessions import BegunSession, begin_session
from mudra.identity.sessions.session import LIFE as SESSION_LIFE
from mudra.identity.sessions.session import Stage
from mudra.identity.single_sign_on.attempt import LIFE, begin_attempt, end_attempt
from mudra.identity.single_sign_on.claims import ProvidedIdentity, SignOnRefused, read_identity
from mudra.identity.single_sign_on.ports import IdentityProvider, ProviderFailed
from mudra.identity.single_sign_on.sign_in import refused, sign_in_by_provider
from mudra.shared.network_address import address_key
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

_CALLBACK: Final = f"{SIGN_IN}/sso/callback"
_MAX_CODE: Final = 2048


@get("/sign-in/sso", include_in_schema=False)
async def to_provider(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Send the browser to the provider; only a link of our own begins that."""
    context, provider = new_context(request, dependencies), dependencies.provider
    to = own_page_path(request.query_params.get("to", ""))
    if provider is None or not sessions_are_safe(dependencies.settings):
        return redirect(context, SIGN_IN)
    if request.headers.get("sec-fetch-site") not in {None, "same-origin", "none"}:
        return sign_in_form(context, CONSOLE, refusal=CrossSiteForm())
    async with dependencies.transaction() as tx:
        begun = await begin_attempt(
            tx,
            to,
            address_key(context.caller("nobody").address),
            _redirect_uri(context),
            dependencies.random_bytes,
            fresh=bool(request.query_params.get("fresh")),
        )
    if isinstance(begun, Refusal):
        return sign_in_form(context, to, refusal=begun)
    cookie, asked = begun
    address = await provider.address(asked)
    if isinstance(address, ProviderFailed):
        return sign_in_form(context, to, refusal=address)
    response = redirect(context, address)
    set_browser_cookie(response, BrowserCookie.SIGN_ON, cookie, LIFE, dependencies.settings)
    return response


@get("/sign-in/sso/callback", include_in_schema=False)
async def from_provider(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Sign in whom the provider names; starts a new session."""
    context, provider = new_context(request, dependencies), dependencies.provider
    if provider is None or not sessions_are_safe(dependencies.settings):
        return redirect(context, SIGN_IN)
    query = {name: request.query_params.get(name, "") for name in ("code", "state", "iss")}
    done = await _signed_in(context, provider, query)
    if isinstance(done, Refusal):
        response = sign_in_form(context, CONSOLE, refusal=done)
    else:
        session, to = done
        response = redirect(context, to)
        set_session_cookie(response, session.cookie, dependencies.settings)
    ended = SecretText("")
    set_browser_cookie(response, BrowserCookie.SIGN_ON, ended, timedelta(), dependencies.settings)
    return response


async def _signed_in(
    context: RequestContext, provider: IdentityProvider, query: Mapping[str, str]
) -> tuple[BegunSession, str] | Refusal:
    dependencies, caller = context.dependencies, context.caller("nobody")
    cookie = browser_cookie(context.request, BrowserCookie.SIGN_ON, dependencies.settings)
    redirect_uri, origin = _redirect_uri(context), address_key(caller.address)
    async with dependencies.transaction() as tx:
        ended = await end_attempt(tx, cookie, query["state"], redirect_uri)
        if isinstance(ended, SignOnRefused):
            return await refused(tx, caller, ended.reason)
    to, asked = ended
    # RFC 9207: an answer of another provider is not taken to this one.
    if query["iss"] not in {"", provider.terms.issuer} or not 0 < len(query["code"]) <= _MAX_CODE:
        answer: Mapping[str, object] | Refusal = ProviderFailed("no-code")
    else:
        answer = await provider.redeem(query["code"], asked)
    async with dependencies.transaction() as tx:
        if isinstance(answer, ProviderFailed):
            await refused(tx, caller, answer.reason)
            return answer
        assert not isinstance(answer, Refusal)
        identity = read_identity(answer, provider.terms, provider.now())
        if isinstance(identity, SignOnRefused):
            return await refused(tx, caller, identity.reason)
        hourly = dependencies.settings.sign_in_hourly
        user = await sign_in_by_provider(
            tx, identity, provider.terms, caller, origin=origin, hourly=hourly
        )
        if not isinstance(user, User):
            return user
        stage = Stage.FULL
        if not identity.has_second_factor:
            roles = dependencies.settings.factor_roles
            stage = await stage_after_password(tx, user, roles)
        now = await People(tx).now()
        session = await begin_session(
            tx,
            user.user_id,
            context.caller(f"user:{user.user_id}"),
            now,
            random_bytes=dependencies.random_bytes,
            stage=stage,
            proven_at=_proven_at(identity, now),
        )
    return session, after_sign_in(stage, to)


def _proven_at(identity: ProvidedIdentity, now: datetime) -> datetime:
    """Return when the person showed themselves: long ago, where the provider does not say."""
    return now - (SESSION_LIFE if identity.proven_before is None else identity.proven_before)


def _redirect_uri(context: RequestContext) -> str:
    parts = urlsplit(context.dependencies.settings.issuer)
    return f"{parts.scheme}://{parts.netloc}{_CALLBACK}"


handlers: Final[list[ControllerRouterHandler]] = [to_provider, from_provider]
