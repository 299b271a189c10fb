"""A client in an export of Keycloak, and what it has there that a move does not carry."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Struct, field

from mudra.shared.text.whole_number import number
from mudra.tokens.migration.keycloak_attributes import names_of, not_carried

OPENID: Final = "openid-connect"
_NO_TIME: Final = "an expiry that is no time in seconds"
_TRUE: Final = frozenset({"true", True})
_CLAIMS_HERE: Final = frozenset(
    {"", "roles", "clientId", "client_id", "azp", "scope", "clientHost", "clientAddress"}
)
"""Claims of Mudra's tokens, and what Keycloak adds for each service account."""


class _Mapper(Struct):
    name: str | None = ""
    protocol_mapper: str | None = field(name="protocolMapper", default="")
    config: dict[str, object] | None = None


class RealmClient(Struct, rename="camel"):
    """A client as it is exported; what is read leniently has the type `object`."""

    client_id: str
    name: object = ""
    enabled: bool = True
    public_client: bool = False
    bearer_only: bool = False
    protocol: object = OPENID
    service_accounts_enabled: bool = False
    client_authenticator_type: str = "client-secret"
    secret: str = ""
    not_before: object = 0
    attributes: dict[str, object] = field(default_factory=dict)
    protocol_mappers: object = ()
    redirect_uris: object = ()


def not_before(seconds: object) -> str:
    """Say that tokens of before this time are refused there; empty where there is none."""
    at = instant(seconds)
    if at is None:
        return ""
    day = at.strftime("%Y-%m-%d") if isinstance(at, datetime) else "an unknown time"
    refused = f"refuses tokens that were issued before {day}"
    return f"{refused}, which are accepted here until the imported keys end"


def instant(value: object) -> datetime | str | None:
    """Return the time that Keycloak writes as seconds; None for none, a text if it is no time.

    `0` and an empty text are none.
    """
    try:
        seconds = number(0 if value is None or value == "" else value)
        if seconds is None:
            return _NO_TIME
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    except (ValueError, OverflowError, OSError):
        return _NO_TIME


def lost_of(client: RealmClient) -> Iterator[str]:
    """Say what a client has there and not here."""
    if since := not_before(client.not_before):
        yield f"it {since}"
    if client.attributes.get("dpop.bound.access.tokens") in _TRUE:
        yield "its tokens need a key there (DPoP), here only those that it asks for with one"
    if client.attributes.get("tls.client.certificate.bound.access.tokens") in _TRUE:
        yield "its tokens are bound to its TLS certificate there, not here"
    if lifespan := client.attributes.get("access.token.lifespan"):
        yield f"its tokens live {str(lifespan)[:20]} seconds there, 24 hours here"
    if _addresses(client.redirect_uris):
        yield "addresses of its sign-in pages are not carried"
    if names := [name for name in map(_claim, _mappers(client)) if name]:
        yield f"mappers of its tokens are not carried: {', '.join(names[:5])} ({len(names)})"
    if unknown := not_carried(names_of(client.attributes)):
        yield f"attributes of it are not carried: {unknown}"


def _addresses(uris: object) -> bool:
    """Return whether any is another than those that Keycloak gives each new client."""
    return isinstance(uris, list) and any(uri not in ("", "*", "/*") for uri in uris)


def _mappers(client: RealmClient) -> Iterator[_Mapper]:
    mappers = client.protocol_mappers
    for one in mappers if isinstance(mappers, list) else ():
        try:
            yield msgspec.convert(one, _Mapper)
        except msgspec.ValidationError:
            continue  # it says nothing


def _claim(mapper: _Mapper) -> str:
    """Return what a mapper puts into tokens that Mudra does not; empty for what Mudra has too."""
    named = str((mapper.config or {}).get("claim.name", "") or mapper.name or "")
    return "" if named in _CLAIMS_HERE else named[:40]


def entity_type_of(client: RealmClient) -> str:
    """Return the type that a hardcoded claim `roles` gives, else that at the end of the ID."""
    for mapper in _mappers(client):
        config = mapper.config or {}
        named = config.get("claim.name")
        if mapper.protocol_mapper == "oidc-hardcoded-claim-mapper" and named == "roles":
            return str(config.get("claim.value", "")).upper()[:8]
    ending = client.client_id.rpartition("-")[2].upper()
    return ending if ending in {"FIP", "FIU", "AA"} else ""
