"""Responses about the binding of credentials to listed addresses."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.address_binding import WATCHED_DAYS
from mudra.tokens.secrets.binding_service import BindingView

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

    entity_id: Annotated[str, Meta(examples=["FINSIGHT-FIU"])] = field(name="entityId")
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
    days: Annotated[int, Meta(description="days that foreign and listedCount are about")]
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
