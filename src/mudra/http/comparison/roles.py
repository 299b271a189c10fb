"""GET {prefix}/comparison for AAs and FIPs, /operator/v1/comparison/{role} for operators."""

from typing import Annotated, Final, TypeAlias

from litestar.params import PathParameter
from litestar.types import ControllerRouterHandler

from mudra.comparison.role_service import RoleService
from mudra.comparison.roles import KEYS
from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.comparison.role_responses import ComparisonResponse, comparison_response
from mudra.http.request.comparison_requests import ROLES, WeekParameters
from mudra.http.response.http_refusals import InvalidField
from mudra.http.route import get
from mudra.identity.operators.operator import Scope
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import PAGE_S

_Role: TypeAlias = Annotated[
    str, PathParameter(description="which members", schema_extra={"enum": list(ROLES)})
]


@get("/comparison", "Compare oneself with one's role", gate=entity(*KEYS), within_s=PAGE_S)
async def own_comparison(call: EntityCall[WeekParameters]) -> ComparisonResponse | Refusal:
    """Show the caller next to the quartiles of all AAs, or all FIPs, in one week that is settled.

    The quartiles are the same for all who ask. They are null where any member of the group would
    be compared with fewer than five others.
    """
    found = await call.tx.service(RoleService).of_week(
        call.entity.entity_type, call.body.week, call.dependencies.clock()
    )
    if isinstance(found, Refusal):
        return found
    return comparison_response(found, call.entity.entity_id)


@get(
    "/operator/v1/comparison/{role:str}",
    "Show the quartiles of a role",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
    reads=True,
)
async def comparison(
    call: OperatorCall[WeekParameters], role: _Role
) -> ComparisonResponse | Refusal:
    """Show what members of a role see of each other in one week: no member's own value."""
    if role not in ROLES:
        return InvalidField(f"the path must end in one of {', '.join(ROLES)}")
    found = await call.tx.service(RoleService).of_week(
        EntityType(role), call.body.week, call.dependencies.clock()
    )
    return found if isinstance(found, Refusal) else comparison_response(found)


operator_handlers: Final[list[ControllerRouterHandler]] = [comparison]
member_handlers: Final[list[ControllerRouterHandler]] = [own_comparison]
