"""/entity/admin and /entity/contact: an admin manages the admins of its own entity."""

from typing import Final

from litestar import Response, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.auth.as_user import as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.account_requests import (
    AdminRemovalRequest,
    AdminRequest,
    ContactRequest,
    EntityRequest,
    HandOverRequest,
    R,
)
from mudra.http.request.request_context import AnyRequest, receive_json
from mudra.http.response.account_responses import AdminsResponse, admins_response
from mudra.http.response.json_response import HandlerResult
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import Requester, admins_of
from mudra.unit_of_work import UnitOfWork


@post(
    "/entity/admin/list",
    status_code=200,
    operation_class=described(
        "List the entity's admins", EntityRequest, AdminsResponse, bearer=True
    ),
)
async def list_admins(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the admins and the backup contact of your own entity."""
    context, received = await receive_json(request, service, EntityRequest)

    async def handler(
        work: UnitOfWork, caller: Caller, user: User, received: EntityRequest
    ) -> HandlerResult:
        return admins_response(await admins_of(work, Requester(caller, user), received.entity_id))

    return await as_user(context, received, handler)


def _own_route(path: str, summary: str, request_type: type[R]) -> HTTPRouteHandler:
    """Return the route by which an admin makes a change to its own entity."""

    @post(
        path,
        status_code=200,
        operation_class=described(
            summary, request_type, AdminsResponse, bearer=True, conflict=True
        ),
    )
    async def change(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        context, received = await receive_json(request, service, request_type)

        async def handler(work: UnitOfWork, caller: Caller, user: User, body: R) -> HandlerResult:
            return admins_response(await body.run(work, Requester(caller, user)))

        return await as_user(context, received, handler)

    return change


handlers: Final[list[ControllerRouterHandler]] = [
    list_admins,
    _own_route("/entity/admin/add", "Add an admin to the entity", AdminRequest),
    _own_route("/entity/admin/remove", "Remove an admin of the entity", AdminRemovalRequest),
    _own_route("/entity/admin/handover", "Hand over your own admin role", HandOverRequest),
    _own_route("/entity/contact/set", "Set the entity's backup contact", ContactRequest),
]
