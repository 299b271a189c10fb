"""A realm of Keycloak: what `kc.sh export` writes of it, and the tokens that it signs."""

import base64
import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import jwt
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from mudra.tokens.migration.keycloak_keys import key_id


def client(client_id: str, **members: object) -> dict[str, object]:
    """A confidential client with a service account, as an export has it."""
    return {
        "id": str(uuid.uuid4()),
        "clientId": client_id,
        "name": f"Member {client_id}",
        "surrogateAuthRequired": False,
        "enabled": True,
        "clientAuthenticatorType": "client-secret",
        "secret": f"secret-of-{client_id}-0123456789abcdef",
        "redirectUris": ["/*"],
        "notBefore": 0,
        "bearerOnly": False,
        "standardFlowEnabled": False,
        "directAccessGrantsEnabled": False,
        "serviceAccountsEnabled": True,
        "publicClient": False,
        "protocol": "openid-connect",
        "attributes": {"client.secret.creation.time": "1700000000"},
        "protocolMappers": [
            {
                "name": "Client ID",
                "protocol": "openid-connect",
                "protocolMapper": "oidc-usersessionmodel-note-mapper",
                "consentRequired": False,
                "config": {"user.session.note": "client_id", "claim.name": "client_id"},
            }
        ],
    } | members


@dataclass
class Realm:
    """A realm with one signing key."""

    issuer: str = field(default_factory=lambda: f"https://{uuid.uuid4().hex[:8]}.example/realms/aa")
    clients: list[dict[str, object]] = field(default_factory=list)

    @cached_property
    def key(self) -> RSAPrivateKey:
        """The key that signs."""
        return generate_private_key(65537, 2048)

    @property
    def kid(self) -> str:
        """The ID of that key."""
        return key_id(self.key.public_key())

    def certificate(self) -> str:
        """The certificate next to the key, as base64 of its DER."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "aa")])
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now)
            .not_valid_after(now + timedelta(days=3650))
            .sign(self.key, SHA256())
        )
        return base64.b64encode(made.public_bytes(Encoding.DER)).decode()

    def components(self) -> list[dict[str, object]]:
        """The key providers of a new realm."""
        private = self.key.private_bytes(
            Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption()
        )

        def provider(name: str, **config: str) -> dict[str, object]:
            return {
                "id": str(uuid.uuid4()),
                "name": name,
                "providerId": name,
                "subComponents": {},
                "config": {key: [value] for key, value in config.items()},
            }

        return [
            provider(
                "rsa-generated",
                privateKey=base64.b64encode(private).decode(),
                certificate=self.certificate(),
                priority="100",
            ),
            provider("rsa-enc-generated", priority="100", algorithm="RSA-OAEP"),
            provider("hmac-generated-hs512", priority="100", algorithm="HS512"),
            provider("aes-generated", priority="100", secret="bm90IG91cnM"),
        ]

    def export(self) -> dict[str, object]:
        """The realm as `kc.sh export --realm aa --users realm_file` writes it."""
        own = [
            client("account", publicClient=True, serviceAccountsEnabled=False, secret=""),
            client("admin-cli", publicClient=True, serviceAccountsEnabled=False, secret=""),
            client("realm-management", bearerOnly=True, serviceAccountsEnabled=False),
        ]
        return {
            "id": str(uuid.uuid4()),
            "realm": "aa",
            "accessTokenLifespan": 86400,
            "sslRequired": "external",
            "clients": [*own, *self.clients],
            "users": [{"username": "service-account-x", "realmRoles": ["default-roles-aa"]}],
            "components": {
                "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy": [
                    {"name": "Max Clients Limit", "providerId": "max-clients", "config": {}}
                ],
                "org.keycloak.keys.KeyProvider": self.components(),
            },
            "keycloakVersion": "26.0.7",
        }

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the export and the file of admins; both are given."""
        file, people = folder / "realm-export.json", folder / "admins.csv"
        file.write_text(json.dumps(self.export()))
        ids = dict.fromkeys(one["clientId"] for one in self.clients)
        rows = [f"{one},{uuid.uuid4().hex[:8]}@member.example" for one in ids]
        people.write_text("\n".join(["entityId,adminEmail", *rows]))
        return file, people

    def token(self, entity_id: str, now: float, **claims: object) -> str:
        """A token of a client's service account, as Keycloak writes it."""
        at = int(now)
        body: dict[str, object] = {
            "exp": at + 86400,
            "iat": at,
            "jti": f"trrtcc:{uuid.uuid4()}",
            "iss": self.issuer,
            "aud": "account",
            "sub": str(uuid.uuid4()),
            "typ": "Bearer",
            "azp": entity_id,
            "acr": "1",
            "scope": "email profile",
            "clientHost": "10.0.0.1",
            "preferred_username": f"service-account-{entity_id.lower()}",
            "client_id": entity_id,
        }
        body |= claims
        return jwt.encode(
            {name: value for name, value in body.items() if value is not None},
            self.key,
            algorithm="RS256",
            headers={"kid": self.kid},
        )
