"""The registry's signature, for reports of service levels."""

from collections.abc import Mapping

from mudra.levels.report_store import Sign
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import Signer

_PUBLIC = ("kty", "n", "e", "alg", "use", "kid")


def signing(signer: Signer) -> Sign:
    """Returns what signs bytes with the key that signs answers of the directory now."""

    def sign(text: bytes) -> tuple[str, Mapping[str, str]]:
        kid = signer.signing_kid(TokenKind.ENTITY)
        found = signer.find_key(kid)
        assert found is not None, kid
        shown = {"alg": "RS256", "use": "sig", "kid": kid, **found[1].as_dict(private=False)}
        key = {name: str(shown[name]) for name in _PUBLIC}
        return signer.sign_detached(TokenKind.ENTITY, text), key

    return sign
