"""Read what `kc.sh export` writes of a realm: its clients' secrets and its public signing keys.

Lenient in what it does not need, exact in what it takes: a client or key that cannot be read costs
itself. Private keys are never read: the certificate next to each has the public half. What a realm
has and a move does not take over is said, client by client.
"""

import base64
import binascii
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, TypeVar

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct, field

from mudra.shared.byte_order_mark import NotUtf8, without_mark
from mudra.shared.secret_text import SecretText
from mudra.tokens.migration.foreign_claims import SERVICE_ACCOUNT

KEY_PROVIDER: Final = "org.keycloak.keys.KeyProvider"
MIN_BITS: Final = 2048
_RSA_PROVIDERS: Final = frozenset({"rsa-generated", "rsa", "java-keystore"})
_OWN_CLIENTS: Final = frozenset(
    {
        *("account", "account-console", "admin-cli", "broker", "realm-management"),
        *("security-admin-console", "master-realm"),
    }
)
_MASKED: Final = "**********"
MAX_SECRET: Final = 1024
EXPIRATION: Final = "client.secret.expiration.time"
ROTATED: Final = "client.secret.rotated"
ROTATED_EXPIRATION: Final = "client.secret.rotated.expiration.time"
"""Attributes of a client where Keycloak's feature client-secret-rotation is on."""
_TRUE: Final = frozenset({"true", True})


class ExportUnreadable(Exception):
    """The file is no export of a realm: the text says why, without anything of its content."""


class _Mapper(Struct):
    protocol_mapper: str | None = field(name="protocolMapper", default="")
    config: dict[str, object] | None = None


class _Client(Struct, rename="camel"):
    client_id: str
    name: str = ""
    enabled: bool = True
    public_client: bool = False
    service_accounts_enabled: bool = False
    client_authenticator_type: str = "client-secret"
    secret: str = ""
    not_before: int = 0
    attributes: dict[str, object] = field(default_factory=dict)
    protocol_mappers: list[_Mapper] = field(default_factory=list)


class _Component(Struct, rename="camel"):
    name: str = ""
    provider_id: str = ""
    config: dict[str, list[str]] = field(default_factory=dict)

    def first(self, name: str, default: str = "") -> str:
        """Return the one value of a setting."""
        return next(iter(self.config.get(name, ())), default)


class _Realm(Struct, rename="camel"):
    realm: str
    clients: list[msgspec.Raw] | None = None
    components: dict[str, list[msgspec.Raw] | None] | None = None
    not_before: int | None = None
    users: list[msgspec.Raw] | None = None
    groups: list[msgspec.Raw] | None = None
    identity_providers: list[msgspec.Raw] | None = None


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


class ExportedKey(Struct, frozen=True):
    """The public half of a key that signs, by the ID that Keycloak gives it."""

    kid: str
    public_jwk: dict[str, str]


class Export(Struct, frozen=True):
    """What a realm has for a member's programs; `skipped` says what else is in it, and why not."""

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
        whole = msgspec.json.decode(without_mark(data), type=list[_Realm] | _Realm, strict=False)
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


def _read(realm: _Realm) -> Export:
    clients: list[ExportedClient] = []
    keys: list[ExportedKey] = []
    skipped, unreadable = list[tuple[str, str]](), list[tuple[str, str]]()
    for number, raw in enumerate(realm.clients or ()):
        client = _one(raw, _Client)
        if isinstance(client, str):
            unreadable.append((_name_of(raw) or f"client {number + 1} of the export", client))
        elif why := _no_member(client):
            skipped.append((f"client {client.client_id[:64]}", why))
        else:
            clients.append(_client(client))
    for number, raw in enumerate((realm.components or {}).get(KEY_PROVIDER) or ()):
        component = _one(raw, _Component)
        key = component if isinstance(component, str) else _key(component)
        if isinstance(key, ExportedKey):
            keys.append(key)
        else:
            name = "" if isinstance(component, str) else component.name or component.provider_id
            skipped.append((f"key {name[:64] or number + 1}", key))
    return Export(realm.realm, clients, keys, [*skipped, *_of_realm(realm)], unreadable)


T = TypeVar("T")


def _one(raw: msgspec.Raw, kind: type[T]) -> T | str:
    """Return one element of a list, or why it cannot be read; null counts as missing."""
    try:
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
    people = [one for one in realm.users or () if _is_person(one)]
    if people:
        admins = "people get accounts by invitation: name them in the file of admins"
        yield f"users ({len(people)})", admins
    if realm.groups:
        yield f"groups ({len(realm.groups)})", "admins are named for each member"
    if realm.identity_providers:
        name = f"identity providers ({len(realm.identity_providers)})"
        yield name, "operators sign in by one provider: MUDRA_SSO_ISSUER"
    if realm.not_before:
        yield f"realm {realm.realm[:64]}", f"{_not_before(realm.not_before)}: of all its clients"


