"""Tokens that must not pass: forged, bent and borrowed ones, each made for a given issuer."""

import base64
import hashlib
import hmac
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding
from joserfc import jwt
from joserfc.jwk import ECKey
from tests.support.issuer import NOW, Issuer

MAX_LENGTH = 16 * 1024


def b64(value):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(issuer, header, payload, key=None, hash_=None, pad=None):
    """A token over these very bytes, signed by the issuer's own key."""
    message = f"{b64(header)}.{b64(payload)}"
    private = (key or issuer.keys[0]).private_key
    signature = private.sign(message.encode(), pad or padding.PKCS1v15(), hash_ or hashes.SHA256())
    return f"{message}.{b64(signature)}"


HEADER = {"alg": "RS256", "typ": "JWT", "kid": "key-1"}


def hmac_signed(issuer, secret, alg="HS256"):
    message = f"{b64({**HEADER, 'alg': alg})}.{b64(issuer.claims())}"
    digest = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}[alg]
    return f"{message}.{b64(hmac.new(secret, message.encode(), digest).digest())}"


def pem(issuer):
    return issuer.keys[0].public_key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def der(issuer):
    return issuer.keys[0].public_key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def with_signature(token, change):
    head, _, signature = token.rpartition(".")
    return f"{head}.{change(signature)}"


def with_payload(token, payload):
    header, _, signature = token.split(".")
    return f"{header}.{payload}.{signature}"


def with_header(token, header):
    _, payload, signature = token.split(".")
    return f"{header}.{payload}.{signature}"


def stranger(kid="key-1"):
    return Issuer.new_key(kid)


def brings_its_own_key(issuer, **members):
    key = stranger()
    return signed(issuer, {**HEADER, **members}, issuer.claims(), key=key)


def elliptic(issuer):
    key = ECKey.import_key(ec.generate_private_key(ec.SECP256R1()))
    return jwt.encode({**HEADER, "alg": "ES256"}, issuer.claims(), key, algorithms=["ES256"])


