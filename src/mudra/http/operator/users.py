"""/operator/v1/users: list, disable, enable, invite again, new address, tokens (scope members)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import (
    Email,
    Flag,
    NoParameters,
    PageLimit,
    SearchText,
    UuidOrNone,
)
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.account_responses import (
    TokensResponse,
    UserState,
    Warnings,
    tokens_response,
    warnings_about,
)
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.response_body import (
    DateTime,
    Page,
    ResponseBody,
    StatusResponse,
    cut_page,
)
from mudra.identity.accounts.email_address import MAX_ADDRESS
from mudra.identity.accounts.manage_accounts import (
    AccountChanged,
    change_address,
    disable_account,
    enable_account,
    end_tokens,
    invite_again,
    tokens_of_user,
)
from mudra.identity.memberships.member_search import UserFilter, UserRow
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.unit_of_work import UnitOfWork


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

    email: Email


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
    link_valid_until: DateTime | UnsetType = field(name="linkValidUntil", default=UNSET)


class UsersPage(Page, kw_only=True):
    """A page of users."""

    users: list[UserDetails]


class AccountResponse(ResponseBody, kw_only=True):
    """An account after the call."""

    user_id: str = field(name="userId")
    email: str
    state: str
    tokens_ended: int = field(name="tokensEnded")
    warnings: Warnings


@get(
    "/users",
    operation_class=described("List users", None, UsersPage, bearer=True, query=UserQuery),
)
async def list_users(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List users by address, a page at a time."""
    context, received = receive_query(request, service, UserQuery)

    async def handler(work: UnitOfWork, _: Caller, query: UserQuery) -> HandlerResult:
        which = UserFilter(
            state=query.state,
            entity_id=query.entity_id,
            text=query.words,
            operators_only=query.operators == "true",
        )
        limit = int(query.limit)
        rows = await work.member_search.users(which, query.after, limit + 1)
        shown, following = cut_page(rows, limit, lambda row: row.email)
        return UsersPage(users=[_details(row) for row in shown], next=following)

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/users/{user_id:uuid}/disable",
    status_code=200,
    operation_class=described("Disable an account", NoParameters, AccountResponse, bearer=True),
)
async def disable(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Disable an account and end its tokens; `warnings` names entities left without admin."""
    context, received = await receive_json(request, service, NoParameters)

    async def handler(work: UnitOfWork, caller: Caller, __: NoParameters) -> HandlerResult:
        return _account(await disable_account(work, str(user_id), caller))

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/users/{user_id:uuid}/enable",
    status_code=200,
    operation_class=described("Enable an account", NoParameters, AccountResponse, bearer=True),
)
async def enable(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Enable an account again; its previous tokens stay ended."""
    context, received = await receive_json(request, service, NoParameters)

    async def handler(work: UnitOfWork, caller: Caller, __: NoParameters) -> HandlerResult:
        return _account(await enable_account(work, str(user_id), caller))

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/users/{user_id:uuid}/invite",
    status_code=200,
    operation_class=described("Send a link again", NoParameters, StatusResponse, bearer=True),
)
async def invite(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Send a new link: invitation, or for an active user one to set a new password."""
    context, received = await receive_json(request, service, NoParameters)

    async def handler(work: UnitOfWork, caller: Caller, __: NoParameters) -> HandlerResult:
        outcome = await invite_again(work, str(user_id), caller)
        return outcome if isinstance(outcome, Refusal) else StatusResponse(status="link sent")

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/users/{user_id:uuid}/email",
    status_code=200,
    operation_class=described(
        "Change an address", AddressRequest, AccountResponse, bearer=True, conflict=True
    ),
)
async def move(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """Move an account to a new address; both addresses get an email, the new one is verified."""
    context, received = await receive_json(request, service, AddressRequest)

    async def handler(work: UnitOfWork, caller: Caller, body: AddressRequest) -> HandlerResult:
        return _account(await change_address(work, str(user_id), body.email, caller))

    return await as_operator(context, received, Scope.MEMBERS, handler)


@get(
    "/users/{user_id:uuid}/tokens",
    operation_class=described("List a user's tokens", None, TokensResponse, bearer=True),
)
async def list_tokens(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """List a user's tokens with the last use of each; never their text."""
    context, received = receive_query(request, service, NoParameters)

    async def handler(work: UnitOfWork, _: Caller, __: NoParameters) -> HandlerResult:
        outcome = await tokens_of_user(work, str(user_id))
        return outcome if isinstance(outcome, Refusal) else tokens_response(outcome)

    return await as_operator(context, received, Scope.MEMBERS, handler)


@post(
    "/users/{user_id:uuid}/tokens/revoke",
    status_code=200,
    operation_class=described("End a user's tokens", RevokeRequest, StatusResponse, bearer=True),
)
async def revoke(
    request: AnyRequest, service: InjectedDependencies, user_id: FromPath[UUID]
) -> Response[bytes]:
    """End one token of a user, or all of them."""
    context, received = await receive_json(request, service, RevokeRequest)

    async def handler(work: UnitOfWork, caller: Caller, body: RevokeRequest) -> HandlerResult:
        outcome = await end_tokens(work, str(user_id), body.jti, caller)
        if isinstance(outcome, Refusal):
            return outcome
        return StatusResponse(status=f"{outcome} revoked")

    return await as_operator(context, received, Scope.MEMBERS, handler)


def _account(outcome: AccountChanged | Refusal) -> AccountResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
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
        link_valid_until=iso_ms(row.invited_until) if row.invited_until else UNSET,
    )


handlers: Final[list[ControllerRouterHandler]] = [
    list_users,
    disable,
    enable,
    invite,
    move,
    list_tokens,
    revoke,
]
