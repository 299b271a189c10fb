"""What the HTTP edge is given to work with; wiring.py fills it."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol, TypeAlias

from litestar.params import SkipValidation
from msgspec import Struct, field

from mudra.audit.event import Caller
from mudra.audit.verdict import AuditVerdict
from mudra.http.server.concurrency import Bulkhead, KeyedLock
from mudra.identity.ports import PasswordHasher
from mudra.metrics.payload.push_limits import PushLimits
from mudra.overview.setting_details import SettingDetails
from mudra.registry.directory.signed_listings import DirectoryReads
from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.bearer import BearerAuthenticator
from mudra.tokens.issuing.issue_entity_token import EntityTokenIssuer
from mudra.tokens.issuing.issue_user_token import UserTokenIssuer
from mudra.tokens.ports import KeyFetchLog, Signer
from mudra.unit_of_work import OpenUnitOfWork

Network = IPv4Network | IPv6Network


class HttpSettings(Protocol):
    """The settings that the HTTP edge and the console read."""

    @property
    def issuer(self) -> str:
        """Issuer of tokens and root of the token endpoints."""

    @property
    def token_prefix(self) -> str:
        """Path of the issuer."""

    @property
    def registry_prefixes(self) -> Sequence[str]:
        """Paths of the registry."""

    @property
    def registry_open(self) -> bool:
        """Whether every entity sees every live entry."""

    @property
    def metrics_prefixes(self) -> Sequence[str]:
        """Paths of the metrics push."""

    @property
    def trusted_proxies(self) -> Sequence[Network]:
        """Proxies whose `X-Forwarded-For` is trusted."""

    @property
    def network_name(self) -> str:
        """The name of the network in pages and emails."""

    @property
    def sandbox(self) -> bool:
        """Whether this is a sandbox."""

    @property
    def smtp_url(self) -> SecretText | None:
        """The mail server, None when emails stay in the development mailbox."""


class TimeMachine(Protocol):
    """The sandbox's clock."""

    async def advance(self, by: timedelta) -> datetime:
        """Move the service's clock forward on all nodes; returns the new time."""


class HttpDependencies(Struct, frozen=True, kw_only=True):
    """All that handlers need."""

    settings: HttpSettings
    shown_settings: Sequence[SettingDetails]
    clock: Callable[[], datetime]
    unit_of_work: OpenUnitOfWork
    entity_tokens: EntityTokenIssuer
    user_tokens: UserTokenIssuer
    bearer: BearerAuthenticator
    signer: Signer
    key_fetches: KeyFetchLog
    verify_audit: Callable[[Caller], Awaitable[AuditVerdict]]
    push_limits: PushLimits
    directory: DirectoryReads
    hasher: PasswordHasher
    random_bytes: Callable[[int], bytes]
    new_id: Callable[[], str]
    database_ready: Callable[[], Awaitable[bool]]
    time_machine: TimeMachine | None
    reset_turns: KeyedLock = field(default_factory=KeyedLock)
    sign_in_turns: Bulkhead = field(default_factory=lambda: Bulkhead(most=2, wait_s=2.0))


InjectedDependencies: TypeAlias = SkipValidation[HttpDependencies]
"""How a handler asks for the service."""
