"""Reads of the registry, and the entries that come (specification 2.7)."""

from typing import Final

from mudra.conformance.answer import Answer
from mudra.conformance.check import Need, Skip, Steps, decided, specified
from mudra.conformance.expectation import error, has, kind, status, that
from mudra.conformance.jwt_text import Jwt, from_base64, read_jwt
from mudra.conformance.service.checks.keys import is_signed, published_keys
from mudra.conformance.service.implementation import Implementation
from mudra.shared.secret_text import SecretText

_READS: Final = "Reads: an array of whole payloads, or one; live entries only"
_TOKEN: Final = "Entity Access Token needed"  # noqa: S105  # words of the decision
_ROOT: Final = ("ver", "timestamp", "txnid", "type", "requester", "entityinfo")
_INFO: Final = ("name", "id", "code", "baseurl", "inboundports", "outboundports", "ips")
_KEY: Final = ("alg", "kty", "use", "kid", "e", "n")
_OTHER: Final = {"AA": "FIP", "FIU": "FIP", "FIP": "AA"}
"""A type that each type may read."""


def _readable(one: Implementation) -> str:
    return _OTHER.get(str(one.entity_jwt.claims.get("roles")), "AA")


def _listing(one: Implementation, **headers: str) -> Answer:
    url = f"{one.target.registry}/entityInfo/{_readable(one)}"
    return one.send("GET", url, token=one.entity_bearer, headers=headers)


def _entries(answer: Answer) -> list[dict[str, object]]:
    found = answer.document
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _listed(answer: Answer) -> Steps:
    found = answer.document
    yield that(isinstance(found, list), "a JSON array", kind(found))
    others = (
        [kind(one) for one in found if not isinstance(one, dict)] if isinstance(found, list) else []
    )
    yield that(not others, "objects in the array", "".join(others[:1]))


def _some(answer: Answer) -> Steps:
    yield from _listed(answer)
    if answer.document == []:
        yield Skip("the listing is empty")


@decided("R-D4-1", "a listing is an array of payloads", _READS, Need.ENTITY)
def _array(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    answer = _listing(one)
    yield status(answer, 200)
    yield from _listed(answer)


@specified("R-2.7-1", "entries have the required fields of the root",
           "ver | string | yes … requester.name | string | yes",
           Need.ENTITY)  # fmt: skip
def _roots(one: Implementation) -> Steps:
    answer = _listing(one)
    yield status(answer, 200)
    yield from _some(answer)
    for entry in _entries(answer):
        yield has("an entry", entry, _ROOT)
        yield has("requester", entry["requester"], ("name", "id"))


@specified("R-2.7-2", "entries have the required fields of the entity",
           "name | string | yes … baseurl | string, URL | yes … ips | array of string | yes",
           Need.ENTITY)  # fmt: skip
def _infos(one: Implementation) -> Steps:
    answer = _listing(one)
    yield status(answer, 200)
    yield from _some(answer)
    for entry in _entries(answer):
        yield has("entityinfo", entry.get("entityinfo"), _INFO)


@specified("R-2.7-3", "entries have an RSA key for signatures",
           "kty (string, required, must be RSA); use (string, required, sig = signature"
           " verification)",
           Need.ENTITY)  # fmt: skip
def _keys(one: Implementation) -> Steps:
    answer = _listing(one)
    yield status(answer, 200)
    yield from _some(answer)
    for entry in _entries(answer):
        info = entry.get("entityinfo")
        key = info.get("certificate") if isinstance(info, dict) else None
        yield has("certificate", key, _KEY)
        fits = isinstance(key, dict) and key["kty"] == "RSA" and key["use"] == "sig"
        yield that(fits, "kty RSA and use sig", "another key")
        yield that(isinstance(key, dict) and "d" not in key, "a public key", "a private one")


@decided("R-D4-2", "without a token: 401", _TOKEN)
def _no_token(one: Implementation) -> Steps:
    yield from error(one.send("GET", f"{one.target.registry}/entityInfo/AA"), 401)


@decided("R-D4-3", "a token that is none: 401", _TOKEN)
def _garbage(one: Implementation) -> Steps:
    url = f"{one.target.registry}/entityInfo/AA"
    yield from error(one.send("GET", url, token=SecretText("garbage")), 401)


@decided("R-D4-4", "a user's token does not read the directory", _TOKEN, Need.USER)
def _user_token(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    url = f"{one.target.registry}/entityInfo/AA"
    yield from error(one.send("GET", url, token=one.user_bearer), 401)


@decided("R-D4-5", "ETag and 304", "ETag, Last-Modified, 304", Need.ENTITY)
def _not_modified(one: Implementation) -> Steps:
    first = _listing(one)
    yield status(first, 200)
    yield that("ETag" in first.headers, "the header ETag", "it is missing")
    if first.document and "Last-Modified" not in first.headers:
        one.pause(2)  # of a change within this second it may be left out (RFC 9110 8.8.2.1)
        first = _listing(one)
        yield status(first, 200)
        yield that("Last-Modified" in first.headers, "Last-Modified", "it is missing")
    again = _listing(one, **{"If-None-Match": first.headers["ETag"]})
    # An entry may have come between the two.
    changed = again.status == first.status and again.headers.get("ETag") != first.headers["ETag"]
    yield that(again.status == 304 or changed, "status 304", again.described())  # noqa: PLR2004  # an HTTP status


@decided("R-D4-6", "a listing is signed", "Answers are signed (detached JWS, b64:false, in "
         "x-jws-signature, the network's custom)", Need.ENTITY)  # fmt: skip
def _signed(one: Implementation) -> Steps:
    answer = _listing(one)
    yield status(answer, 200)
    header, _, signature = answer.headers.get("x-jws-signature", "").partition("..")
    yield that(header and signature, "x-jws-signature with a detached JWS", "none")
    fields = read_jwt(SecretText(f"{header}..{signature}")).header
    yield that(fields.get("b64") is False and fields.get("crit") == ["b64"], "b64 false, crit b64")
    yield status(one.keys_answer, 200)
    whole = Jwt(fields, {}, from_base64(signature), header.encode() + b"." + answer.body)
    fits = is_signed(whole, published_keys(one.keys_answer))
    yield that(fits, "a signature over the body by a published key", "another")


@decided("R-D4-7", "an unknown entity: 404", "Beyond these: 404, 405, 409", Need.ENTITY)
def _unknown(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    url = f"{one.target.registry}/entityInfo/{_readable(one)}/no-such-entity"
    yield from error(one.send("GET", url, token=one.entity_bearer), 404)


@decided("R-D4-8", "an unknown type: 404 or 400", "{type} is FIP, FIU, AA", Need.ENTITY)
def _unknown_type(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    url = f"{one.target.registry}/entityInfo/BANK"
    yield from error(one.send("GET", url, token=one.entity_bearer), 400, 404)


@decided("R-D4-9", "one entry is read by its ID", _READS, Need.ENTITY)
def _one(one: Implementation) -> Steps:
    listing = _listing(one)
    yield status(listing, 200)
    yield from _some(listing)
    for entry in _entries(listing)[:1]:
        info = entry.get("entityinfo")
        entity_id = info.get("id") if isinstance(info, dict) else None
        url = f"{one.target.registry}/entityInfo/{_readable(one)}/{entity_id}"
        answer = one.send("GET", url, token=one.entity_bearer)
        yield status(answer, 200)
        yield that(answer.document == entry, "the entry of the listing", "another document")


CHECKS: Final = (
    _array, _roots, _infos, _keys, _no_token, _garbage, _user_token, _not_modified, _signed,
    _unknown, _unknown_type, _one,
)  # fmt: skip
