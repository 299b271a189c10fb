"""The parameters of the classes that have many, for the page of the client library."""

from typing import Final

_ALLOW_HTTP: Final = "sends tokens over plain http to another machine too, in a network you trust"
_HTTP: Final = "your own client of httpx2, for a proxy, certificates or timeouts"
_AUTH: Final = {
    "source": "gives the token",
    "header": "the header that the peer reads",
    "signer": "signs each body in `x-jws-signature`",
    "allow_http": _ALLOW_HTTP,
}
PARAMETERS: Final[dict[str, dict[str, str]]] = {
    "EntityTokenSource": {
        "base_url": "base address of the token service",
        "entity_id": "our entity ID",
        "secret_provider": "a function that returns our secret, from where the program keeps it",
        "on_warning": "is called once when the secret in use will end",
        "allow_http": _ALLOW_HTTP,
        "dpop": "binds the tokens to this key",
        "http": _HTTP,
    },
    "EntityTokenAuth": _AUTH,
    "RequestsTokenAuth": _AUTH,
    "BodySigner": {
        "private_key": "an RSA key of 2048 bits or more, in PEM",
        "kid": "that of the entry's `certificate`",
        "algorithm": "`alg` of the entry's `certificate`",
    },
    "TokenVerifier": {
        "issuer": "the base address of the token service, exactly as in `iss`",
        "audience": "`account-aggregator-network`, or what the operator set; empty: not checked",
        "keys_url": "where the keys are; empty: `{issuer}/protocol/openid-connect/certs`",
        "ask_metadata": "takes the address of the keys from the issuer's metadata",
        "allow_http": "asks the issuer over plain http elsewhere too, in a network you trust",
        "remember": "how many results are kept, so that a token seen again costs no RSA",
        "revocations": "whether the list of revoked tokens is followed",
        "max_revocation_age": "seconds after which a list is too old to accept any token by it",
        "use_proof": "a function that keeps used proofs where all processes see them",
        "http": _HTTP,
    },
    "Directory": {
        "registry": "address of the registry, with `/cr/v2`",
        "tokens": "our token source",
        "verifier": "checks that the registry signed each answer",
        "file": "keeps the copy on disk too, for a start while the registry is down",
        "refresh_seconds": "a lookup refreshes a copy that is older",
        "allow_http": _ALLOW_HTTP,
        "http": _HTTP,
    },
}
"""What each parameter means, by class."""


def parameter_table(name: str, defaults: dict[str, str]) -> list[str]:
    """Returns the lines of a table; none for a class whose signature says enough.

    Raises KeyError for a parameter without a meaning.
    """
    meanings = PARAMETERS.get(name)
    if meanings is None:
        return []
    rows = [f"| `{one}` | {default} | {meanings[one]} |" for one, default in defaults.items()]
    return ["| parameter | default | meaning |", "|---|---|---|", *rows, ""]
