"""Registration of entities: each rule of specification 2.7 by a payload that breaks it alone."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from mudra.conformance.answer import Answer
from mudra.conformance.check import Basis, Check, Need, Skip, Steps, decided
from mudra.conformance.expectation import error, kind, status, that
from mudra.conformance.service.checks.payloads import GONE, Document, registration, spoiled
from mudra.conformance.service.implementation import Implementation
from mudra.conformance.service.target import EntityCredentials
from mudra.shared.secret_text import SecretText

_INFO: Final = "entityinfo"
_KEY: Final = "entityinfo.certificate"
_ANY: Final = ("FIP", "FIU", "AA")
_FIRST_AA: Final = ("AA", "FIP", "FIU")
"""Where both are given, the limit of writes is shared by two."""
_STRONG: Final = "at least one identifier must have category STRONG"
_AA_ONLY: Final = "An AA payload has entityhandle and webviewurl filled, empty Identifiers"
_STRONG_PAN: Final = [{"category": "STRONG", "type": "PAN"}]


class _Rule(Struct, frozen=True):
    """A rule, and the change to a right payload that breaks it."""

    title: str
    line: str
    changes: Mapping[str, object]
    types: tuple[str, ...] = _ANY
    basis: Basis = Basis.SPECIFICATION


def _missing(path: str, line: str, types: tuple[str, ...] = _ANY) -> _Rule:
    return _Rule(f"without {path}: refused", line, {path: GONE}, types)


_RULES: Final = (
    _missing("ver", "ver | string | yes"),
    _missing("timestamp", "timestamp | string, ISO 8601 UTC | yes"),
    _Rule("a timestamp that is none: refused", "timestamp | string, ISO 8601 UTC | yes",
          {"timestamp": "yesterday"}),
    _missing("txnid", "txnid | string, UUID | yes"),
    _Rule("a txnid that is no UUID: refused", "txnid | string, UUID | yes", {"txnid": "17"}),
    _Rule("another type: refused", "type | string enum | yes | FIP, FIU, AA", {"type": "BANK"}),
    _missing("requester.name", "requester.name | string | yes"),
    _missing(_INFO, "the service | object | yes"),
    _missing("entityinfo.name", "name | string | yes"),
    _missing("entityinfo.id", "id | string | yes"),
    _missing("entityinfo.code", "code | string | yes"),
    _missing("entityinfo.baseurl", "baseurl | string, URL | yes"),
    _Rule("a baseurl that is no URL: refused", "baseurl | string, URL | yes",
          {"entityinfo.baseurl": "v2:conformance"}),
    _missing("entityinfo.inboundports", "inboundports | array of string | yes"),
    _missing("entityinfo.outboundports", "outboundports | array of string | yes"),
    _missing("entityinfo.ips", "ips | array of string | yes"),
    _missing(_KEY, "certificate | object (JSON Web Key, RFC 7517) | yes", _FIRST_AA),
    _missing(f"{_KEY}.alg", "alg (string, required, typically RS256)", _FIRST_AA),
    _Rule("a key that is not RSA: refused", "kty (string, required, must be RSA)",
          {f"{_KEY}.kty": "EC"}, _FIRST_AA),
    _Rule("a key for encryption: refused", "use (string, required, sig = signature verification)",
          {f"{_KEY}.use": "enc"}, _FIRST_AA),
    _missing(f"{_KEY}.kid", "kid (string, required, key ID)", _FIRST_AA),
    _missing(f"{_KEY}.e", "e (string, required, RSA public exponent, Base64url)", _FIRST_AA),
    _missing(f"{_KEY}.n", "n (string, required, RSA modulus, Base64url)", _FIRST_AA),
    _missing("entityinfo.Identifiers", "Identifiers[].category | string enum | FIP only", ("FIP",)),
    _Rule("no STRONG identifier: refused", _STRONG,
          {"entityinfo.Identifiers": [{"category": "WEAK", "type": "PAN"}]}, ("FIP",)),
    _Rule("another category: refused", "STRONG, WEAK, ANCILLARY",
          {"entityinfo.Identifiers": [*_STRONG_PAN, {"category": "SOLID", "type": "PAN"}]},
          ("FIP",)),
    _missing("entityinfo.fitypes", "fitypes | array of string | FIP only", ("FIP",)),
    _Rule("an entityhandle of a FIP or FIU: refused", "blank for FIU/FIP",
          {"entityinfo.entityhandle": "@conformance"}, ("FIP", "FIU")),
    _Rule("a webviewurl of a FIP or FIU: refused", "null for FIU/FIP",
          {"entityinfo.webviewurl": "https://conformance.example/web"}, ("FIP", "FIU")),
    _missing("entityinfo.entityhandle", "entityhandle | string | AA only", ("AA",)),
    _missing("entityinfo.webviewurl", "webviewurl | string, URL | AA only", ("AA",)),
    _Rule("Identifiers of an AA or FIU: refused", _AA_ONLY,
          {"entityinfo.Identifiers": _STRONG_PAN}, ("AA", "FIU")),
    _Rule("fitypes of an AA or FIU: refused", _AA_ONLY, {"entityinfo.fitypes": ["DEPOSIT"]},
          ("AA", "FIU")),
    _Rule("a gsp of an AA or FIU: refused", "must be null for FIU and AA",
          {"entityinfo.gsp": {"id": "g", "name": "g", "ip": "9.9.9.9", "url": "https://g.example"}},
          ("AA", "FIU")),
)  # fmt: skip

_DECIDED: Final = (
    _Rule("an unknown member: refused", "Unknown members: 400 that names the path",
          {"entityinfo.colour": "blue"}, _FIRST_AA, Basis.NETWORK),
    _Rule("a private key: refused", "Private members (d, p, …): refused", {f"{_KEY}.d": "AQAB"},
          _FIRST_AA, Basis.NETWORK),
    _Rule("requester.id is required (the garbled row of part 2.7)",
          "The row {base_url} under requester.name is requester.id", {"requester.id": GONE}, _ANY,
          Basis.NETWORK),
)  # fmt: skip


def _check(check_id: str, rule: _Rule) -> Check[Implementation]:
    field = list(rule.changes)[-1].rpartition(".")[2]

    def steps(one: Implementation) -> Steps:
        found = _submitter(one, rule.types)
        if isinstance(found, Skip):
            yield found
            return
        entity_type, credentials, token = found
        document = registration(entity_type, credentials.entity_id, one.key, one.now())
        answer = _submit(one, entity_type, spoiled(document, rule.changes), token)
        yield from error(answer, 400, naming=field)

    part = check_id.split("-")[1]
    return Check(check_id, part, rule.title, rule.line, rule.basis, (Need.ENTITY,), steps)


@decided("R-D4-14", "a right payload is taken, and answered with its txnid",
         "Writes answer {ver, timestamp, txnid, responseCode, responseText, status, version, "
         "findings}", Need.ENTITY, Need.REGISTER)  # fmt: skip
def _right(one: Implementation) -> Steps:
    found = _submitter(one, _ANY)
    if isinstance(found, Skip):
        yield found
        return
    entity_type, credentials, token = found
    document = registration(entity_type, credentials.entity_id, one.key, one.now())
    answer = _submit(one, entity_type, document, token)
    if answer.status == 409:  # noqa: PLR2004  # an HTTP status
        yield Skip(f"{credentials.entity_id} has an entry already")
        return
    yield status(answer, 200)
    for name in ("ver", "timestamp", "txnid", "responseCode", "status"):
        yield that(answer.text(name), f"{name} is a string", kind(answer.field(name)))
    yield that(answer.field("txnid") == document["txnid"], "txnid of the request", "another")
    again = _submit(one, entity_type, document, token)
    yield status(again, 200)
    yield that(
        again.field("version") == answer.field("version"),
        "the same POST again is answered as the first time",
        "another version",
    )


@decided("R-D4-13", "without a token: 401", "Who submits: an operator …; a member's admin … or the "
         "entity itself (Entity Access Token) for its own entry only", Need.ENTITY)  # fmt: skip
def _no_token(one: Implementation) -> Steps:
    document = registration("FIP", one.entity.entity_id, one.key, one.now())
    url = f"{one.target.registry}/entityInfo/FIP"
    yield from error(one.send("POST", url, document=document), 401)


def _submitter(
    one: Implementation, types: tuple[str, ...]
) -> tuple[str, EntityCredentials, SecretText] | Skip:
    """Return who may submit an entry of the first of these types that is given."""
    given = {one.type_of(one.entity_bearer): (one.entity, one.entity_bearer)}
    if one.target.aa is not None:
        given |= {one.type_of(one.aa_bearer): (one.aa, one.aa_bearer)}
    for entity_type in types:
        if entity_type in given:
            return entity_type, *given[entity_type]
    return Skip(f"needs credentials of an entity of type {' or '.join(types)}")


def _submit(one: Implementation, entity_type: str, document: Document, token: SecretText) -> Answer:
    url = f"{one.target.registry}/entityInfo/{entity_type}"
    return one.send("POST", url, token=token, document=document)


CHECKS: Final = (
    *(_check(f"R-2.7-{number}", rule) for number, rule in enumerate(_RULES, 4)),
    *(_check(f"R-D4-{number}", rule) for number, rule in enumerate(_DECIDED, 10)),
    _no_token,
    _right,
)
