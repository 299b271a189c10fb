"""Read what `kc.sh export` writes of a realm: its clients' secrets and its public signing keys.

Lenient in what it does not need, exact in what it takes: a client or key that cannot be read costs
itself. Private keys are never read: the certificate next to each has the public half. What a realm
has and a move does not take over is said, client by client.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar, get_origin

import msgspec
from msgspec import Struct, field

from mudra.shared.secret_text import SecretText
from mudra.shared.text.byte_order_mark import NotUtf8, without_mark
from mudra.shared.text.undecodable import REPLACEMENT, without_lone_surrogates
from mudra.tokens.migration.foreign_claims import SERVICE_ACCOUNT
from mudra.tokens.migration.keycloak_attributes import names_of, not_carried
from mudra.tokens.migration.keycloak_client import (
    OPENID,
    RealmClient,
    entity_type_of,
    instant,
    lost_of,
    not_before,
)
from mudra.tokens.migration.keycloak_keys import Component, ExportedKey, signing_key

KEY_PROVIDER: Final = "org.keycloak.keys.KeyProvider"
_OWN_CLIENTS: Final = frozenset(
    {
        *("account", "account-console", "admin-cli", "broker", "realm-management"),
        *("security-admin-console", "master-realm"),
    }
)

_NO_PLACE: Final = "they have no place here"
_MASKED: Final = "**********"
MAX_SECRET: Final = 1024
EXPIRATION: Final = "client.secret.expiration.time"
ROTATED: Final = "client.secret.rotated"
ROTATED_EXPIRATION: Final = "client.secret.rotated.expiration.time"
"""Attributes of a client where Keycloak's feature client-secret-rotation is on."""


_NOTHING: Final = msgspec.Raw(b"null")


class ExportUnreadable(Exception):
    """The file is no export of a realm: the text says why, without anything of its content."""


class _Realm(Struct, rename="camel"):
    realm: str
    clients: list[msgspec.Raw] | None = None
    components: msgspec.Raw = _NOTHING
    not_before: msgspec.Raw = _NOTHING
    users: msgspec.Raw = _NOTHING
    groups: msgspec.Raw = _NOTHING
    identity_providers: msgspec.Raw = _NOTHING
    roles: msgspec.Raw = _NOTHING
    attributes: msgspec.Raw = _NOTHING


_REALMS: "Final[msgspec.json.Decoder[list[_Realm] | _Realm]]" = msgspec.json.Decoder(
    list[_Realm] | _Realm, strict=False
)


class ExportedSecret(Struct, frozen=True):
    """A secret of the file and when it ends: None where it never does."""

    text: SecretText
    ends_at: datetime | None = None


class ExportedClient(Struct, frozen=True):
    """A client that gets tokens for itself; without a secret, `why` says what the file has.

    `rotated` is the secret before it, which may still be valid. `lost` says what else is known of
    the client there and has no place here.
    """

    client_id: str
    name: str
    entity_type: str
    secret: ExportedSecret | None
    why: str = ""
    rotated: ExportedSecret | None = None
    lost: Sequence[str] = ()


class Export(Struct, frozen=True):
    """A realm for a member's programs; `skipped` says what else is in it, and why not."""

    realm: str
    clients: Sequence[ExportedClient]
    keys: Sequence[ExportedKey]
    skipped: Sequence[tuple[str, str]]
    unreadable: Sequence[tuple[str, str]] = ()
    """Clients that are no clients of Keycloak, each with the reason."""


def read_export(data: bytes, realm: str = "") -> Export:
    """Read a file of one realm, or of several out of which `realm` names one.

    Raises ExportUnreadable.
    """
    try:
        whole = _whole(without_mark(data))
    except NotUtf8 as error:
        raise ExportUnreadable(str(error)) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        wrong = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ExportUnreadable(f"it is no export of a realm: {wrong}") from None
    realms = whole if isinstance(whole, list) else [whole]
    found = [one for one in realms if realm in {"", one.realm}]
    if len(found) != 1:
        names = ", ".join(one.realm[:64] for one in realms[:10])
        raise ExportUnreadable(f"it has the realms {names or '(none)'}: name one with --realm")
    return _read(found[0])


