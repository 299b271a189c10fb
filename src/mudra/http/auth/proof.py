"""The DPoP proof of a request, and under which addresses it may have been made (RFC 9449)."""

from typing import Final

from litestar.types import HTTPScope, Scope

from mudra.http.server.head import SENT_METHOD
from mudra.server_protocol.body_reader import Headers
from mudra.settings.settings import Settings
from mudra.shared.dpop_proof import PresentedProof
from mudra.shared.proof_url import urls_of

_HEADER: Final = b"dpop"


def has_proof(headers: Headers) -> bool:
    """Return whether a request holds a proof, or more than one."""
    for name, _ in headers:  # noqa: SIM110  # on the hot path: a generator costs twice as much
        if name == _HEADER:
            return True
    return False


def presented_proof(scope: Scope | HTTPScope, settings: Settings) -> PresentedProof:
    """Return the values of the header, and what their `htm` and `htu` must be."""
    values = tuple(value.decode("latin-1") for name, value in scope["headers"] if name == _HEADER)
    method = str(scope.get(SENT_METHOD) or scope.get("method", ""))
    urls = urls_of(settings.public_origins, scope["raw_path"].decode("latin-1"))
    return PresentedProof(values, method, urls)
