"""/operator/v1/users: list, disable, enable, invite again, new address, tokens (scope members)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.request.fields import Email, Flag, NoParameters, PageLimit, SearchText, UuidOrNone
from mudra.http.response import conflicts
from mudra.http.response.account_responses import (
    TokensResponse,
    UserState,
    Warnings,
    tokens_response,
    warnings_about,
)
from mudra.http.response.response_body import DateTime, Page, ResponseBody, StatusResponse, cut_page
from mudra.http.route import get, post
from mudra.identity.accounts.acts.change_address import (
    AddressPending,
    change_address,
    confirm_as_second,
)
from mudra.identity.accounts.acts.manage_accounts import (
    AccountChanged,
    disable_account,
    enable_account,
    end_tokens,
    invite_again,
    tokens_of_user,
)
from mudra.identity.accounts.email_address import MAX_ADDRESS
from mudra.identity.memberships.member_search import UserFilter, UserRow
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.identity.second_factor.reset_factor import reset_factor
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms


class UserQuery(Struct, frozen=True):
    """Filters users and selects a page."""

    state: Annotated[
        Literal["", "invited", "active", "disabled"],
        Meta(description="invited, active or disabled"),
    ] = ""
    entity_id: SearchText = field(name="entityId", default="")
    words: SearchText = ""
    operators: Flag = "false"
    after: Annotated[str, Meta(max_length=MAX_ADDRESS, description="an address")] = ""
    limit: PageLimit = "100"


class AddressRequest(Struct, frozen=True):
    """Move an account to a new address."""

    email: Annotated[Email, Meta(examples=["ravi.iyer@kaveribank.example"])]


class RevokeRequest(Struct, frozen=True):
    """End one token of a user, or all without `jti`."""

    jti: UuidOrNone = ""


class UserDetails(Struct, kw_only=True):
    """A user; `linkValidUntil` while an emailed link can be used."""

    user_id: str = field(name="userId")
    email: str
    name: str
    state: UserState
    created_at: DateTime = field(name="createdAt")
    administers: list[str]
    scopes: list[str]
    second_factor: bool = field(name="secondFactor")
    second_factors: list[str] = field(name="secondFactors")
    """Those enrolled: `app`, `passkey`."""
    signed_in_at: DateTime | None = field(name="signedInAt")
    """The last sign-in, to the console or for a token; null for none."""
    link_valid_until: DateTime | UnsetType = field(name="linkValidUntil", default=UNSET)


class UsersPage(Page, kw_only=True):
    """A page of users."""

    users: list[UserDetails]


class AccountResponse(ResponseBody, kw_only=True):
    """An account after the call; `pendingEmail` waits to be confirmed."""

    user_id: str = field(name="userId")
    email: str
    state: str
    tokens_ended: int = field(name="tokensEnded")
    warnings: Warnings
    pending_email: str | UnsetType = field(name="pendingEmail", default=UNSET)


@get("/users", "List users", gate=operator(Scope.MEMBERS))
async def list_users(call: OperatorCall[UserQuery]) -> UsersPage:
    """List users by address, a page at a time."""
    which = UserFilter(
        state=call.body.state,
        entity_id=call.body.entity_id,
        text=call.body.words,
        operators_only=call.body.operators == "true",
    )
    limit = int(call.body.limit)
    rows = await MemberSearch(call.tx).users(which, call.body.after, limit + 1)
    shown, following = cut_page(rows, limit, lambda row: row.email)
    return UsersPage(users=[_details(row) for row in shown], next=following)


@post(
    "/users/{user_id:uuid}/disable",
    "Disable an account",
    gate=operator(Scope.MEMBERS),
    conflicts=conflicts.LOCK_PERSON_OUT,
)
async def disable(
    call: OperatorCall[NoParameters], user_id: FromPath[UUID]
) -> AccountResponse | Refusal:
    """Disable an account and end its tokens; `warnings` names entities left without admin."""
    return _account(await disable_account(call.tx, call.by, str(user_id)))


@post(
    "/users/{user_id:uuid}/enable",
    "Enable an account",
    gate=operator(Scope.MEMBERS),
    conflicts=conflicts.ACT_ON_PERSON,
)
async def enable(
    call: OperatorCall[NoParameters], user_id: FromPath[UUID]
) -> AccountResponse | Refusal:
    """Enable an account again; its previous tokens stay ended."""
    return _account(await enable_account(call.tx, call.by, str(user_id)))


@post(
    "/users/{user_id:uuid}/invite",
    "Send a link again",
    gate=operator(Scope.MEMBERS),
    conflicts=conflicts.ACT_ON_PERSON,
)
async def invite(
    call: OperatorCall[NoParameters], user_id: FromPath[UUID]
) -> StatusResponse | Refusal:
    """Send a new link: invitation, or for an active user one to set a new password."""
    outcome = await invite_again(call.tx, call.by, str(user_id))
    return outcome if isinstance(outcome, Refusal) else StatusResponse(status="link sent")


@post(
    "/users/{user_id:uuid}/email",
    "Change an address",
    conflicts=conflicts.CHANGE_ADDRESS,
    gate=operator(Scope.MEMBERS),
)
async def move(
    call: OperatorCall[AddressRequest], user_id: FromPath[UUID]
) -> AccountResponse | Refusal:
    """Move an account to a new address; both addresses get an email, the new one is verified.

    An operator's moves once the old address or a second operator has confirmed: until then
    `pendingEmail` is in the answer, and nothing has changed.
    """
    return _account(await change_address(call.tx, call.by, str(user_id), call.body.email))


@post(
    "/users/{user_id:uuid}/email/confirm",
    "Confirm an operator's new address",
    conflicts=conflicts.CONFIRM_ADDRESS,
    gate=operator(Scope.MEMBERS),
)
async def confirm_move(
    call: OperatorCall[AddressRequest], user_id: FromPath[UUID]
) -> AccountResponse | Refusal:
    """Confirm, as the second operator, the new address of an operator, which `email` names."""
    return _account(await confirm_as_second(call.tx, call.by, str(user_id), call.body.email))


@get(
    "/users/{user_id:uuid}/tokens",
    "List a user's tokens",
    gate=operator(Scope.MEMBERS),
    conflicts=conflicts.ACT_ON_PERSON,
)
async def list_tokens(
    call: OperatorCall[NoParameters], user_id: FromPath[UUID]
) -> TokensResponse | Refusal:
    """List a user's tokens with the last use of each; never their text."""
    outcome = await tokens_of_user(call.tx, call.by, str(user_id))
    return outcome if isinstance(outcome, Refusal) else tokens_response(outcome)


