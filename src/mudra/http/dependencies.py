"""What the HTTP edge is given to work with; wiring.py fills it."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from time import monotonic
from typing import Final, Protocol, TypeAlias

from litestar.params import SkipValidation
from msgspec import Struct, field

from mudra.http.request.push_check import CheckPush
from mudra.http.server.concurrency import Bulkhead, KeyedLock
from mudra.identity.operators.operator import Operator
from mudra.identity.passkeys.ports import PasskeyVerifier
from mudra.identity.ports import PasswordHasher
from mudra.identity.second_factor.policy import FactorRoles, TokenFactor
from mudra.identity.single_sign_on.ports import IdentityProvider
from mudra.localization.languages import Languages
from mudra.metrics.payload.push_limits import PushLimits
from mudra.overview.administration import SettingDetails
from mudra.registry.directory.signed_listings import DirectoryReads
from mudra.shared.fair_turns import FairTurns, Patience
from mudra.shared.rate_limit import KeyedRateLimit
from mudra.shared.secret_text import SecretText
from mudra.shared.shared_values import SharedValues
from mudra.shared.unavailable import ServiceUnavailable
from mudra.tokens.authentication.bearer import BearerAuthenticator
from mudra.tokens.faults.ports import FaultBoard, FaultKeys
from mudra.tokens.issuing.issue_bound_token import BoundTokenIssuer
from mudra.tokens.issuing.issue_by_assertion import AssertionTokenIssuer
from mudra.tokens.issuing.issue_entity_token import EntityTokenIssuer
from mudra.tokens.issuing.issue_user_token import UserTokenIssuer
from mudra.tokens.ports import KeyFetchLog, RevocationLists, Signer
from mudra.unit_of_work import OpenUnitOfWork

Network = IPv4Network | IPv6Network


class HttpSettings(Protocol):
    """The settings that the HTTP edge and the console read."""

    @property
    def issuer(self) -> str:
        """Issuer of tokens and root of the token endpoints."""

    @property
    def public_origins(self) -> Sequence[str]:
        """Return under which origins members call this service: that of the issuer first."""

    @property
    def token_prefix(self) -> str:
        """Path of the issuer."""

    @property
    def realm_paths(self) -> Sequence[str]:
        """Paths of earlier realms, at which keys and tokens can be had too."""

    @property
    def registry_prefixes(self) -> Sequence[str]:
        """Paths of the registry."""

    @property
    def registry_open(self) -> bool:
        """Return whether every entity sees every live entry."""

    @property
    def registry_published_responses(self) -> bool:
        """Return whether the registry answers in the form that the network published."""

    @property
    def one_operator_decides(self) -> bool:
        """Return whether an operator may approve what the same one submitted to the registry."""

    @property
    def metrics_prefixes(self) -> Sequence[str]:
        """Paths of the metrics push."""

    @property
    def sign_in_hourly(self) -> int:
        """Return how often one account may sign in within an hour."""

    @property
    def operator_local_sign_in(self) -> bool:
        """Return whether operators may sign in without the provider."""

    @property
    def factor_roles(self) -> FactorRoles:
        """Return whose sign-in needs a second factor."""

    @property
    def factor_for_tokens(self) -> TokenFactor:
        """Return what `user/token/generate` asks of people with a second factor."""

    @property
    def step_up(self) -> timedelta:
        """Return for how long a typed password or code is proof enough for a serious act."""

    @property
    def trusted_proxies(self) -> Sequence[Network]:
        """Proxies whose `X-Forwarded-For` is trusted."""

    @property
    def network_name(self) -> str:
        """The name of the network in pages and emails."""

    @property
    def status_license(self) -> str:
        """Address of the license of the public status' data."""

    @property
    def contact(self) -> str:
        """Whom members may ask, such as an address; empty for none."""

    @property
    def health_runbook(self) -> str:
        """Address of the runbook of incidents, with {kind} in it; empty for none."""

    @property
    def sandbox(self) -> bool:
        """Return whether this is a sandbox."""

    @property
    def smtp_url(self) -> SecretText | None:
        """The mail server, None when emails stay in the development mailbox."""


class TimeMachine(Protocol):
    """The sandbox's clock."""

    async def advance(self, by: timedelta) -> datetime:
        """Move the service's clock forward on all nodes; returns the new time."""


class Readiness(Struct, frozen=True):
    """Whether a load balancer may send requests here."""

    outage: ServiceUnavailable | None = None
    """Why it should choose another node."""
    impairment: ServiceUnavailable | None = None
    """What this node cannot do although it is ready: no other node could do it either."""


class NodeState(Protocol):
    """What may keep this process from answering."""

    @property
    def stopping(self) -> bool:
        """Return whether this process ends soon: what lasts must end now."""

    def out_of_service(self) -> ServiceUnavailable | None:
        """Return why no request may be answered; asks memory alone."""

    async def readiness(self) -> Readiness:
        """Return what this process can do now; asks the databases too."""


MAX_PARTS: Final = 24
"""Tables are some 10 KB each; a matrix of 30 AAs and 300 FIPs is 3 MB."""


def new_page_turns() -> FairTurns:
    """Return the turns of a worker's pages: a crowd waits longer than a flood (decision 0010)."""
    return FairTurns(4, 4, 10.0, Patience(wait_s=30.0, per_key=64, in_all=256))


class HttpDependencies(Struct, frozen=True, kw_only=True):
    """All that handlers need."""

    settings: HttpSettings
    languages: Languages
    shown_settings: Sequence[SettingDetails]
    clock: Callable[[], datetime]
    unit_of_work: OpenUnitOfWork
    reads: OpenUnitOfWork
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
    key_fetches: KeyFetchLog
    revocation_lists: RevocationLists
    push_limits: PushLimits
    prepare_check: Callable[[str], Awaitable[None]]
    """Readies the check of registry payloads for a caller, who is authenticated and has a turn.

    Before a transaction is opened for the check.
    """
    check_push: CheckPush
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
    faults: FaultBoard | None = None
    """The faults of a sandbox; None anywhere else."""
    fault_keys: FaultKeys | None = None
    reset_turns: KeyedLock = field(default_factory=KeyedLock)
    revoke_turns: KeyedLock = field(default_factory=KeyedLock)
    registry_rate: KeyedRateLimit = field(default_factory=lambda: KeyedRateLimit(2, 300, monotonic))
    link_rate: KeyedRateLimit = field(default_factory=lambda: KeyedRateLimit(1 / 60, 30, monotonic))
    """Requests for a link to set a password, by network address (IPv6 by /64) in this process."""
    registry_turns: FairTurns = field(default_factory=lambda: FairTurns(8, 1, 10.0))
    page_turns: FairTurns = field(default_factory=new_page_turns)
    page_parts: SharedValues = field(
        default_factory=lambda: SharedValues(monotonic, max_small=MAX_PARTS)
    )
    """What pages of health made for all their readers."""
    sign_in_turns: Bulkhead = field(default_factory=lambda: Bulkhead(most=2, wait_s=2.0))


InjectedDependencies: TypeAlias = SkipValidation[HttpDependencies]
"""How a handler asks for the service."""
