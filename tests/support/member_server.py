"""A tiny member with a Heartbeat that checks tokens, or forgets to check a part of them."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.issuer import NOW
from tests.support.until import PATIENCE_S

from mudra.client import TOKEN_HEADERS, TokenExpired, TokenRefused, TokenVerifier, WrongAudience
from mudra.conformance.jwt_text import read_jwt
from mudra.shared.secret_text import SecretText

Accepts = Callable[[str, TokenVerifier], bool]


def all_checked(token: str, verifier: TokenVerifier) -> bool:
    try:
        verifier.verify(token)
    except TokenRefused:
        return False
    return True


def signature_ignored(token: str, verifier: TokenVerifier) -> bool:
    claims = read_jwt(SecretText(token)).claims
    expires = claims.get("exp")
    return isinstance(expires, int) and expires > NOW and claims.get("aud") == "aa-network"


def exp_ignored(token: str, verifier: TokenVerifier) -> bool:
    try:
        verifier.verify(token)
    except TokenExpired:
        return True
    except TokenRefused:
        return False
    return True


def audience_ignored(token: str, verifier: TokenVerifier) -> bool:
    try:
        verifier.verify(token)
    except WrongAudience:
        return True
    except TokenRefused:
        return False
    return True


def none_accepted(token: str, verifier: TokenVerifier) -> bool:
    is_none = read_jwt(SecretText(token)).header.get("alg") == "none"
    return is_none or all_checked(token, verifier)


@contextlib.contextmanager
def member_server(verifier: TokenVerifier, accepts: Accepts = all_checked) -> Iterator[str]:
    """Serve until the end of the block; gives the base URL."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            found = [self.headers[name] for name in TOKEN_HEADERS if self.headers[name]]
            token = found[0].removeprefix("Bearer ") if found else ""
            status = 200 if token and accepts(token, verifier) else 401
            body = json.dumps({"ver": "2.0.0", "timestamp": "", "Status": "UP"}).encode()
            self.send_response(status if self.path == "/v2/Heartbeat" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v2"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)