def _whole(data: bytes) -> list[_Realm] | _Realm:
    """Return the file; half of a character costs the text that has it alone."""
    try:
        return _REALMS.decode(data)
    except msgspec.DecodeError:
        return _REALMS.decode(without_lone_surrogates(data))


def _read(realm: _Realm) -> Export:
    clients: dict[str, ExportedClient] = {}
    keys: list[ExportedKey] = []
    skipped, unreadable = list[tuple[str, str]](), list[tuple[str, str]]()
    for place, raw in enumerate(realm.clients or ()):
        client = _one(raw, RealmClient)
        if isinstance(client, str):
            unreadable.append((_name_of(raw) or f"client {place + 1} of the export", client))
        elif why := _no_member(client):
            skipped.append((f"client {client.client_id[:64]}", why))
        elif client.client_id in clients:
            unreadable.append((client.client_id[:64], "the export has it twice: the first counts"))
        else:
            clients[client.client_id] = _client(client)
    providers = _key_providers(realm)
    if isinstance(providers, str):
        skipped.append(("keys", providers))
    for place, raw in enumerate(() if isinstance(providers, str) else providers):
        component = _one(raw, Component)
        key = component if isinstance(component, str) else signing_key(component)
        if isinstance(key, ExportedKey):
            keys.append(key)
        else:
            name = "" if isinstance(component, str) else component.name or component.provider_id
            skipped.append((f"key {name[:64] or place + 1}", key))
    skipped += _of_realm(realm)
    return Export(realm.realm, [*clients.values()], keys, skipped, unreadable)


def _key_providers(realm: _Realm) -> Sequence[msgspec.Raw] | str:
    """Return the providers of keys, or why they cannot be read."""
    if _is_null(realm.components):
        return ()
    components = _one(realm.components, dict[str, msgspec.Raw])
    if isinstance(components, str):
        return components
    found = components.get(KEY_PROVIDER, _NOTHING)
    return () if _is_null(found) else _one(found, list[msgspec.Raw])


def _is_null(raw: msgspec.Raw) -> bool:
    return bytes(raw).strip() == b"null"


def _elements(raw: msgspec.Raw) -> Sequence[msgspec.Raw]:
    """Return the elements of a list; none of what is no list."""
    found = _one(raw, list[msgspec.Raw])
    return found if isinstance(found, list) else ()


T = TypeVar("T")


def _one(raw: msgspec.Raw, kind: type[T]) -> T | str:
    """Return a value of this kind, or why it cannot be read; null counts as missing."""
    try:
        if get_origin(kind) is not None:  # of raw elements, each read by itself
            return msgspec.json.decode(raw, type=kind)
        value = msgspec.json.decode(raw)
        if isinstance(value, dict):
            value = {name: part for name, part in value.items() if part is not None}
        return msgspec.convert(value, kind, strict=False)
    except RecursionError:
        return "it cannot be read: it is nested too deeply"
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return f"it cannot be read: {error}"


def _name_of(raw: msgspec.Raw) -> str:
    """Return the ID of a client that cannot be read as a whole; empty where it has none."""
    named = _one(raw, _Named)
    return "" if isinstance(named, str) else named.client_id[:64]


class _Named(Struct, rename="camel"):
    client_id: str


def _of_realm(realm: _Realm) -> Iterator[tuple[str, str]]:
    """Say what else a realm holds that a move does not take over."""
    users = _elements(realm.users)
    people = [one for one in users if _is_person(one)]
    if people:
        admins = "people get accounts by invitation: name them in the file of admins"
        yield f"users ({len(people)})", admins
    if names := not_carried(name for one in users for name in _attributes_of_user(one)):
        yield "attributes of users", f"{_NO_PLACE}: {names}"
    if names := not_carried(names_of(_one(realm.attributes, object))):
        yield "attributes of the realm", f"{_NO_PLACE}: {names}"
    if groups := _elements(realm.groups):
        yield f"groups ({len(groups)})", "admins are named for each member"
    if providers := _elements(realm.identity_providers):
        name = f"identity providers ({len(providers)})"
        yield name, "operators sign in by one provider: MUDRA_SSO_ISSUER"
    roles = _one(realm.roles, _Roles)
    if isinstance(roles, _Roles) and (own := [one for one in roles.realm if _is_own(one)]):
        yield f"roles of the realm ({len(own)})", "a member's type is its only role"
    if since := not_before(_one(realm.not_before, object)):
        yield f"realm {realm.realm[:64]}", f"{since}: of all its clients"


