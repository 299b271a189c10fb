"""A proxy on the way leads the library elsewhere: no redirect is followed, whatever it names."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.support.issuer import Issuer

from mudra.client import (
    AsyncEntityTokenSource,
    Directory,
    DirectoryUnavailable,
    EntityTokenSource,
    KeysUnavailable,
    ServiceUnavailable,
    TokenVerifier,
)

SECRET = "the-secret"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    one = Issuer()
    yield one
    one.close()


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A proxy that leads every request to a host that IDNA 2008 forbids."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("location", "https://xn--ls8h.ab--cd.example/")
            self.end_headers()

        do_POST = do_GET  # noqa: N815  # the name that http.server calls

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/iam"
        server.shutdown()


def test_a_redirect_to_a_host_that_cannot_be_is_an_answer_like_others(
    issuer: Issuer, elsewhere: str
) -> None:
    tokens = EntityTokenSource(issuer.url, "HDFC-FIP", lambda: SECRET)
    token = issuer.token()

    async def asked() -> None:
        await AsyncEntityTokenSource(elsewhere, "HDFC-FIP", lambda: SECRET).token()

    with pytest.raises(ServiceUnavailable):
        EntityTokenSource(elsewhere, "HDFC-FIP", lambda: SECRET).token()
    with pytest.raises(ServiceUnavailable):
        asyncio.run(asked())
    with pytest.raises(KeysUnavailable):
        TokenVerifier(issuer.url, keys_url=elsewhere).verify(token)
    with pytest.raises(DirectoryUnavailable):
        Directory(elsewhere, tokens, TokenVerifier(issuer.url)).entries()
