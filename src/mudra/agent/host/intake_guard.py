"""The rule who may ask and send: no web page by way of somebody's browser; events need the token.

A page can ask an address of its reader's machine, and read the answers once its own name leads
there. It cannot leave out `Origin` of a POST, cannot choose `Host`, and can send neither JSON nor
`Authorization` without asking first, which is never granted.
"""

import hmac
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec

from mudra.server_protocol.body_reader import Headers

JSON: Final = "application/json"
_LOCAL: Final = "localhost"
_BEARER: Final = "bearer "


class Forbidden(msgspec.Struct, frozen=True):
    """The reason for which a request is not read: status, `errorCode` and text of the response."""

    status: int
    code: str
    message: str


class IntakeGuard(msgspec.Struct, frozen=True):
    """The rules of one agent: the names under which it is called, and its token if it has one."""

    hosts: tuple[str, ...] = ()
    token: bytes = b""

    def __repr__(self) -> str:
        """Without the token."""
        return f"IntakeGuard(hosts={self.hosts!r})"

    def refusal_of(self, sent: Headers, *, needs_token: bool) -> Forbidden | None:
        """Return why a request is refused by its headers; None when it is not.

        An address of numbers cannot be another's name, so it needs no entry in `hosts`. Without
        a `Host` it is HTTP/1.0 (RFC 9112 3.2), as checks of proxies ask, and no browser.
        """
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent}
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            return Forbidden(403, "Forbidden", "the agent answers no web pages")
        if "host" in headers and not self._is_ours(headers["host"]):
            return Forbidden(
                421, "MisdirectedRequest", "this agent has no such name: add it to http.hosts"
            )
        given = headers.get("authorization", "")
        is_bearer = given[: len(_BEARER)].lower() == _BEARER
        given_token = given[len(_BEARER) :].strip() if is_bearer else ""
        if needs_token and self.token and not hmac.compare_digest(given_token.encode(), self.token):
            return Forbidden(401, "Unauthorized", "send the token of http.token as a bearer token")
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name == _LOCAL or name in self.hosts:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True
