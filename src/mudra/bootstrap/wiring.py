"""Builds the HTTP edge of a worker, with all parts behind it."""

import random
import secrets
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from time import monotonic

from msgspec import Struct

from mudra.bootstrap.config import shown_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.node.node_state import NodeState
from mudra.bootstrap.observability.telemetry import (
    count_database_failure,
    count_lost,
    count_refused,
    observe_replica,
)
from mudra.bootstrap.separate_process.push_check import PushChecker
from mudra.http.dependencies import HttpDependencies, SandboxNotice, no_notices
from mudra.http.token import oauth
from mudra.identity.accounts.password_hash import Argon2Passwords
from mudra.identity.operators.operator import Operator
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.passkeys.relying_party import relying_party
from mudra.identity.single_sign_on.ports import IdentityProvider
from mudra.jobs.telemetry import count_damaged_block
from mudra.metrics.payload.push_limits import PushLimits, of_all, upload_places
from mudra.metrics.rollup.damage import count_damage
from mudra.registry.directory.directory_log_store import DirectoryLogStore
from mudra.registry.directory.signed_listings import DirectoryReads, SignedListings
from mudra.settings.settings import Settings
from mudra.shared.ids import fresh_id
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.storage.metrics.attribution import FIP_STATES_CHANGED
from mudra.tokens.authentication.assertion_authenticator import AssertionAuthenticator
from mudra.tokens.authentication.bearer import BearerAuthenticator, VerifiedTokenCache
from mudra.tokens.authentication.credentials import Credentials
from mudra.tokens.authentication.entity_authenticator import EntityAuthenticator
from mudra.tokens.authentication.proof_guard import ProofGuard
from mudra.tokens.claims import TokenKind, TokenTerms
from mudra.tokens.issuing.issue_bound_token import BoundTokenIssuer
from mudra.tokens.issuing.issue_by_assertion import AssertionTokenIssuer
from mudra.tokens.issuing.issue_entity_token import EntityTokenIssuer
from mudra.tokens.issuing.issue_log_store import BatchedIssueLog
from mudra.tokens.issuing.issue_user_token import UserTokenIssuer
from mudra.tokens.ports import CredentialSource, Signer
from mudra.tokens.revocation.node_revocations import RevocationLists, RevokedTokens
from mudra.tokens.signing_keys.key_fetch_store import BatchedKeyFetches
from mudra.tokens.signing_keys.node_keys import NodeKeys

_PUSH_RATE_S = 600


class Edge(Struct, frozen=True):
    """The HTTP edge of one worker process, with what must run next to it."""

    dependencies: Dependencies
    http: HttpDependencies
    node: NodeState
    keys: NodeKeys
    issue_log: BatchedIssueLog
    key_fetches: BatchedKeyFetches

    async def start(self) -> None:
        """Connect, listen, load keys; the worker answers afterwards."""
        self.dependencies.database.outages.count = count_database_failure
        count_damage(count_damaged_block)
        self.dependencies.replica.observe = observe_replica
        await self.dependencies.invalidation.start()
        if self.dependencies.settings.sandbox:
            await self.dependencies.time_machine.load()
        await self.keys.ready()
        self.issue_log.start()
        self.key_fetches.start()

    async def stop(self) -> None:
        """Write what is left and disconnect; what fails of it keeps nothing else from its end."""
        async with AsyncExitStack() as last:
            last.push_async_callback(self.dependencies.close)
            last.push_async_callback(self.dependencies.invalidation.stop)
            last.push_async_callback(self.key_fetches.stop)
            last.push_async_callback(self.issue_log.stop)


def open_http_edge(dependencies: Dependencies, owner: Operator | None = None) -> Edge:
    """Put the HTTP edge of a worker together, or with the `owner` the edge of a command."""
    settings = dependencies.settings
    keys = _node_keys(dependencies)
    issue_log = BatchedIssueLog(dependencies.database, count_refused, count_lost)
    log = DirectoryLogStore(dependencies.replica, dependencies.invalidation)
    key_fetches = BatchedKeyFetches(dependencies.database, log.current)

    credentials, signer, notices = _token_sources(dependencies, keys)
    entities = _entity_authenticator(dependencies, credentials, issue_log)
    terms, node = token_terms(settings), _node_state(dependencies)
    push_limits = _push_limits(dependencies)
    proof_rate = KeyedRateLimit(settings.proof_rate.steady, settings.proof_rate.burst, monotonic)
    guard = ProofGuard(dependencies.transaction, dependencies.clock, proof_rate)
    by_secret = EntityTokenIssuer(entities, signer, issue_log, terms, fresh_id)
    by_assertion = _assertion_issuer(dependencies, entities, signer, guard)
    http = HttpDependencies(
        settings=settings,
        languages=dependencies.languages,
        shown_settings=shown_settings(settings),
        clock=dependencies.clock,
        transaction=dependencies.transaction,
        reads=dependencies.reads,
        has_replica=dependencies.has_replica,
        on_new_states=lambda listener: dependencies.invalidation.on_change(
            lambda key: listener() if key in {FIP_STATES_CHANGED, "*"} else None
        ),
        entity_tokens=by_secret,
        assertion_tokens=by_assertion,
        bound_tokens=BoundTokenIssuer(by_secret, by_assertion, guard),
        user_tokens=UserTokenIssuer(keys, terms, dependencies.clock, fresh_id),
        bearer=BearerAuthenticator(
            signer,
            VerifiedTokenCache(terms, signer.find_key, dependencies.clock, signer.issuer_of),
            credentials,
            RevokedTokens(dependencies.database, dependencies.invalidation),
            dependencies.clock,
            guard,
        ),
        signer=signer,
        key_fetches=key_fetches,
        revocation_lists=_revocation_lists(dependencies, keys),
        directory=DirectoryReads(log=log, listings=_signed_listings(keys)),
        push_limits=push_limits,
        prepare_check=dependencies.prepare_check,
        print_pdf=dependencies.print_pdf,
        check_push=PushChecker(dependencies.clock, push_limits).check,
        hasher=Argon2Passwords(dependencies.encryption.password_pepper, settings.argon2_memory_mib),
        passkeys=PasskeyVerifier(relying_party(settings.issuer)),
        provider=_provider(dependencies),
        random_bytes=secrets.token_bytes,
        new_id=fresh_id,
        owner=owner,
        node=node,
        time_machine=dependencies.time_machine if settings.sandbox else None,
        notices=notices,
    )
    return Edge(dependencies, http, node, keys, issue_log, key_fetches)


