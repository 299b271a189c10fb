"""Answers about people, for the OpenAPI document and for writing them."""

from typing import Annotated

from msgspec import Meta, field

from mudra.http.account.people_shapes import (
    AdminDetails,
    EventDetails,
    MailDetails,
    MemberDetails,
    SessionDetails,
    TokenDetails,
    UserDetails,
)
from mudra.http.response.response_body import Page, ResponseBody
from mudra.identity.accounts.account_service import AccountChanged
from mudra.identity.memberships.admins import AdminsChanged

_Warning = Annotated[
    list[str], Meta(description="what needs an operator's care, such as an entity without admin")
]


class AdminsResponse(ResponseBody, kw_only=True):
    """An entity's admins after the call."""

    entity_id: str = field(name="entityId")
    admins: list[AdminDetails]
    contact: str
    warnings: _Warning


class TokensResponse(ResponseBody, kw_only=True):
    """A user's tokens that have not expired; never their text."""

    tokens: list[TokenDetails]


class SessionsResponse(ResponseBody, kw_only=True):
    """A user's open sessions of the console, the newest first."""

    sessions: list[SessionDetails]


class AccountResponse(ResponseBody, kw_only=True):
    """An account after the call."""

    user_id: str = field(name="userId")
    email: str
    state: str
    tokens_ended: int = field(name="tokensEnded")
    warnings: _Warning


class MembersPage(Page, kw_only=True):
    """A page of members."""

    members: list[MemberDetails]


class UsersPage(Page, kw_only=True):
    """A page of people."""

    users: list[UserDetails]


class MailsPage(Page, kw_only=True):
    """A page of mails."""

    mails: list[MailDetails]


class EventsPage(Page, kw_only=True):
    """A page of the audit."""

    events: list[EventDetails]


class MemberResponse(ResponseBody, kw_only=True):
    """A member; `created` and `invited` tell what this call did."""

    entity_id: str = field(name="entityId")
    type: str
    name: str
    status: str
    created: bool
    invited: bool


class StatusResponse(ResponseBody, kw_only=True):
    """What was done."""

    status: str


def warnings_of(changed: AdminsChanged | AccountChanged) -> list[str]:
    """Say which entities nobody can act for now."""
    if isinstance(changed, AccountChanged):
        alone = changed.without_admin
    else:
        alone = (changed.entity_id,) if changed.left == 0 else ()
    return [
        f"{entity_id} has no admin who can act: add one, or have the invited one set a password"
        for entity_id in alone
    ]


def account_response(changed: AccountChanged) -> AccountResponse:
    """Return an account after a change."""
    return AccountResponse(
        user_id=changed.user.user_id,
        email=changed.user.email,
        state=changed.user.state.value,
        tokens_ended=changed.tokens_ended,
        warnings=warnings_of(changed),
    )
