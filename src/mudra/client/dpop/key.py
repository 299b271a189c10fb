"""The key to which our tokens are bound, and a proof of it for each request (RFC 9449 4)."""

import base64
import hashlib
import json
import uuid
from typing import Final

import httpx2
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from mudra.client import clock

PROOF_HEADER: Final = "DPoP"
_ALGORITHM: Final = "ES256"
_CURVE: Final = "P-256"


class DpopKey:
    """Makes proofs. Give the same one to the token source; tokens are of no use without it.

    `private_key` is a P-256 key in PEM. Without it a new one is made, which ends with the program:
    the token source gets a new token at the next start anyhow. Raises ValueError for another key.
    """

    def __init__(
        self, private_key: str | bytes | None = None, wall: clock.Seconds = clock.wall
    ) -> None:
        try:
            key = ECKey.import_key(private_key) if private_key else ECKey.generate_key(_CURVE)
        except (JoseError, ValueError, TypeError):
            # Without its cause, whose text may hold a part of the key.
            raise ValueError("the private key must be a P-256 key in PEM") from None
        if key.private_key is None or key.curve_name != _CURVE:
            raise ValueError("the private key must be a P-256 key in PEM")
        self._key = key
        self._wall = wall
        public = {name: key.as_dict(private=False)[name] for name in ("kty", "crv", "x", "y")}
        self._header = {"typ": "dpop+jwt", "alg": _ALGORITHM, "jwk": public}

    @property
    def thumbprint(self) -> str:
        """The `cnf.jkt` of the tokens (RFC 7638)."""
        return self._key.thumbprint()

    def proof(self, method: str, url: str, token: str = "") -> str:
        """Return the value of the header `DPoP` for one request; with the token that it carries."""
        claims = {
            "jti": str(uuid.uuid4()),
            "htm": method,
            "htu": str(httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None)),
            "iat": int(self._wall()),
        }
        if token:
            digest = hashlib.sha256(token.encode()).digest()
            claims["ath"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        body = json.dumps(claims).encode()
        return jws.serialize_compact(self._header, body, self._key, algorithms=[_ALGORITHM])