def _assertion_issuer(
    dependencies: Dependencies, entities: EntityAuthenticator, signer: Signer, guard: ProofGuard
) -> AssertionTokenIssuer:
    audiences = oauth.assertion_audiences(dependencies.settings)
    authenticator = AssertionAuthenticator(entities, dependencies.transaction, audiences)
    terms = token_terms(dependencies.settings)
    return AssertionTokenIssuer(authenticator, signer, terms, fresh_id, guard)


def _token_sources(
    dependencies: Dependencies, keys: NodeKeys
) -> tuple[CredentialSource, Signer, Callable[[str], Sequence[SandboxNotice]]]:
    """Return credentials and signer; a sandbox shows them as its faults do, and says so."""
    settings, database = dependencies.settings, dependencies.database
    encryption, invalidation = dependencies.encryption, dependencies.invalidation
    credentials = Credentials(
        database, dependencies.invalidation, network_enforces=settings.addresses_enforced
    )
    if not settings.sandbox:
        return credentials, keys, no_notices
    from mudra.demo.faults.fault_board import (  # noqa: PLC0415  # the sandbox's alone
        FaultBoard,
        FaultyCredentials,
        FaultySigner,
    )

    header = settings.token_type_header
    board = FaultBoard(database, encryption, invalidation, dependencies.clock, header)
    return FaultyCredentials(credentials, board), FaultySigner(keys, board), board.notices


def _node_state(dependencies: Dependencies) -> NodeState:
    return NodeState(
        dependencies.database,
        dependencies.clock_watch,
        dependencies.encryption.keyring,
    )


def _provider(dependencies: Dependencies) -> IdentityProvider | None:
    settings = dependencies.settings
    terms = settings.sign_on_terms
    if terms is None:
        return None
    assert settings.sso_client_secret is not None, "sign_in_fault() refuses this"
    from mudra.openid.provider import OpenIdProvider  # noqa: PLC0415  # loads an HTTP client

    return OpenIdProvider(
        terms,
        settings.sso_client_secret,
        dependencies.clock.machine,
        settings.sso_request_scopes,
    )


def _entity_authenticator(
    dependencies: Dependencies, credentials: CredentialSource, issue_log: BatchedIssueLog
) -> EntityAuthenticator:
    settings = dependencies.settings
    return EntityAuthenticator(
        credentials,
        KeyedRateLimit(
            settings.entity_token_rate.steady, settings.entity_token_rate.burst, monotonic
        ),
        dependencies.encryption.secret_mac,
        issue_log,
        dependencies.clock,
    )


def _node_keys(dependencies: Dependencies) -> NodeKeys:
    return NodeKeys(
        dependencies.database,
        dependencies.invalidation,
        dependencies.clock,
        dependencies.settings.token_type_header,
    )


def _revocation_lists(dependencies: Dependencies, keys: NodeKeys) -> RevocationLists:
    return RevocationLists(
        dependencies.database,
        dependencies.invalidation,
        keys,
        dependencies.settings.issuer,
    )


def _signed_listings(keys: NodeKeys) -> SignedListings:
    return SignedListings(
        lambda body: keys.sign_detached(TokenKind.ENTITY, body),
        lambda: keys.signing_kid(TokenKind.ENTITY),
    )


def _push_limits(dependencies: Dependencies) -> PushLimits:
    allowed = dependencies.settings.metrics_push_rate

    def limit(rate: int, burst: int) -> KeyedRateLimit:
        return KeyedRateLimit(rate / _PUSH_RATE_S, burst, dependencies.clock.monotonic)

    whole = limit(of_all(allowed.steady), of_all(allowed.burst))
    of_one = limit(allowed.steady, allowed.burst)
    return PushLimits(of_one, whole, random.randint, upload_places())


def token_terms(settings: Settings) -> TokenTerms:
    """Return what all tokens of this service have in common."""
    return TokenTerms(settings.issuer, settings.token_audience, settings.token_type_header)
