"""The parts that the HTTP edge works with; wiring.py fills it."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from time import monotonic
from typing import Final, Protocol, TypeAlias

from litestar.params import SkipValidation
from msgspec import Struct, field

from mudra.http.request.push_check import CheckPush
from mudra.identity.accounts.password_hasher import PasswordHasher
from mudra.identity.operators.operator import Operator
from mudra.identity.passkeys.passkey_verifier import PasskeyVerifier
from mudra.identity.single_sign_on.ports import IdentityProvider
from mudra.levels.printing.pdf import PrintPdf
from mudra.localization.languages import Languages
from mudra.metrics.payload.push_limits import PushLimits
from mudra.overview.administration import SettingDetails
from mudra.registry.directory.signed_listings import DirectoryReads
from mudra.registry.payload.refusals import CALLS_AT_ONCE, CALLS_PER_SECOND
from mudra.settings.settings import Settings
from mudra.shared.unavailable import ServiceUnavailable
from mudra.shared.waiting.fair_queue import Patience, Queue
from mudra.shared.waiting.made_once import MadeOnce
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.storage.database.transaction import OpenTransaction
from mudra.tokens.authentication.bearer import BearerAuthenticator
from mudra.tokens.issuing.issue_bound_token import BoundTokenIssuer
from mudra.tokens.issuing.issue_by_assertion import AssertionTokenIssuer
from mudra.tokens.issuing.issue_entity_token import EntityTokenIssuer
from mudra.tokens.issuing.issue_user_token import UserTokenIssuer
from mudra.tokens.ports import Signer
from mudra.tokens.revocation.node_revocations import RevocationLists
from mudra.tokens.signing_keys.key_fetch_store import BatchedKeyFetches

Network = IPv4Network | IPv6Network


class TimeMachine(Protocol):
    """The sandbox's clock."""

    async def advance(self, by: timedelta) -> datetime:
        """Move the service's clock forward on all nodes; returns the new time."""


class Readiness(Struct, frozen=True):
    """The answer whether a load balancer may send requests here."""

    outage: ServiceUnavailable | None = None
    """Why it should choose another node."""
    impairment: ServiceUnavailable | None = None
    """What this node cannot do although it is ready: no other node could do it either."""


class NodeState(Protocol):
    """The state that may keep this process from answering."""

    @property
    def stopping(self) -> bool:
        """Return whether this process ends soon: what lasts must end now."""

    def out_of_service(self) -> ServiceUnavailable | None:
        """Return why no request may be answered; asks memory alone."""

    async def readiness(self) -> Readiness:
        """Return what this process can do now; asks the databases too."""


MAX_PARTS: Final = 24
"""Tables of few rows are some 10 KB each; those of all FIPs are large ones."""


def new_page_turns() -> Queue:
    """Return the turns of a worker's pages: a crowd waits longer than a flood (decision 0010)."""
    return Queue(4, 10.0, patience=Patience(wait_s=30.0, per_key=64, in_all=256))


class SandboxNotice(Struct, frozen=True):
    """A sandbox does not answer an entity as the service would: its pages say so."""

    entity_id: str
    kind: str
    ends_at: datetime


def no_notices(_: str) -> Sequence[SandboxNotice]:
    """Return the notices of a service that is no sandbox."""
    return ()


def _registry_rate() -> KeyedRateLimit:
    return KeyedRateLimit(CALLS_PER_SECOND, CALLS_AT_ONCE, monotonic)


class HttpDependencies(Struct, frozen=True, kw_only=True):
    """Everything that handlers need."""

    settings: Settings
    languages: Languages
    shown_settings: Sequence[SettingDetails]
    clock: Callable[[], datetime]
    transaction: OpenTransaction
    reads: OpenTransaction
    """Opens one for reads alone, which a replica may serve; never older than the request."""
    has_replica: bool
    on_new_states: Callable[[Callable[[], None]], None]
    """Has a function called whenever the states of FIPs in the feed may have changed."""
    entity_tokens: EntityTokenIssuer
    assertion_tokens: AssertionTokenIssuer
    bound_tokens: BoundTokenIssuer
    user_tokens: UserTokenIssuer
    bearer: BearerAuthenticator
    signer: Signer
    key_fetches: BatchedKeyFetches
    revocation_lists: RevocationLists
    push_limits: PushLimits
    prepare_check: Callable[[str], Awaitable[None]]
    """Readies the check of registry payloads for a caller, who is authenticated and has a turn.

    Before a transaction is opened for the check.
    """
    check_push: CheckPush
    print_pdf: PrintPdf
    directory: DirectoryReads
    hasher: PasswordHasher
    passkeys: PasskeyVerifier
    provider: IdentityProvider | None
    """By which operators sign in, None where there is none."""
    random_bytes: Callable[[int], bytes]
    new_id: Callable[[], str]
    node: NodeState
    time_machine: TimeMachine | None
    owner: Operator | None = None
    """Who makes every call: the owner of this machine, in the process of a command.

    None in a process that listens.
    """
    notices: Callable[[str], Sequence[SandboxNotice]] = no_notices
    """Returns what pages of an entity warn of, or those of an operator for an empty ID."""
    reset_turns: Queue = field(default_factory=lambda: Queue(per_key=1))
    """One for each entity, without a connection: a hundred resets of one would hold them all."""
    revoke_turns: Queue = field(default_factory=lambda: Queue(per_key=1))
    registry_rate: KeyedRateLimit = field(default_factory=_registry_rate)
    """Writes to the registry, by caller in this process."""
    check_rate: KeyedRateLimit = field(default_factory=_registry_rate)
    """Payloads that are checked and not stored, by caller in this process."""
    user_rate: KeyedRateLimit = field(default_factory=lambda: KeyedRateLimit(20, 300, monotonic))
    """Calls with a User Access Token, by user in this process."""
    link_rate: KeyedRateLimit = field(default_factory=lambda: KeyedRateLimit(1 / 60, 30, monotonic))
    """Requests for a link to set a password, by network address (IPv6 by /64) in this process."""
    registry_turns: Queue = field(default_factory=lambda: Queue(3, 10.0, per_key=1))
    page_turns: Queue = field(default_factory=new_page_turns)
    page_parts: MadeOnce = field(default_factory=lambda: MadeOnce(monotonic, max_small=MAX_PARTS))
    """What pages of health made for all their readers."""
    sign_in_turns: Queue = field(default_factory=lambda: Queue(2, 2.0))


InjectedDependencies: TypeAlias = SkipValidation[HttpDependencies]
"""The type by which a handler asks for its dependencies."""