def _is_person(raw: msgspec.Raw) -> bool:
    """Return whether a user is no service account, which each client with one has."""
    user = _one(raw, _User)
    return isinstance(user, str) or not (
        user.service_account_client_id or user.username.startswith(SERVICE_ACCOUNT)
    )


class _User(Struct, rename="camel"):
    username: str = ""
    service_account_client_id: str = ""


def _not_before(seconds: int) -> str:
    refused = f"refuses tokens that were issued before {_day(instant(seconds))}"
    return f"{refused}, which are accepted here until the imported keys end"


def _day(at: datetime | str | None) -> str:
    return at.strftime("%Y-%m-%d") if isinstance(at, datetime) else "an unknown time"


def _no_member(client: _Client) -> str:
    if client.client_id in _OWN_CLIENTS or client.client_id.endswith("-realm"):
        return "Keycloak's own"
    if not client.enabled:
        return "disabled"
    if client.public_client or not client.service_accounts_enabled:
        return "has no service account"
    return ""


def _client(client: _Client) -> ExportedClient:
    secret = _secret(client)
    rotated, lost = _rotated(client)
    return ExportedClient(
        client_id=client.client_id,
        name=client.name or client.client_id,
        entity_type=_entity_type(client),
        secret=None if isinstance(secret, str) else secret,
        why=secret if isinstance(secret, str) else "",
        rotated=rotated,
        lost=(*lost, *_lost(client)),
    )


def _secret(client: _Client) -> ExportedSecret | str:
    if client.client_authenticator_type != "client-secret":
        return f"it authenticates by {client.client_authenticator_type[:40]}, not by a secret"
    if not client.secret:
        return "the export has no secret"
    return _text_of(client.secret, client.attributes.get(EXPIRATION), "the secret")


def _rotated(client: _Client) -> tuple[ExportedSecret | None, Sequence[str]]:
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
    if len(text) > MAX_SECRET:
        return f"{what} is longer than {MAX_SECRET} characters"
    ends_at = instant(ends)
    # It may have ended: a secret must not live again because its end is not understood.
    return (
        f"{what} has {ends_at}"
        if isinstance(ends_at, str)
        else ExportedSecret(SecretText(text), ends_at)
    )


def instant(value: object) -> datetime | str | None:
    """Return the time that Keycloak writes as seconds; None for none, a text if it is no time.

    `0` and an empty text are none.
    """
    try:
        seconds = float(value or 0) if isinstance(value, str | int | float | None) else math.nan
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    except (ValueError, OverflowError, OSError):
        return "an expiry that is no time in seconds"


def _lost(client: _Client) -> Iterator[str]:
    """Say what is required of a client there and not here."""
    if client.not_before:
        yield f"it {_not_before(client.not_before)}"
    if client.attributes.get("dpop.bound.access.tokens") in _TRUE:
        yield "its tokens need a key there (DPoP), here only those that it asks for with one"
    if client.attributes.get("tls.client.certificate.bound.access.tokens") in _TRUE:
        yield "its tokens are bound to its TLS certificate there, not here"


def _entity_type(client: _Client) -> str:
    """Return the type that a hardcoded claim `roles` gives, else that at the end of the ID."""
    for mapper in client.protocol_mappers:
        config = mapper.config or {}
        named = config.get("claim.name")
        if mapper.protocol_mapper == "oidc-hardcoded-claim-mapper" and named == "roles":
            return str(config.get("claim.value", "")).upper()[:8]
    ending = client.client_id.rpartition("-")[2].upper()
    return ending if ending in {"FIP", "FIU", "AA"} else ""


def _key(component: _Component) -> ExportedKey | str:
    if component.provider_id not in _RSA_PROVIDERS or component.first("keyUse", "SIG") not in {
        *("SIG", "sig")
    }:
        return "no RSA key that signs"
    if component.first("enabled", "true") != "true":
        return "disabled"
    if component.first("algorithm", "RS256") != "RS256":
        return "signs otherwise than RS256"
    try:
        der = base64.b64decode("".join(component.first("certificate").split()), validate=True)
        public = x509.load_der_x509_certificate(der).public_key()
    except (binascii.Error, ValueError):
        return "has no certificate that can be read"
    if not isinstance(public, RSAPublicKey) or public.key_size < MIN_BITS:
        return f"is no RSA key of {MIN_BITS} bits or more"
    return ExportedKey(key_id(public), _jwk(public))


def key_id(public: RSAPublicKey) -> str:
    """Return the `kid` that Keycloak gives: SHA-256 of the key's SubjectPublicKeyInfo."""
    return _base64url(
        sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    )


def _jwk(public: RSAPublicKey) -> dict[str, str]:
    numbers = public.public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": key_id(public),
        "n": _number(numbers.n),
        "e": _number(numbers.e),
    }


def _number(value: int) -> str:
    return _base64url(value.to_bytes((value.bit_length() + 7) // 8))


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


Admins = Mapping[str, "AdminOf"]


class AdminOf(Struct, frozen=True):
    """What an export lacks of a member; an empty type or name leaves that of the export."""

    email: str
    name: str = ""
    entity_type: str = ""
    member_name: str = ""