def respelled(token):
    """The same signature bytes under another spelling: an unused bit is set."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return with_signature(token, lambda s: s[:-1] + alphabet[alphabet.index(s[-1]) + 1])


FORGED = {
    # No signature at all.
    "alg none": lambda i: f"{b64({**HEADER, 'alg': 'none'})}.{b64(i.claims())}.",
    "alg None": lambda i: f"{b64({**HEADER, 'alg': 'None'})}.{b64(i.claims())}.",
    "alg NONE": lambda i: f"{b64({**HEADER, 'alg': 'NONE'})}.{b64(i.claims())}.",
    "alg nOnE": lambda i: f"{b64({**HEADER, 'alg': 'nOnE'})}.{b64(i.claims())}.",
    "alg none over a real signature": lambda i: signed(i, {**HEADER, "alg": "none"}, i.claims()),
    "signature stripped": lambda i: with_signature(i.token(), lambda _: ""),
    "signature and its dot stripped": lambda i: i.token().rpartition(".")[0],
    "payload stripped": lambda i: with_payload(i.token(), ""),
    # Another algorithm.
    "HS256 keyed with the public PEM": lambda i: hmac_signed(i, pem(i)),
    "HS256 keyed with the stripped PEM": lambda i: hmac_signed(i, pem(i).strip()),
    "HS256 keyed with the public DER": lambda i: hmac_signed(i, der(i)),
    "HS256 keyed with the modulus": lambda i: hmac_signed(i, i.keys[0].as_dict()["n"].encode()),
    "HS256 keyed with nothing": lambda i: hmac_signed(i, b""),
    "HS384 keyed with the public PEM": lambda i: hmac_signed(i, pem(i), "HS384"),
    "HS512 keyed with the public PEM": lambda i: hmac_signed(i, pem(i), "HS512"),
    "RS384": lambda i: signed(i, {**HEADER, "alg": "RS384"}, i.claims(), hash_=hashes.SHA384()),
    "RS512": lambda i: signed(i, {**HEADER, "alg": "RS512"}, i.claims(), hash_=hashes.SHA512()),
    "PS256": lambda i: signed(
        i,
        {**HEADER, "alg": "PS256"},
        i.claims(),
        pad=padding.PSS(padding.MGF1(hashes.SHA256()), 32),
    ),
    "PS256 called RS256": lambda i: signed(
        i, HEADER, i.claims(), pad=padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    ),
    "SHA-1 called RS256": lambda i: signed(i, HEADER, i.claims(), hash_=hashes.SHA1()),
    "ES256": elliptic,
    "rs256 in small letters": lambda i: signed(i, {**HEADER, "alg": "rs256"}, i.claims()),
    "RS256 with a blank": lambda i: signed(i, {**HEADER, "alg": "RS256 "}, i.claims()),
    "alg missing": lambda i: signed(i, {"typ": "JWT", "kid": "key-1"}, i.claims()),
    "alg a list": lambda i: signed(i, {**HEADER, "alg": ["RS256"]}, i.claims()),
    # Another key.
    "a stranger's key under our kid": lambda i: i.token(key=stranger()),
    "an unknown kid": lambda i: i.token(key=stranger("key-9")),
    "an unknown kid over our signature": lambda i: i.token(header={"kid": "key-9"}),
    "kid missing": lambda i: i.token(header={"kid": None}),
    "kid empty": lambda i: i.token(header={"kid": ""}),
    "kid a number": lambda i: signed(i, {**HEADER, "kid": 1}, i.claims()),
    "kid a path": lambda i: i.token(header={"kid": "../../dev/null"}),
    "kid an injection": lambda i: i.token(header={"kid": "key-1' OR '1'='1"}),
    "jwk brought along": lambda i: brings_its_own_key(i, jwk=stranger().as_dict()),
    "jku of the forger": lambda i: brings_its_own_key(i, jku="https://evil.example/keys"),
    "jku of the issuer": lambda i: brings_its_own_key(i, jku=i.url + "/keys"),
    "x5u": lambda i: brings_its_own_key(i, x5u="https://evil.example/cert"),
    "x5c": lambda i: brings_its_own_key(i, x5c=["MIIB"]),
    "x5t": lambda i: brings_its_own_key(i, x5t="abc"),
    "jku over our own signature": lambda i: signed(i, {**HEADER, "jku": i.url}, i.claims()),
    # A bent header.
    "crit": lambda i: signed(i, {**HEADER, "crit": ["exp"], "exp": 1}, i.claims()),
    "crit empty": lambda i: signed(i, {**HEADER, "crit": []}, i.claims()),
    "b64 false": lambda i: signed(i, {**HEADER, "b64": False, "crit": ["b64"]}, i.claims()),
    "an unknown header": lambda i: signed(i, {**HEADER, "hello": 1}, i.claims()),
    "alg named twice": lambda i: signed(
        i, b'{"alg":"none","alg":"RS256","typ":"JWT","kid":"key-1"}', i.claims()
    ),
    "kid named twice": lambda i: signed(
        i, b'{"alg":"RS256","typ":"JWT","kid":"key-9","kid":"key-1"}', i.claims()
    ),
    "kid named twice in disguise": lambda i: signed(
        i, rb'{"alg":"RS256","typ":"JWT","\u006bid":"key-9","kid":"key-1"}', i.claims()
    ),
    "typ missing": lambda i: signed(i, {"alg": "RS256", "kid": "key-1"}, i.claims()),
    "typ of a mail": lambda i: i.token(header={"typ": "link+jwt"}),
    "typ of a logout token": lambda i: i.token(header={"typ": "logout+jwt"}),
    "header a list": lambda i: signed(i, ["RS256"], i.claims()),
    "header no JSON": lambda i: signed(i, b"alg=RS256", i.claims()),
    "header with a BOM": lambda i: signed(i, b"\xef\xbb\xbf" + json.dumps(HEADER).encode(), {}),
    "header in UTF-16": lambda i: signed(i, json.dumps(HEADER).encode("utf-16"), i.claims()),
    "header nested 4,000 deep": lambda i: signed(i, b"[" * 4000, i.claims()),
    "header with NaN": lambda i: signed(i, b'{"alg":NaN,"typ":"JWT","kid":"key-1"}', i.claims()),
    # A bent form.
    "nothing": lambda _: "",
    "one dot": lambda _: ".",
    "two dots": lambda _: "..",
    "four parts": lambda i: i.token() + ".e30",
    "five parts of an encrypted token": lambda i: i.token() + ".e30.e30",
    "the JSON form": lambda i: json.dumps({"payload": i.token()}),
    "padding kept": lambda i: with_signature(i.token(), lambda s: s + "=="),
    "Base64 with plus and slash": lambda i: with_signature(i.token(), lambda s: "+/" + s[2:]),
    "a blank before": lambda i: " " + i.token(),
    "a line end after": lambda i: i.token() + "\n",
    "a line end inside": lambda i: i.token().replace(".", ".\n", 1),
    "NUL after": lambda i: i.token() + "\0",
    "the word Bearer": lambda i: "Bearer " + i.token(),
    "letters of another alphabet": lambda i: i.token().replace("e", "\u0435"),
    "1 MiB": lambda _: "e30." + "A" * 2**20 + ".e30",
    "1 MiB of dots": lambda _: "." * 2**20,
    "one character too long": lambda i: "A" * (MAX_LENGTH + 1 - len(i.token())) + i.token(),
    "the signature spelled otherwise": lambda i: respelled(i.token()),
    # A bent signature.
    "signature of zeros": lambda i: with_signature(i.token(), lambda _: b64(bytes(256))),
    "signature of ones": lambda i: with_signature(i.token(), lambda _: b64(b"\xff" * 256)),
    "signature of the modulus' length + 1": lambda i: with_signature(
        i.token(), lambda s: b64(b"\0" + base64.urlsafe_b64decode(s + "=="))
    ),
    "signature cut": lambda i: with_signature(i.token(), lambda s: s[:-4]),
    "one bit of the signature": lambda i: with_signature(
        i.token(), lambda s: ("B" if s[0] == "A" else "A") + s[1:]
    ),
    "signature of another token": lambda i: with_signature(
        i.token(), lambda _: i.token(jti="jti-2").rpartition(".")[2]
    ),
    "payload of another token": lambda i: with_payload(i.token(), b64(i.claims(roles="AA"))),
    "header of another token": lambda i: with_header(i.token(), b64({**HEADER, "typ": "at+jwt"})),
    # Genuine signature, content that is none.
    "payload a list": lambda i: signed(i, HEADER, []),
    "payload a text": lambda i: signed(i, HEADER, "HDFC-FIP"),
    "payload no JSON": lambda i: signed(i, HEADER, b"iss=x"),
    "payload nested 4,000 deep": lambda i: signed(i, HEADER, b"[" * 4000),
    "roles named twice": lambda i: signed(
        i, HEADER, json.dumps(i.claims()).encode()[:-1] + b',"roles":"AA"}'
    ),
    "exp infinite": lambda i: signed(
        i, HEADER, json.dumps({**i.claims(), "exp": float("inf")}).encode()
    ),
    "exp missing": lambda i: i.token(exp=None),
    "exp a text": lambda i: i.token(exp="9999999999"),
    "exp a fraction": lambda i: i.token(exp=NOW + 0.5),
    "exp true": lambda i: i.token(exp=True),
    "exp beyond all calendars": lambda i: i.token(exp=10**18),
    "exp negative": lambda i: i.token(exp=-1),
    "iat missing": lambda i: i.token(iat=None),
    "nbf a text": lambda i: i.token(nbf="0"),
    "jti missing": lambda i: i.token(jti=None),
    "jti empty": lambda i: i.token(jti=""),
    "sub missing": lambda i: i.token(sub=None),
    "claim typ of a refresh token": lambda i: i.token(typ="Refresh"),
    "claim typ of an ID token": lambda i: i.token(typ="ID"),
    "claim typ missing": lambda i: i.token(typ=None),
    # Genuine, but not this.
    "another issuer": lambda i: i.token(iss="https://evil.example/iam"),
    "the issuer with a slash": lambda i: i.token(iss=i.url + "/"),
    "the issuer in capitals": lambda i: i.token(iss=i.url.upper()),
    "the issuer as a list": lambda i: signed(i, HEADER, {**i.claims(), "iss": [i.url]}),
    "issuer missing": lambda i: i.token(iss=None),
    "a user's token": lambda i: i.token(
        roles="admin", entity_meta={"HDFC-FIP": ["entity-admin"]}, azp=None
    ),
    "a user's token with a list of roles": lambda i: i.token(roles=["admin"]),
    "a user's token that claims to be an AA": lambda i: i.token(
        roles="AA", entity_meta={"HDFC-FIP": ["entity-admin"]}
    ),
    "a list of roles": lambda i: i.token(roles=["FIP"]),
    "an unknown role": lambda i: i.token(roles="OPERATOR"),
    "a role in small letters": lambda i: i.token(roles="fip"),
    "roles missing": lambda i: i.token(roles=None),
    "no entity": lambda i: i.token(azp=None, clientId=None, client_id=None),
    "an empty entity": lambda i: i.token(azp="", clientId="", client_id=""),
    "two entities": lambda i: i.token(client_id="ACME-FIU"),
}
