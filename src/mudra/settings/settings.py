"""All settings of a node in one frozen object, composed of one struct per area."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from mudra.identity.second_factor.policy import FactorRoles
from mudra.overview.administration import Source
from mudra.settings import parse
from mudra.settings.health import HealthSettings
from mudra.settings.mail import MailSettings
from mudra.settings.registry import RegistrySettings
from mudra.settings.service import ServiceSettings
from mudra.settings.setting import setting
from mudra.settings.sign_in import SignInSettings
from mudra.settings.storage import StorageSettings
from mudra.settings.tokens import TokenSettings
from mudra.settings.tracing import TracingSettings


@dataclass(frozen=True, kw_only=True)
class Settings(
    # Bottom up, the order of the reference.
    TokenSettings,
    MailSettings,
    HealthSettings,
    RegistrySettings,
    ServiceSettings,
    TracingSettings,
    SignInSettings,
    StorageSettings,
):
    """Everything that an operator can set. Times are in the unit that the name says."""

    # fmt: off
    log_level: str = setting("LOG_LEVEL", "info", parse.choice("debug", "info", "warning", "error"),
        "debug, info, warning or error",
        "least weight that is logged")
    sandbox: bool = setting("SANDBOX", False, parse.flag, "true or false",
        "loopback only, development mailbox, time machine")
    # fmt: on

    sources: Mapping[str, Source] = field(default_factory=dict, compare=False, repr=False)
    """Where each setting that is not at its default came from."""

    rehearsal: bool = False
    """Whether the database was restored for a look: then nothing may reach anyone. No setting."""

    @property
    def issuer(self) -> str:
        """`{base_url}` of the specification: the issuer of tokens and root of token endpoints."""
        return self.base_url or f"http://{_bracketed(self.host)}:{self.port}/iam"

    @property
    def telemetry_dir(self) -> Path:
        """Return where the processes of a node keep what `/metrics` shows."""
        return self.data_dir / "telemetry"

    @property
    def pause_s(self) -> float:
        """Return how long a stop waits: in the sandbox there is no proxy in front."""
        return 0 if self.sandbox else self.stop_pause_s

    @property
    def one_operator_decides(self) -> bool:
        """Return whether an operator may approve what the same one submitted to the registry."""
        chosen = self.registry_one_operator
        return self.sandbox if chosen is None else chosen

    @property
    def public_origins(self) -> tuple[str, ...]:
        """Return under which origins members call this service: that of the issuer first."""
        public = urlsplit(self.issuer)
        return f"{public.scheme}://{public.netloc}", *self.public_origins_also

    @property
    def addresses_enforced(self) -> bool:
        """Return whether entities' credentials are bound to their listed addresses by default."""
        return self.address_binding == "enforce"

    @property
    def factor_roles(self) -> FactorRoles:
        """Return whose sign-in to the console needs a second factor."""
        default = FactorRoles.NONE if self.sandbox else FactorRoles.OPERATORS
        return FactorRoles(self.second_factor or default)

    @property
    def token_prefix(self) -> str:
        """Path of `{base_url}`, under which the token endpoints are mounted."""
        return urlsplit(self.issuer).path.rstrip("/")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
