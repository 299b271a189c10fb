"""Requests of the token service as the wire carries them (spec 2.3, 4).

`description` is what an error sentence says is allowed.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

from mudra.http.request.fields import EntityId
from mudra.shared.secret_text import SecretText
from mudra.tokens.secrets.secret import MAX_EXPIRY_DAYS, ExpiryDays, GraceDays


class EntityTokenRequest(Struct, frozen=True):
    """Form of POST /entity/token/generate (spec 4.4)."""

    id: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=64,
            description="an entity ID, 1 to 64 characters",
            examples=["KAVERI-FIP"],
        ),
    ]
    secret: Annotated[
        SecretText,
        Meta(
            description="the entity's secret, 1 to 1024 characters",
            examples=["kT2nH9bQ0sXvL4mR7wYcE1pA6dJ8uG3fZ5iO-hNqKlM"],
        ),
    ]


class EntitySecretReadRequest(Struct, frozen=True):
    """JSON of POST /entity/secret/read (spec 2.3)."""

    entity_id: EntityId = field(name="entityId")


class EntitySecretResetRequest(Struct, frozen=True):
    """JSON of POST /entity/secret/reset (spec 2.3)."""

    entity_id: EntityId = field(name="entityId")
    secret_expiry_days: ExpiryDays = field(name="secretExpiryDays", default=MAX_EXPIRY_DAYS)
    old_secret_validity: GraceDays = field(name="oldSecretValidity", default=0)


class EntityQuery(Struct, frozen=True):
    """Query of GET /entity/secret/use."""

    entity_id: EntityId = field(name="entityId")
