"""The calls of token service, registry and metrics push of which the reference has samples."""

from typing import Final

from tools.pages.samples.call import Call

_ENTITY: Final = {"entityId": "$ENTITY_ID"}
_BOTH: Final = ("$ENTITY_ID", "$ENTITY_SECRET")
TOKEN_CALLS: Final = (
    Call(
        "user-token",
        "POST",
        "/iam/v1/user/token/generate",
        form={"username": "$ADMIN_EMAIL", "password": "$ADMIN_PASSWORD"},
    ),
    Call(
        "secret-read",
        "POST",
        "/iam/v1/entity/secret/read",
        bearer="USER_TOKEN",
        fields=_ENTITY,
    ),
    Call(
        "entity-token",
        "POST",
        "/iam/v1/entity/token/generate",
        form={"id": "$ENTITY_ID", "secret": "$ENTITY_SECRET"},
    ),
    Call(
        "oauth-token",
        "POST",
        "/iam/oauth2/token",
        basic=_BOTH,
        form={"grant_type": "client_credentials"},
    ),
    Call(
        "introspect",
        "POST",
        "/iam/oauth2/introspect",
        basic=_BOTH,
        form={"token": "$ENTITY_TOKEN"},
    ),
    Call(
        "secret-use",
        "GET",
        "/iam/v1/entity/secret/use?entityId=$ENTITY_ID",
        bearer="USER_TOKEN",
    ),
    Call(
        "binding",
        "GET",
        "/iam/v1/entity/address/binding?entityId=$ENTITY_ID",
        bearer="USER_TOKEN",
    ),
    Call(
        "binding-switch",
        "POST",
        "/iam/v1/entity/address/binding",
        bearer="USER_TOKEN",
        fields={**_ENTITY, "binding": "network"},
    ),
    Call("keys", "GET", "/iam/.well-known/jwks.json"),
    Call("revocations", "GET", "/iam/revocations"),
    Call(
        "secret-reset",
        "POST",
        "/iam/v1/entity/secret/reset",
        bearer="USER_TOKEN",
        fields={**_ENTITY, "secretExpiryDays": 90, "oldSecretValidity": 7},
    ),
    Call(
        "secret-retire",
        "POST",
        "/iam/v1/entity/secret/retire",
        bearer="USER_TOKEN",
        fields=_ENTITY,
    ),
    Call(
        "revoke",
        "POST",
        "/iam/oauth2/revoke",
        basic=_BOTH,
        form={"token": "$ENTITY_TOKEN"},
    ),
)
"""In an order in which they can be run one after the other."""

REGISTRY_CALLS: Final = (
    Call("lint", "POST", "/cr/v2/lint/$ENTITY_TYPE", bearer="USER_TOKEN", file="entry.json"),
    Call(
        "submit",
        "POST",
        "/cr/v2/entityInfo/$ENTITY_TYPE",
        bearer="USER_TOKEN",
        file="entry.json",
    ),
    Call("list", "GET", "/cr/v2/entityInfo/$PEER_TYPE", bearer="ENTITY_TOKEN"),
    Call("show", "GET", "/cr/v2/entityInfo/$PEER_TYPE/$PEER_ID", bearer="ENTITY_TOKEN"),
    Call("changes", "GET", "/cr/v2/changes?since=0", bearer="ENTITY_TOKEN"),
    Call(
        "update",
        "PUT",
        "/cr/v2/entityInfo/$ENTITY_TYPE/$ENTITY_ID",
        bearer="USER_TOKEN",
        file="update.json",
    ),
    Call(
        "retire",
        "DELETE",
        "/cr/v2/entityInfo/$ENTITY_TYPE/$ENTITY_ID?reason=closed",
        bearer="USER_TOKEN",
    ),
)
PUSH_CALLS: Final = (
    Call(
        "push",
        "POST",
        "/metrics/perf/v1/push",
        bearer="ENTITY_TOKEN",
        file="window.json",
    ),
    Call("receipts", "GET", "/metrics/perf/v1/receipts", bearer="ENTITY_TOKEN"),
)
