"""The coding in which a client wants an answer: `Accept-Encoding` (RFC 9110 12.5.3)."""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from mudra.http.request.request_context import AnyRequest

Coding: TypeAlias = Literal["plain", "gzip", "only gzip"]

_ONE: Final = re.compile(
    r"\s*([!#-'*+.^_`|~0-9A-Za-z-]+)\s*(?:;\s*[qQ]\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?"
)
_IDENTITY: Final = "identity"
_ANY: Final = "*"


def coding_for(request: AnyRequest) -> Coding:
    """Return whether to pack an answer: not at all, where it saves something, or in any case.

    gzip where the client takes it at least as gladly as the plain form. A client that refuses
    both, or says nothing that can be read, gets the plain form: no client is helped by an error.
    """
    weights = _weights(",".join(request.headers.getall("accept-encoding", [])))
    others = weights.get(_ANY, 0.0)
    gzip = max(weights.get("gzip", -1.0), weights.get("x-gzip", -1.0))
    gzip = others if gzip < 0 else gzip
    # The plain form needs no mention: it is refused by `identity;q=0` or `*;q=0` alone.
    plain = weights.get(_IDENTITY, weights.get(_ANY))
    if gzip == 0:
        return "plain"
    if plain == 0:
        return "only gzip"
    named = weights.get(_IDENTITY, 0.0)
    return "gzip" if gzip >= named else "plain"


def _weights(sent: str) -> Mapping[str, float]:
    """Return the weight of each coding; an element that cannot be read says nothing."""
    found: dict[str, float] = {}
    for one in sent.split(","):
        if matched := _ONE.fullmatch(one):
            found[matched[1].lower()] = 1.0 if matched[2] is None else float(matched[2])
    return found
