"""The binding of an entity's credentials to its listed addresses: its admins, and operators."""

from typing import Annotated, Final, Literal

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.as_operator import OperatorCall, as_operator
from mudra.http.auth.as_user import UserCall, as_user
from mudra.http.endpoint import B
from mudra.http.request.fields import EntityId, NoParameters
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import get, post
from mudra.http.token.requests import EntityQuery
from mudra.http.token.responses import AddressUseResponse
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.address_binding import WATCHED_DAYS, AddressBinding
from mudra.tokens.secrets.binding_service import BindingActor, BindingView

_MAX_ADDRESSES: Final = 100
Binding = Annotated[
    Literal["network", "watch", "enforce"],
    Meta(description="network, watch or enforce", examples=["enforce"]),
]
"""The values of `AddressBinding`: a test compares them."""


class BindingRequest(Struct, frozen=True):
    """JSON of POST /operator/v1/members/{entity_id}/address-binding."""

    binding: Binding
    even_so: Annotated[
        bool, Meta(description="true: switch although addresses that used it lately are refused")
    ] = field(name="evenSo", default=False)


class OwnBindingRequest(BindingRequest, frozen=True, kw_only=True):
    """JSON of POST /entity/address/binding."""

    entity_id: EntityId = field(name="entityId")


class BindingResponse(ResponseBody, kw_only=True):
    """The binding of an entity, and which addresses used its credentials lately."""

    entity_id: Annotated[str, Meta(examples=["FINSIGHT-FIU"])] = field(name="entityId")
    binding: Binding
    network_binding: Annotated[
        Literal["watch", "enforce"], Meta(description="the network's setting")
    ] = field(name="networkBinding")
    enforced: Annotated[
        bool, Meta(description="whether the two together refuse other addresses now")
    ]
    listed: Annotated[
        list[str], Meta(description="ips of the live registry entry", examples=[["203.0.113.7"]])
    ]
    days: Annotated[int, Meta(description="days that foreign and listedCount are about")]
    foreign: Annotated[
        list[AddressUseResponse],
        Meta(description="addresses that got tokens and are not listed, the most recent first"),
    ]
    foreign_count: int = field(name="foreignCount")
    listed_count: int = field(name="listedCount")


@get("/entity/address/binding", "Show the binding to listed addresses")
@as_user()
async def own_view(call: UserCall[EntityQuery]) -> BindingResponse | Refusal:
    """Show whether addresses that the entry does not list are refused, and which were seen."""
    return _response(await call.work.address_bindings.view(call.body.entity_id, _admin(call)))


@post("/entity/address/binding", "Switch the binding to listed addresses", conflict=True)
@as_user()
async def own_bind(call: UserCall[OwnBindingRequest]) -> BindingResponse | Refusal:
    """Refuse the entity's credentials from addresses that its entry does not list, or stop that.

    409 while the entry lists no address, and, without `evenSo`, while an address that is not
    listed got tokens in the last 30 days. `watch` is for operators.
    """
    body = call.body
    return _response(
        await call.work.address_bindings.bind(
            body.entity_id, AddressBinding(body.binding), _admin(call), even_so=body.even_so
        )
    )


@get("/members/{entity_id:str}/address-binding", "Show a member's binding to listed addresses")
@as_operator(Scope.MEMBERS)
async def view(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> BindingResponse | Refusal:
    """Show the same of any member."""
    return _response(await call.work.address_bindings.view(entity_id, _operator(call)))


@post(
    "/members/{entity_id:str}/address-binding",
    "Switch a member's binding to listed addresses",
    conflict=True,
)
@as_operator(Scope.MEMBERS)
async def bind(
    call: OperatorCall[BindingRequest], entity_id: FromPath[str]
) -> BindingResponse | Refusal:
    """Switch the binding of any member; `watch` exempts it from the network's setting."""
    return _response(
        await call.work.address_bindings.bind(
            entity_id,
            AddressBinding(call.body.binding),
            _operator(call),
            even_so=call.body.even_so,
        )
    )


def _admin(call: UserCall[B]) -> BindingActor:
    return BindingActor(call.caller, call.user.email, call.user.administers)


def _operator(call: OperatorCall[B]) -> BindingActor:
    return BindingActor(call.caller, "the operator", (), is_operator=True)


def _response(found: BindingView | Refusal) -> BindingResponse | Refusal:
    if isinstance(found, Refusal):
        return found
    latest = sorted(found.foreign, key=lambda use: use.last_used_at, reverse=True)
    return BindingResponse(
        entity_id=found.entity_id,
        binding=found.own.value,
        network_binding="enforce" if found.network_enforces else "watch",
        enforced=found.enforced,
        listed=list(found.listed),
        days=WATCHED_DAYS,
        foreign=[
            AddressUseResponse(
                address=use.address, count=use.count, last_used_at=iso_ms(use.last_used_at)
            )
            for use in latest[:_MAX_ADDRESSES]
        ],
        foreign_count=len(found.foreign),
        listed_count=found.report.listed,
    )


handlers: Final[list[ControllerRouterHandler]] = [own_view, own_bind]
operator_handlers: Final[list[ControllerRouterHandler]] = [view, bind]
