"""The member that another issuer's token belongs to. Pure: RFC 8725, every claim checked."""

from collections.abc import Mapping
from typing import Final

SERVICE_ACCOUNT: Final = "service-account-"
MAX_ENTITY_ID: Final = 64


def imported_entity(claims: Mapping[str, object], issuer: str) -> str:
    """Return the entity to which an earlier issuer gave a token; empty for any other token.

    Keycloak signs tokens of people and of programs with one key. A program's own token names
    its client in `azp`, and again as the client of the session or in its service account's name:
    a token that a person got through the client of a member is not the member's.
    """
    client = claims.get("azp")
    if (
        claims.get("iss") != issuer
        or claims.get("typ") != "Bearer"
        or not isinstance(client, str)
        or not 1 <= len(client) <= MAX_ENTITY_ID
    ):
        return ""
    named = claims.get("preferred_username")
    if named is not None:
        return client if named == SERVICE_ACCOUNT + client.lower() else ""
    return client if client in (claims.get("client_id"), claims.get("clientId")) else ""