@post(
    "/users/{user_id:uuid}/tokens/revoke",
    "End a user's tokens",
    gate=operator(Scope.MEMBERS),
    conflicts=conflicts.ACT_ON_PERSON,
)
async def revoke(
    call: OperatorCall[RevokeRequest], user_id: FromPath[UUID]
) -> StatusResponse | Refusal:
    """End one token of a user, or all of them."""
    outcome = await end_tokens(call.tx, call.by, str(user_id), call.body.jti)
    if isinstance(outcome, Refusal):
        return outcome
    return StatusResponse(status=f"{outcome} revoked")


@post(
    "/users/{user_id:uuid}/second-factor/reset",
    "Reset a lost second factor",
    conflicts=conflicts.RESET_FACTOR,
    gate=operator(Scope.MEMBERS),
)
async def reset_second_factor(
    call: OperatorCall[NoParameters], user_id: FromPath[UUID]
) -> AccountResponse | Refusal:
    """Remove a person's second factor and end their tokens and sessions; they get an email."""
    return _account(await reset_factor(call.tx, call.by, str(user_id)))


def _account(outcome: AccountChanged | AddressPending | Refusal) -> AccountResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    if isinstance(outcome, AddressPending):
        return AccountResponse(
            user_id=outcome.user.user_id,
            email=outcome.user.email,
            state=outcome.user.state.value,
            tokens_ended=0,
            warnings=[],
            pending_email=outcome.email,
        )
    return AccountResponse(
        user_id=outcome.user.user_id,
        email=outcome.user.email,
        state=outcome.user.state.value,
        tokens_ended=outcome.tokens_ended,
        warnings=warnings_about(outcome.without_admin),
    )


def _details(row: UserRow) -> UserDetails:
    return UserDetails(
        user_id=row.user_id,
        email=row.email,
        name=row.name,
        state=row.state,
        created_at=iso_ms(row.created_at),
        administers=list(row.administers),
        scopes=list(row.scopes),
        second_factor=row.second_factor,
        second_factors=[*(["app"] if row.app else []), *(["passkey"] if row.passkeys else [])],
        signed_in_at=iso_ms(row.signed_in_at) if row.signed_in_at else None,
        link_valid_until=iso_ms(row.invited_until) if row.invited_until else UNSET,
    )


handlers: Final[list[ControllerRouterHandler]] = [
    list_users,
    disable,
    enable,
    invite,
    move,
    confirm_move,
    list_tokens,
    revoke,
    reset_second_factor,
]
