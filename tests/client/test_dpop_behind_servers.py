"""The `htu` of a proof and the path of a request, as real servers hand it to the middleware."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
import uvicorn
from tests.support.dpop import KeyOfClient
from tests.support.issuer import NOW, Hands, Issuer
from tests.support.until import PATIENCE_S
from werkzeug import serving

from mudra.client import AsyncTokenVerifier, TokenVerifier
from mudra.client.web import asgi, wsgi

ORIGIN = "https://fip.example.org"
KEY = KeyOfClient()


def wsgi_app(environ, start_response):
    start_response("200 OK", [("Content-Length", "0")])
    return [b""]


async def asgi_app(_, __, send):
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def protected(issuer: Issuer) -> wsgi.EntityTokenMiddleware:
    verifier = TokenVerifier(issuer.url, wall=Hands())
    return wsgi.EntityTokenMiddleware(wsgi_app, verifier, origins=[ORIGIN], wall=Hands())


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def on_wsgiref(issuer: Issuer) -> Iterator[int]:
    """PEP 3333 to the letter: the path is decoded, and that is all there is."""
    server = make_server("127.0.0.1", 0, protected(issuer), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


class Silent(serving.WSGIRequestHandler):
    def log(self, *_: object) -> None:
        pass


@contextmanager
def on_werkzeug(issuer: Issuer) -> Iterator[int]:
    """With RAW_URI and REQUEST_URI, as gunicorn and uWSGI have them."""
    server = serving.make_server("127.0.0.1", 0, protected(issuer), request_handler=Silent)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.port
    server.shutdown()
    server.server_close()


@contextmanager
def on_uvicorn(issuer: Issuer, http: str = "httptools") -> Iterator[int]:
    verifier = AsyncTokenVerifier(issuer.url, wall=Hands())
    app = asgi.EntityTokenMiddleware(asgi_app, verifier, origins=[ORIGIN], wall=Hands())
    config = uvicorn.Config(app, port=0, http=http, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE_S)


@contextmanager
def on_uvicorn_h11(issuer: Issuer) -> Iterator[int]:
    with on_uvicorn(issuer, "h11") as port:
        yield port


@dataclass(frozen=True)
class Running:
    """A program behind a server, asked with request targets that no client changes."""

    issuer: Issuer
    port: int

    def status(self, target: str, htu: str) -> int:
        token = self.issuer.token(cnf={"jkt": KEY.thumbprint})
        proof = KEY.proof("GET", f"{ORIGIN}{htu}", NOW, token)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            headers = {"Authorization": f"DPoP {token}", "DPoP": proof}
            connection.request("GET", target, headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()


SERVERS = [on_wsgiref, on_werkzeug, on_uvicorn, on_uvicorn_h11]
RAW = [on_werkzeug, on_uvicorn, on_uvicorn_h11]


@pytest.fixture(scope="module")
def running() -> Iterator[Callable[[object], Running]]:
    """Every server once, each with the same issuer."""
    issuer = Issuer()
    issuer.publish_revocations()
    started: dict[object, Running] = {}
    open_ones = []

    def start(server) -> Running:
        if server not in started:
            opened = server(issuer)
            open_ones.append(opened)
            started[server] = Running(issuer, opened.__enter__())
        return started[server]

    yield start
    for one in open_ones:
        one.__exit__(None, None, None)
    issuer.close()


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("target", "htu", "status"),
    [
        ("/v2/Consent", "/v2/Consent", 200),
        ("/v2/Consent?x=1", "/v2/Consent", 200),
        ("/~kaveri/a", "/%7ekaveri/a", 200),
        ("/%7Ekaveri/a", "/~kaveri/a", 200),
        ("/caf%c3%a9", "/caf%C3%A9", 200),
        ("/v2/a:b,c", "/v2/a:b,c", 200),
        ("/v2/Consent", "/v2/Else", 401),
        ("/v2/%2561", "/v2/a", 401),
        ("/v2/x/../Consent", "/v2/Consent", 401),
        ("/v2/x/%2e%2e/Consent", "/v2/Consent", 401),
        ("/v2/x/../Consent", "/v2/x/../Consent", 401),
        ("/v2/Consent%23a", "/v2/Consent", 401),
        ("/v2/Consent%3Fa", "/v2/Consent", 401),
    ],
)
def test_a_proof_is_for_the_path_that_was_asked_for(
    running, server, target: str, htu: str, status: int
) -> None:
    assert running(server).status(target, htu) == status


@pytest.mark.parametrize("server", RAW)
@pytest.mark.parametrize("written", ["%2F", "%3A", "%3b", "%2b"])
def test_what_is_encoded_is_another_path_than_what_is_not(running, server, written: str) -> None:
    one, plain = running(server), bytes.fromhex(written[1:]).decode()

    assert one.status(f"/v2/a{written}b", f"/v2/a{written}b") == 200
    assert one.status(f"/v2/a{written}b", f"/v2/a{plain}b") == 401
    assert one.status(f"/v2/a{plain}b", f"/v2/a{written}b") == 401


def test_a_server_that_gives_the_path_decoded_alone_sees_one_path_as_its_app_does(running) -> None:
    one = running(on_wsgiref)

    assert one.status("/v2/a%2Fb", "/v2/a/b") == 200
    assert one.status("/v2/a/b", "/v2/a%2Fb") == 401


def test_a_whole_url_as_request_target_is_the_path_in_it(running) -> None:
    assert running(on_werkzeug).status("http://fip.example.org/v2/a%2Fb", "/v2/a%2Fb") == 200
    assert running(on_werkzeug).status("http://evil.example/v2/a", "/v2/b") == 401


def seen(**environ: str) -> str:
    return wsgi._path(environ)


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"SCRIPT_NAME": "/api", "PATH_INFO": "/a/b", "RAW_URI": "/api/a%2Fb?x"}, "/api/a%2Fb"),
        ({"SCRIPT_NAME": "/api", "PATH_INFO": "/a/b", "REQUEST_URI": "/a%2Fb"}, "/api/a%2Fb"),
        # Changed on the way: then it is what the app acts on.
        ({"PATH_INFO": "/else", "REQUEST_URI": "/a"}, "/else"),
        ({"PATH_INFO": "/a", "RAW_URI": "\u2028", "REQUEST_URI": "/%61"}, "/%61"),
    ],
)
def test_the_path_as_sent_counts_where_it_is_the_one_that_the_app_gets(
    environ: dict[str, str], path: str
) -> None:
    assert seen(**environ) == path
