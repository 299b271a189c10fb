"""A client that holds a key and proves it with each request (RFC 9449), by its own code."""

import base64
import hashlib
import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, RSAKey


def hash_of(token: str) -> str:
    """The `ath` of a token."""
    digest = hashlib.sha256(token.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True)
class KeyOfClient:
    """A key, and proofs by it."""

    key: ECKey | RSAKey = field(default_factory=lambda: ECKey.generate_key("P-256"))
    alg: str = "ES256"

    @property
    def thumbprint(self) -> str:
        return self.key.thumbprint()

    def proof(
        self,
        method: str,
        url: str,
        now: float,
        token: str | None = None,
        header: dict[str, Any] | None = None,
        **claims: object,
    ) -> str:
        """A proof; `header` and `claims` change what a right one has, None removes it."""
        jwk = self.key.as_dict(private=False)
        head = {"typ": "dpop+jwt", "alg": self.alg, "jwk": jwk} | (header or {})
        body = {"jti": str(uuid.uuid4()), "htm": method, "htu": url, "iat": int(now)}
        if token is not None:
            body["ath"] = hash_of(token)
        whole = {name: value for name, value in {**body, **claims}.items() if value is not None}

        return jws.serialize_compact(
            {name: value for name, value in head.items() if value is not None},
            json.dumps(whole).encode(),
            self.key,
            algorithms=[self.alg],
        )
