"""The authorities' certificates, loaded once for a process and not for each HTTP client: 25 ms."""

import functools
import os
import ssl

from httpx2._transports import default

_create = default.create_ssl_context


def install() -> None:
    """Let the clients of this process that ask for the same certificates share them."""
    default.create_ssl_context = _shared
    _shared()


def _shared(
    *,
    verify: ssl.SSLContext | str | bool = True,
    cert: str | tuple[str, ...] | None = None,
    trust_env: bool = True,
) -> ssl.SSLContext:
    if verify is not True or cert is not None:
        return _create(verify, cert, trust_env)  # type: ignore[arg-type]
    named = tuple(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return _usual(trust_env, named)


@functools.cache
def _usual(trust_env: bool, _named: tuple[str | None, ...]) -> ssl.SSLContext:
    return _create(trust_env=trust_env)
