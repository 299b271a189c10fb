"""A member under check: its Heartbeat, called with one token or another."""

from collections.abc import Sequence
from functools import cached_property
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.client.address import is_safe
from mudra.client.web.token_headers import header_value
from mudra.conformance.answer import Answer, Caller
from mudra.conformance.check import Need
from mudra.conformance.jwt_text import read_jwt
from mudra.conformance.redaction import Redaction
from mudra.shared.secret_text import SecretText


class MemberTarget(Struct, frozen=True, kw_only=True):
    """The input of a run: the member's address, a valid token of ours, and the network's keys."""

    base_url: str
    header: str
    token: SecretText
    keys: Sequence[dict[str, object]] = ()
    expired: SecretText | None = None
    other_audience: SecretText | None = None

    @property
    def given(self) -> frozenset[Need]:
        """The needs that this run can meet."""
        found = {
            Need.EXPIRED_TOKEN: self.expired,
            Need.OTHER_AUDIENCE: self.other_audience,
        }
        return frozenset(need for need, token in found.items() if token is not None)


class Peer:
    """Calls `GET {baseurl}/Heartbeat` of the member."""

    def __init__(self, target: MemberTarget, caller: Caller, redaction: Redaction) -> None:
        self.target = target
        self._caller = caller
        self.asked = ""
        """Method and address of the last request."""
        for token in (target.token, target.expired, target.other_audience):
            if token is not None:
                redaction.hide(token)

    @property
    def is_safe(self) -> bool:
        """Allows a token to be sent there: https, or this machine."""
        parts = urlsplit(self.target.base_url)
        return is_safe(parts.scheme, parts.hostname or "", allow_http=False)

    def heartbeat(self, token: SecretText | None) -> Answer:
        """Call with this token, or with none."""
        headers = {}
        if token is not None:
            headers[self.target.header] = header_value(self.target.header, token.reveal())
        answer = self._caller.ask("GET", f"{self.target.base_url}/Heartbeat", headers=headers)
        self.asked = answer.request
        return answer

    @cached_property
    def unauthenticated(self) -> Answer:
        """The answer to a call without any token."""
        return self.heartbeat(None)

    @cached_property
    def foreign_key(self) -> RSAKey:
        """A key that the network never published."""
        return RSAKey.generate_key(2048)

    def published_key(self) -> RSAKey | None:
        """Return the network's public key that signed our token."""
        kid = read_jwt(self.target.token).header.get("kid")
        for key in self.target.keys:
            if key.get("kid") == kid:
                try:
                    return RSAKey.import_key({name: str(key[name]) for name in ("kty", "n", "e")})
                except (JoseError, KeyError, ValueError):
                    return None
        return None
