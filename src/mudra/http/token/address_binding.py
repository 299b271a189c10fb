"""The binding of an entity's credentials to its listed addresses: its admins, and operators."""

from typing import Annotated, Final, Literal

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Meta, Struct, field

from mudra.http.auth.gates import SIGNED_IN, OperatorCall, UserCall, operator
from mudra.http.endpoint import B
from mudra.http.request.fields import EntityId, NoParameters
from mudra.http.response import conflicts
from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.http.route import get, post
from mudra.http.token.requests import EntityQuery
from mudra.identity.memberships.admins import Requester, requested_by
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.address_binding import WATCHED_DAYS, AddressBinding
from mudra.tokens.secrets.binding_service import BindingService, BindingView

_MAX_ADDRESSES: Final = 100
Binding = Annotated[
    Literal["network", "watch", "enforce"],
    Meta(description="network, watch or enforce", examples=["enforce"]),
]
"""The values of `AddressBinding`: a test compares them."""


class SeenAddress(Struct, kw_only=True):
    """Tokens issued to one address."""

    address: str
    count: int
    last_used_at: DateTime = field(name="lastUsedAt")


class BindingResponse(ResponseBody, kw_only=True):
    """The binding of an entity, and which addresses used its credentials lately."""

    entity_id: Annotated[str, Meta(examples=["KAVERI-FIP"])] = field(name="entityId")
    binding: Binding
    exempt: Annotated[
        bool,
        Meta(
            description="whether an operator exempts it from the network's setting; that stays "
            "while the member binds itself"
        ),
    ]
    network_binding: Annotated[
        Literal["watch", "enforce"], Meta(description="the network's setting")
    ] = field(name="networkBinding")
    enforced: Annotated[
        bool, Meta(description="whether the two together refuse other addresses now")
    ]
    listed: Annotated[
        list[str], Meta(description="ips of the live registry entry", examples=[["203.0.113.7"]])
    ]
    days: Annotated[int, Meta(description="days that foreign and foreignCount are about")]
    foreign: Annotated[
        list[SeenAddress],
        Meta(description="addresses that got tokens and are not listed, the most recent first"),
    ]
    foreign_count: int = field(name="foreignCount")
    listed_count: int = field(name="listedCount")


def binding_response(found: BindingView) -> BindingResponse:
    """Return a binding as programs read it."""
    latest = sorted(found.foreign, key=lambda use: use.last_used_at, reverse=True)
    return BindingResponse(
        entity_id=found.entity_id,
        binding=found.own.value,
        exempt=found.chosen.exempt,
        network_binding="enforce" if found.network_enforces else "watch",
        enforced=found.enforced,
        listed=list(found.listed),
        days=WATCHED_DAYS,
        foreign=[
            SeenAddress(address=use.address, count=use.count, last_used_at=iso_ms(use.last_used_at))
            for use in latest[:_MAX_ADDRESSES]
        ],
        foreign_count=len(found.foreign),
        listed_count=found.report.listed,
    )


class BindingRequest(Struct, frozen=True):
    """JSON of POST /operator/v1/members/{entity_id}/address-binding."""

    binding: Binding
    even_so: Annotated[
        bool, Meta(description="true: switch although addresses that used it lately are refused")
    ] = field(name="evenSo", default=False)


class OwnBindingRequest(BindingRequest, frozen=True, kw_only=True):
    """JSON of POST /entity/address/binding."""

    entity_id: EntityId = field(name="entityId")


@get("/entity/address/binding", "Show the binding to listed addresses", gate=SIGNED_IN)
async def own_view(call: UserCall[EntityQuery]) -> BindingResponse | Refusal:
    """Show whether addresses that the entry does not list are refused, and which were seen."""
    return _response(await call.tx.service(BindingService).view(call.body.entity_id, _admin(call)))


@post(
    "/entity/address/binding",
    "Switch the binding to listed addresses",
    conflicts=conflicts.BINDING,
    gate=SIGNED_IN,
)
async def own_bind(call: UserCall[OwnBindingRequest]) -> BindingResponse | Refusal:
    """Refuse the entity's credentials from addresses that its entry does not list, or stop that.

    409 while the entry lists no address, and, without `evenSo`, while an address that is not
    listed got tokens in the last 30 days. 429 after 10 switches in 24 hours. `watch` is for
    operators: an entity that one of them exempted goes back to that by `network`.
    """
    body = call.body
    return _response(
        await call.tx.service(BindingService).bind(
            body.entity_id, AddressBinding(body.binding), _admin(call), even_so=body.even_so
        )
    )


@get(
    "/members/{entity_id:str}/address-binding",
    "Show a member's binding to listed addresses",
    gate=operator(Scope.MEMBERS),
)
async def view(
    call: OperatorCall[NoParameters], entity_id: FromPath[str]
) -> BindingResponse | Refusal:
    """Show the binding of any member, and which addresses were seen."""
    return _response(await call.tx.service(BindingService).view(entity_id, requested_by(call.by)))


@post(
    "/members/{entity_id:str}/address-binding",
    "Switch a member's binding to listed addresses",
    conflicts=conflicts.BINDING,
    gate=operator(Scope.MEMBERS),
)
async def bind(
    call: OperatorCall[BindingRequest], entity_id: FromPath[str]
) -> BindingResponse | Refusal:
    """Switch the binding of any member; `watch` exempts it from the network's setting.

    The exemption ends by `network`, or by `enforce` while the member has not bound itself.
    """
    return _response(
        await call.tx.service(BindingService).bind(
            entity_id,
            AddressBinding(call.body.binding),
            requested_by(call.by),
            even_so=call.body.even_so,
        )
    )


def _admin(call: UserCall[B]) -> Requester:
    return Requester(call.caller, call.user)


def _response(found: BindingView | Refusal) -> BindingResponse | Refusal:
    return found if isinstance(found, Refusal) else binding_response(found)


handlers: Final[list[ControllerRouterHandler]] = [own_view, own_bind]
operator_handlers: Final[list[ControllerRouterHandler]] = [view, bind]