class _WithAttributes(Struct):
    attributes: object = None


def _attributes_of_user(raw: msgspec.Raw) -> Iterator[str]:
    user = _one(raw, _WithAttributes)
    return names_of(None if isinstance(user, str) else user.attributes)


def _is_person(raw: msgspec.Raw) -> bool:
    """Return whether a user is no service account, which each client with one has."""
    user = _one(raw, _User)
    return isinstance(user, str) or not (
        user.service_account_client_id or user.username.startswith(SERVICE_ACCOUNT)
    )


class _Roles(Struct):
    realm: list[object] = field(default_factory=list)


def _is_own(role: object) -> bool:
    """Return whether a role is none of those that each realm of Keycloak has."""
    name = str(role.get("name", "")) if isinstance(role, dict) else ""
    return not (name in {"", "offline_access", "uma_authorization"} or name.startswith("default-"))


class _User(Struct, rename="camel"):
    username: str = ""
    service_account_client_id: str = ""


def _no_member(client: RealmClient) -> str:
    if client.client_id in _OWN_CLIENTS or client.client_id.endswith("-realm"):
        return "Keycloak's own"
    if client.protocol not in ("", OPENID):
        return "no client of OpenID Connect"
    if not client.enabled:
        return "disabled"
    if client.bearer_only:
        return "gets no tokens: bearer only"
    if client.public_client or not client.service_accounts_enabled:
        return "has no service account"
    return ""


def _client(client: RealmClient) -> ExportedClient:
    secret = _secret(client)
    rotated, lost = _rotated(client)
    return ExportedClient(
        client_id=client.client_id,
        name=client.name if client.name and isinstance(client.name, str) else client.client_id,
        entity_type=entity_type_of(client),
        secret=None if isinstance(secret, str) else secret,
        why=secret if isinstance(secret, str) else "",
        rotated=rotated,
        lost=(*lost, *lost_of(client)),
    )


def _secret(client: RealmClient) -> ExportedSecret | str:
    if client.client_authenticator_type != "client-secret":
        return f"it authenticates by {client.client_authenticator_type[:40]}, not by a secret"
    if not client.secret:
        return "the export has no secret"
    return _text_of(client.secret, client.attributes.get(EXPIRATION), "the secret")


def _rotated(client: RealmClient) -> tuple[ExportedSecret | None, Sequence[str]]:
    """Return the secret before the last rotation, or what is lost of it."""
    text = client.attributes.get(ROTATED)
    if text is None or text in ("", client.secret):
        return None, ()
    if not isinstance(text, str):
        return None, ("its rotated secret ends: it is no text",)
    found = _text_of(text, client.attributes.get(ROTATED_EXPIRATION), "its rotated secret")
    if isinstance(found, str):
        return None, (f"its rotated secret ends: {found}",)
    return found, ()


def _text_of(text: str, ends: object, what: str) -> ExportedSecret | str:
    if text == _MASKED:
        return f"{what} is masked: export with kc.sh export, not from the admin console"
    if text.startswith("${vault."):
        return f"{what} is in a vault"
    if REPLACEMENT in text:
        return f"{what} has half of a character"
    if len(text) > MAX_SECRET:
        return f"{what} is longer than {MAX_SECRET} characters"
    ends_at = instant(ends)
    # It may have ended: a secret must not live again because its end is not understood.
    return (
        f"{what} has {ends_at}"
        if isinstance(ends_at, str)
        else ExportedSecret(SecretText(text), ends_at)
    )


Admins = Mapping[str, "AdminOf"]


class AdminOf(Struct, frozen=True):
    """A member's facts that an export lacks; an empty type or name leaves that of the export."""

    email: str
    name: str = ""
    entity_type: str = ""
    member_name: str = ""
