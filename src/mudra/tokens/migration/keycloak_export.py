"""Read what `kc.sh export` writes of a realm: its clients' secrets and its public signing keys.

Lenient in what it does not need, exact in what it takes. Private keys are never read: the
certificate next to each has the public half.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct, field

from mudra.shared.secret_text import SecretText

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


class ExportUnreadable(Exception):
    """The file is no export of a realm: the text says why, without anything of its content."""


class _Mapper(Struct):
    protocol_mapper: str = field(name="protocolMapper", default="")
    config: dict[str, object] = field(default_factory=dict)


class _Client(Struct, rename="camel"):
    client_id: str
    name: str = ""
    enabled: bool = True
    public_client: bool = False
    service_accounts_enabled: bool = False
    client_authenticator_type: str = "client-secret"
    secret: str = ""
    protocol_mappers: list[_Mapper] = field(default_factory=list)


class _Component(Struct, rename="camel"):
    name: str = ""
    provider_id: str = ""
    config: dict[str, list[str]] = field(default_factory=dict)

    def first(self, name: str, default: str = "") -> str:
        """Return the one value of a setting."""
        return next(iter(self.config.get(name, ())), default)


class _Realm(Struct):
    realm: str
    clients: list[_Client] = field(default_factory=list)
    components: dict[str, list[_Component]] = field(default_factory=dict)


class ExportedClient(Struct, frozen=True):
    """A client that gets tokens for itself; without a secret, `why` says what the file has."""

    client_id: str
    name: str
    entity_type: str
    secret: SecretText | None
    why: str = ""


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


def read_export(data: bytes, realm: str = "") -> Export:
    """Read a file of one realm, or of several out of which `realm` names one.

    Raises ExportUnreadable.
    """
    try:
        whole = msgspec.json.decode(data, type=list[_Realm] | _Realm, strict=False)
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
    skipped: list[tuple[str, str]] = []
    for client in realm.clients:
        why = _no_member(client)
        if why:
            skipped.append((f"client {client.client_id[:64]}", why))
        else:
            clients.append(_client(client))
    for component in realm.components.get(KEY_PROVIDER, ()):
        key = _key(component)
        if isinstance(key, ExportedKey):
            keys.append(key)
        else:
            skipped.append((f"key {component.name[:64] or component.provider_id[:64]}", key))
    return Export(realm.realm, clients, keys, skipped)


def _no_member(client: _Client) -> str:
    if client.client_id in _OWN_CLIENTS or client.client_id.endswith("-realm"):
        return "Keycloak's own"
    if not client.enabled:
        return "disabled"
    if client.public_client or not client.service_accounts_enabled:
        return "has no service account"
    return ""


def _client(client: _Client) -> ExportedClient:
    secret, why = _secret(client)
    return ExportedClient(
        client.client_id, client.name or client.client_id, _entity_type(client), secret, why
    )


def _secret(client: _Client) -> tuple[SecretText | None, str]:
    if client.client_authenticator_type != "client-secret":
        return None, f"it authenticates by {client.client_authenticator_type[:40]}, not by a secret"
    if not client.secret:
        return None, "the export has no secret"
    if client.secret == _MASKED:
        return None, "the secret is masked: export with kc.sh export, not from the admin console"
    if client.secret.startswith("${vault."):
        return None, "the secret is in a vault"
    return SecretText(client.secret), ""


def _entity_type(client: _Client) -> str:
    """Return the type that a hardcoded claim `roles` gives, else that at the end of the ID."""
    for mapper in client.protocol_mappers:
        named = mapper.config.get("claim.name")
        if mapper.protocol_mapper == "oidc-hardcoded-claim-mapper" and named == "roles":
            return str(mapper.config.get("claim.value", "")).upper()[:8]
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
