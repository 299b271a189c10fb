"""All checks of a member: its address, and which tokens it refuses."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from mudra.conformance.check import Basis, Check, Need, Skip, Steps, decided, specified
from mudra.conformance.expectation import that
from mudra.conformance.jwt_text import (
    by_foreign_key,
    by_public_key,
    read_jwt,
    to_base64,
    unsigned,
    with_claims,
    with_signature,
)
from mudra.conformance.member.peer import Peer
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretText

_REFUSED: Final = frozenset({400, 401, 403})
_USE: Final = (
    "The Entity Access Token is what a regulated entity uses to access and authenticate calls to "
    "any API in the AA ecosystem"
)
_ADDRESS: Final = (
    "baseurl | string, URL | yes | address hosting all standard-compliant API endpoints"
)
_OFFLINE: Final = "access token | JWT, RS256 … checking a token | offline: JWKS at {iss}"
_FAR: Final = 4_102_444_800
"""1 January 2100."""


@specified("B-2.7-1", "the entry has the address of an API", _ADDRESS)
def _address(peer: Peer) -> Steps:
    yield that(peer.target.base_url, "a URL in baseurl", "none")


@decided("B-D4-1", "the address is https, with a certificate that is valid",
         "URLs absolute https, no credentials, no fragment")  # fmt: skip
def _tls(peer: Peer) -> Steps:
    parts = urlsplit(peer.target.base_url)
    if parts.scheme == "http" and is_loopback(parts.hostname or ""):
        yield Skip("this machine's own address, without TLS")
        return
    yield that(parts.scheme == "https", "https", parts.scheme)
    yield that(peer.unauthenticated.status, "a valid TLS connection", peer.unauthenticated.problem)


@specified("B-2.7-2", "the address answers", _ADDRESS)
def _answers(peer: Peer) -> Steps:
    answer = peer.unauthenticated
    yield that(answer.status, "an answer", answer.described())
    yield that(answer.status < 500, "no 5xx", answer.described())  # noqa: PLR2004  # an HTTP status


@specified("B-1-1", "a valid token is accepted", _USE)
def _accepted(peer: Peer) -> Steps:
    if not peer.is_safe:
        yield _plain_http()
        return
    answer = peer.heartbeat(peer.target.token)
    yield that(answer.status == 200, "status 200", answer.described())  # noqa: PLR2004  # an HTTP status


@decided("B-D1-1", "the heartbeat answers with its status", "heartbeat answer | ver, timestamp, "
         "Status: UP | DOWN")  # fmt: skip
def _status(peer: Peer) -> Steps:
    if not peer.is_safe:
        yield _plain_http()
        return
    answer = peer.heartbeat(peer.target.token)
    yield that(answer.status == 200, "status 200", answer.described())  # noqa: PLR2004  # an HTTP status
    word = answer.text("Status")
    yield that(word in {"UP", "DOWN"}, "Status UP or DOWN", word or "no Status")


def _plain_http() -> Skip:
    return Skip("no token is sent over plain http to another machine")


_Forge = Callable[[Peer], SecretText | None]


def _must_refuse(
    check_id: str, title: str, line: str, forge: _Forge, *needs: Need, none: bool = False
) -> Check[Peer]:
    """Make a check that a token is refused with 400, 401 or 403."""

    def steps(peer: Peer) -> Steps:
        if not peer.is_safe:
            yield _plain_http()
            return
        token = forge(peer)
        if token is None and not none:
            yield Skip("the network's keys have none with the kid of our token")
            return
        answer = peer.unauthenticated if token is None else peer.heartbeat(token)
        yield that(answer.status in _REFUSED, "status 401 (or 400, 403)", answer.described())

    basis = Basis.NETWORK if check_id.startswith("B-D") else Basis.SPECIFICATION
    return Check(check_id, check_id.split("-")[1], title, line, basis, needs, steps)


def _by_public_key(peer: Peer) -> SecretText | None:
    key = peer.published_key()
    return None if key is None else by_public_key(peer.target.token, key)


def _another_entity(peer: Peer) -> SecretText:
    other = "another-entity"
    return with_claims(peer.target.token, azp=other, clientId=other, client_id=other, sub=other)


def _no_signature(peer: Peer) -> SecretText:
    size = len(read_jwt(peer.target.token).signature)
    return with_signature(peer.target.token, to_base64(bytes(size)))


MEMBER_CHECKS: Final[tuple[Check[Peer], ...]] = (
    _address,
    _tls,
    _answers,
    _accepted,
    _status,
    _must_refuse("B-1-2", "no token: refused", _USE, lambda _: None, none=True),
    _must_refuse("B-1-3", "a token that is none: refused", _USE, lambda _: SecretText("garbage")),
    _must_refuse("B-D3-1", "a foreign key under our kid: refused", _OFFLINE,
                 lambda peer: by_foreign_key(peer.target.token, peer.foreign_key)),
    _must_refuse("B-D3-2", "alg none: refused", _OFFLINE, lambda peer: unsigned(peer.target.token)),
    _must_refuse("B-D3-3", "HS256 with the public key: refused", _OFFLINE, _by_public_key),
    _must_refuse("B-D3-4", "altered claims under the same signature: refused", _OFFLINE,
                 _another_entity),
    _must_refuse("B-D3-5", "a later exp under the same signature: refused", _OFFLINE,
                 lambda peer: with_claims(peer.target.token, exp=_FAR)),
    _must_refuse("B-D3-6", "a signature of zeros: refused", _OFFLINE, _no_signature),
    _must_refuse("B-5-1", "an expired token: refused", "Entity Access Token … valid 24 hours",
                 lambda peer: peer.target.expired, Need.EXPIRED_TOKEN),
    _must_refuse("B-D3-7", "a token for another audience: refused", "aud",
                 lambda peer: peer.target.other_audience, Need.OTHER_AUDIENCE),
)  # fmt: skip
