"""The page of an emailed link: set a password (spec 1.3b), or confirm a change.

Opening it consumes nothing, because email scanners open links; its form posts
JSON to /user/password/set or /user/link/confirm, or declines an invitation by
/user/link/decline.
"""

from litestar import Response, get
from litestar.params import FromPath

from mudra.console.framework.page_language import remember_language, write_in_language
from mudra.console.framework.render import page
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.server.router import Router
from mudra.identity.accounts.acts.change_address import ChangeHolder
from mudra.identity.accounts.acts.confirm_link import agreement_of_link
from mudra.identity.accounts.acts.set_password import holder_of_link
from mudra.identity.accounts.email_link import LinkFault, LinkRefused
from mudra.identity.accounts.password_rules import MAX_LENGTH, MIN_LENGTH
from mudra.identity.accounts.user import User
from mudra.identity.memberships.invite import InvitationHolder
from mudra.localization.language import translatable
from mudra.shared.secret_text import SecretText

_SENTENCES = {
    LinkFault.UNKNOWN: translatable("This link is not valid. Part of it may be missing."),
    LinkFault.EXPIRED: translatable("This link has expired."),
    LinkFault.USED: translatable("This link has already been used."),
    LinkFault.VOIDED: translatable(
        "A newer link was sent to you, or your password was changed since. Use the latest email, "
        "or ask for a new link."
    ),
    LinkFault.WITHDRAWN: translatable(
        "This invitation was withdrawn or declined. Ask an admin of the entity for another."
    ),
}


@get("/activate/{token:str}", include_in_schema=False)
async def activate(
    token: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Show the form, or the reason why the link is not valid and how to get a new one."""
    link = SecretText(token)
    async with dependencies.transaction() as tx:
        holder = await holder_of_link(tx, link)
        agreement = await agreement_of_link(tx, link)
    facts: dict[str, object] = {
        **write_in_language(request, dependencies, _chosen(holder, agreement)),
        "network": dependencies.settings.network_name,
        "base": dependencies.settings.token_prefix,
        "issuer": dependencies.settings.issuer,
        "min_length": MIN_LENGTH,
        "max_length": MAX_LENGTH,
    }
    if isinstance(agreement, ChangeHolder):
        response = page("confirm_address.html", facts | {"change": agreement.change})
    elif isinstance(agreement, InvitationHolder):
        response = page("accept_invitation.html", facts | {"invitation": agreement.invitation})
    elif isinstance(holder, LinkRefused):
        response = page(
            "link_refused.html", facts | {"problem": _SENTENCES[holder.fault]}, status=410
        )
    else:
        user = holder.user
        invitation = holder.invitation.invitation if holder.invitation else None
        facts |= {"user": user, "entities": user.entity_names, "invitation": invitation}
        response = page("activation.html", facts)
    # Its address is the one-use link: never send it as a referrer; no form here needs an Origin.
    response.headers["Referrer-Policy"] = "no-referrer"
    return remember_language(request, dependencies, response)


def _chosen(*holders: object) -> str:
    """Return the language that the person of the link has chosen; empty for none."""
    users = [getattr(one, "user", None) for one in holders]
    return next((one.language for one in users if isinstance(one, User)), "")


def activation_page(prefix: str) -> Router:
    """Returns the page's router under the path of the token service."""
    return Router(prefix or "/", route_handlers=[activate])
