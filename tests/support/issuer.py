"""A small real issuer over HTTP: publishes keys, grants tokens, and can misbehave."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from joserfc import jws, jwt
from tests.support.cheap_keys import rsa_key

NOW = 1_772_366_400


class Issuer:
    """Answers under `self.url`; `requests` lists each path asked for."""

    def __init__(self):
        self.keys = [self.new_key("key-1")]
        self.cache_control = "max-age=300"
        self.status = 200
        self.jwks_bytes = None
        self.metadata = None
        self.revocations = None
        self.requests = []
        self.secrets = {"the-secret"}
        self.token_answer = {}
        self.token_headers = {}
        self.token_status = 200
        self.seen_forms = []
        self.hold = threading.Event()
        self.hold.set()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                issuer.requests.append(self.path)
                issuer.hold.wait(5)
                self.reply(*issuer.get(self.path))

            def do_POST(self):
                issuer.requests.append(self.path)
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                issuer.hold.wait(5)
                self.reply(*issuer.post(parse_qs(body)))

            def reply(self, status, headers, body):
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/iam"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @staticmethod
    def new_key(kid):
        return rsa_key(kid=kid, use="sig", alg="RS256")

    def close(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()

    def get(self, path):
        headers = {"cache-control": self.cache_control, "content-type": "application/json"}
        if path.endswith("/.well-known/openid-configuration"):
            return 200, {}, json.dumps(self.metadata).encode()
        if path.endswith("/revocations") and self.revocations is not None:
            return self.revocations
        if not path.endswith(("/protocol/openid-connect/certs", "/keys")):
            return 404, {}, b""
        if self.jwks_bytes is not None:
            return self.status, headers, self.jwks_bytes
        keys = [key.as_dict(private=False) for key in self.keys]
        return self.status, headers, json.dumps({"keys": keys}).encode()

    def post(self, form):
        self.seen_forms.append(form)
        if self.token_status != 200:
            return self.token_status, self.token_headers, b'{"errorCode":"TooManyAttempts"}'
        if form["secret"][0] not in self.secrets:
            return 401, {}, b'{"errorCode":"Unauthorized","errorMsg":"no"}'
        count = len(self.seen_forms)
        answer = {"accessToken": f"token-{count}", "expiresIn": 86400, "tokenType": "Bearer"}
        return 200, self.token_headers, json.dumps({**answer, **self.token_answer}).encode()

    def publish_revocations(self, key=None, header=None, **changes):
        """Publish a signed list; `changes` replace its fields."""
        key = key or self.keys[0]
        fields = {
            "ver": "1.0.0",
            "issuer": self.url,
            "issuedAt": NOW,
            "validUntil": NOW + 60,
            "revoked": [],
            "notBefore": {},
        }
        body = json.dumps({**fields, **changes}).encode()
        head = {"alg": "RS256", "kid": key.kid, "b64": False, "crit": ["b64"], **(header or {})}
        registry = jws.JWSRegistry(algorithms=["RS256"])
        registry.max_payload_length = 10_000_000
        signature = jws.serialize_compact(head, body, key, registry=registry)
        self.revocations = 200, {"x-jws-signature": signature}, body

    def claims(self, **changes):
        claims = {
            "iss": self.url,
            "sub": "HDFC-FIP",
            "aud": "aa-network",
            "iat": NOW,
            "nbf": NOW,
            "exp": NOW + 86400,
            "jti": "jti-1",
            "typ": "Bearer",
            "azp": "HDFC-FIP",
            "clientId": "HDFC-FIP",
            "client_id": "HDFC-FIP",
            "roles": "FIP",
            "scope": "network",
        }
        return {k: v for k, v in {**claims, **changes}.items() if v is not None}

    def token(self, key=None, header=None, **changes):
        key = key or self.keys[0]
        header = {"alg": "RS256", "typ": "JWT", "kid": key.kid, **(header or {})}
        header = {k: v for k, v in header.items() if v is not None}
        return jwt.encode(header, self.claims(**changes), key, algorithms=["RS256"])


class Hands:
    """A clock moved by hand."""

    def __init__(self, now=NOW):
        self.now = now

    def __call__(self):
        return self.now
