"""POST /entity/token/generate (spec 4.4, 5.2): the hot path.

Where memory is valid nothing waits for the database, and the request is answered at once
(http/server/fast_path_protocol.py); the others are answered by a bare ASGI handler.
"""

from datetime import UTC
from email.utils import format_datetime

from litestar import Response, post
from litestar.types import Receive, Scope, Send
from msgspec import Struct

from mudra.http.auth.bearer import has_proof, presented_proof
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import FORM, described
from mudra.http.request.body.request_body import plain_form, read_form
from mudra.http.request.request_context import (
    AnyRequest,
    Envelope,
    EnvelopeFault,
    new_txn_id,
    read_txn_id,
)
from mudra.http.request.validation import decode_struct
from mudra.http.response.json_response import JsonResponse, refusal, success
from mudra.http.server.fast_path_protocol import PendingResponse, ReadyResponse
from mudra.http.token.requests import EntityTokenRequest
from mudra.http.token.responses import TokenResponse, token_response
from mudra.server_protocol.body_reader import Headers
from mudra.server_protocol.client_address import client_address
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms
from mudra.tokens.authentication.entity_authenticator import PresentedCredentials
from mudra.tokens.claims import ENTITY_TOKEN_LIFE_S
from mudra.tokens.issuing.issue_bound_token import BoundTokenOutcome
from mudra.tokens.issuing.issue_entity_token import (
    EntityTokenIssuer,
    IssuedEntityToken,
    UnsignedEntityToken,
)


async def generate(
    scope: Scope, receive: Receive, send: Send, dependencies: HttpDependencies
) -> None:
    """Exchange entity ID and secret for a token of 24 hours."""
    await (await respond(scope, receive, dependencies)).send(send)


async def respond(scope: Scope, receive: Receive, dependencies: HttpDependencies) -> JsonResponse:
    """Read the form and issue a token; the response before it is framed as HTTP."""
    form = await read_form(receive, scope["headers"])
    if isinstance(form, Refusal):
        return refusal(Envelope(new_txn_id(), dependencies.clock()), form)
    peer = scope["client"]
    presented = _presented(form, scope["headers"], peer[0] if peer else "", dependencies)
    if isinstance(presented, JsonResponse):
        return presented
    issued: BoundTokenOutcome
    if has_proof(scope["headers"]):
        proof = presented_proof(scope, dependencies.settings)
        issued = await dependencies.bound_tokens.issue(presented, proof)
    else:
        issued = await dependencies.entity_tokens.issue(presented)
    envelope = Envelope(presented.txn_id, dependencies.clock())
    return refusal(envelope, issued) if isinstance(issued, Refusal) else _success(envelope, issued)


def try_fast_path(
    headers: Headers, body: bytes, peer: str, dependencies: HttpDependencies
) -> PendingResponse | None:
    """Return from memory alone what `respond` would; None, and nothing done, where it cannot."""
    form = plain_form(headers, body)
    if form is None or has_proof(headers):
        return None
    presented = _presented(form, headers, peer, dependencies)
    if isinstance(presented, JsonResponse):
        return ReadyResponse(presented)
    unsigned = dependencies.entity_tokens.prepare_cached(presented)
    if isinstance(unsigned, UnsignedEntityToken):
        return _PendingToken(unsigned, dependencies.entity_tokens)
    if unsigned is None:
        return None
    return ReadyResponse(refusal(Envelope(presented.txn_id, dependencies.clock()), unsigned))


class _PendingToken(Struct):
    """A response that lacks only the signature of its token."""

    unsigned: UnsignedEntityToken
    issuer: EntityTokenIssuer
    signed: SecretText | None = None

    def sign(self) -> None:
        self.signed = self.issuer.sign(self.unsigned)

    def response(self) -> JsonResponse:
        assert self.signed is not None
        issued = self.issuer.complete(self.unsigned, self.signed)
        envelope = Envelope(self.unsigned.presented.txn_id, self.unsigned.entity.at)
        return _success(envelope, issued)


def _presented(
    form: dict[str, str], headers: Headers, peer: str, dependencies: HttpDependencies
) -> PresentedCredentials | JsonResponse:
    txn_id = read_txn_id(form)
    if isinstance(txn_id, EnvelopeFault):
        return refusal(Envelope(new_txn_id(), dependencies.clock()), txn_id)
    received = decode_struct(form, EntityTokenRequest)
    if isinstance(received, Refusal):
        return refusal(Envelope(txn_id, dependencies.clock()), received)
    address = client_address(peer, headers, dependencies.settings.proxies)
    return PresentedCredentials(received.id, received.secret, address, txn_id)


def _success(envelope: Envelope, issued: IssuedEntityToken) -> JsonResponse:
    body = token_response(issued.text, ENTITY_TOKEN_LIFE_S, issued.token_type)
    if issued.grace_until is None:
        return success(envelope, body)
    body.message = (
        "The secret used is the old one: its grace period ends at "
        f"{iso_ms(issued.grace_until)}. Use the new secret from then on."
    )
    # RFC 8594: when the old secret stops working.
    sunset = format_datetime(issued.grace_until.astimezone(UTC), usegmt=True)
    return success(envelope, body, headers={"Sunset": sunset})


@post(
    "/entity/token/generate",
    status_code=200,
    operation_class=described(
        "Generate an Entity Access Token", EntityTokenRequest, TokenResponse, media=FORM
    ),
)
async def described_generate(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[bytes]:
    """Exchange entity ID and secret for a token of 24 hours.

    With a header `DPoP` (RFC 9449) the token is bound to the key of that proof. With an old secret
    in its grace period the answer has the header `Sunset`, the time when that ends (RFC 8594).
    """
    # Known to Litestar for OpenAPI, and for methods other than POST.
    return (await respond(request.scope, request.receive, dependencies)).response()
