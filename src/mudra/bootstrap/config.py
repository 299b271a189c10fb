"""Settings: one frozen object, built once, every value checked at start.

A setting comes from the command line, else from the environment, else from its
default. `REFERENCE` lists them all; the reference page and `mudra config` are
made from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from mudra.bootstrap.config_sign_in import sign_in_fault
from mudra.bootstrap.config_tracing import TracingSettings, tracing_fault
from mudra.bootstrap.setting import Setting
from mudra.bootstrap.setting import setting as _setting
from mudra.bootstrap.setting_parsers import Network
from mudra.bootstrap.setting_parsers import addresses as _addresses
from mudra.bootstrap.setting_parsers import choice as _choice
from mudra.bootstrap.setting_parsers import flag as _flag
from mudra.bootstrap.setting_parsers import key_size as _key_size
from mudra.bootstrap.setting_parsers import language as _language
from mudra.bootstrap.setting_parsers import networks as _networks
from mudra.bootstrap.setting_parsers import origins as _origins
from mudra.bootstrap.setting_parsers import paths as _paths
from mudra.bootstrap.setting_parsers import port as _port
from mudra.bootstrap.setting_parsers import text as _text
from mudra.bootstrap.setting_parsers import url as _url
from mudra.bootstrap.setting_parsers import whole as _whole
from mudra.identity.second_factor.policy import FactorRoles
from mudra.overview.administration import Source
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretText


class ConfigError(Exception):
    """A setting is wrong: the text names it, what is allowed and where it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(TracingSettings):
    """Everything that an operator can set. Times are in the unit that the name says."""

    host: str = _setting("HOST", "127.0.0.1", _text, "a name or address", "where to listen")
    port: int = _setting("PORT", 8080, _port, "a port 0 to 65535", "port to listen on")
    base_url: str = _setting(
        "BASE_URL",
        "",
        _url,
        "an absolute http or https URL without query",
        "public address of the token service, the issuer of its tokens; "
        "http://HOST:PORT/iam when not set",
    )
    plain_http: bool = _setting(
        "PLAIN_HTTP",
        False,
        _flag,
        "true or false",
        "start although the public address is http on a name or address that others reach",
    )
    workers: int = _setting("WORKERS", 1, _whole(1, 64), "1 to 64", "processes that serve HTTP")
    stop_pause_s: int = _setting(
        "STOP_PAUSE_S",
        5,
        _whole(0, 300),
        "0 to 300",
        "seconds after SIGTERM in which requests are still answered, with Connection: close and a "
        "red /readyz, so that proxies choose another node; 0 in the sandbox",
    )
    telemetry_host: str = _setting(
        "TELEMETRY_HOST", "127.0.0.1", _text, "a name or address", "where /metrics listens"
    )
    telemetry_port: int | None = _setting(
        "TELEMETRY_PORT",
        None,
        _port,
        "a port 0 to 65535",
        "port of the Prometheus figures at /metrics; 9464, or a free one when that is taken",
    )
    realm_paths: tuple[str, ...] = _setting(
        "REALM_PATHS",
        (),
        _paths,
        "paths, separated by commas, such as /auth/realms/NAME",
        "where an earlier identity server had its realm: keys and token endpoint answer below "
        "them too, at /protocol/openid-connect/certs and /protocol/openid-connect/token",
    )
    registry_prefixes: tuple[str, ...] = _setting(
        "REGISTRY_PREFIXES", ("/cr/v2",), _paths, "paths, separated by commas", "registry addresses"
    )
    registry_open: bool = _setting(
        "REGISTRY_OPEN",
        False,
        _flag,
        "true or false",
        "every entity sees every live entry of the registry",
    )
    registry_published_responses: bool = _setting(
        "REGISTRY_PUBLISHED_RESPONSES",
        False,
        _flag,
        "true or false",
        "writes and refusals of the registry have `responseCode` as a number and the network's "
        "published `responseText`",
    )
    registry_one_operator: bool | None = _setting(
        "REGISTRY_ONE_OPERATOR",
        None,
        _flag,
        "true or false",
        "one operator may approve the keys and addresses that the same one submitted; "
        "true in the sandbox when not set, else false",
    )
    registry_writes_per_hour: int = _setting(
        "REGISTRY_WRITES_PER_HOUR",
        30,
        _whole(1, 100000),
        "1 to 100000",
        "submissions, updates and retirements of one requester in any hour, over all nodes",
    )
    metrics_prefixes: tuple[str, ...] = _setting(
        "METRICS_PREFIXES",
        ("/metrics/perf/v1", "/sla-inputs/aa/v1"),
        _paths,
        "paths, separated by commas",
        "addresses of the metrics push",
    )
    metrics_push_rate: int = _setting(
        "METRICS_PUSH_RATE",
        12,
        _whole(1, 100000),
        "1 to 100000",
        "payloads of one AA and tag in 10 minutes",
    )
    metrics_push_burst: int = _setting(
        "METRICS_PUSH_BURST",
        450,
        _whole(1, 100000),
        "1 to 100000",
        "payloads at once above METRICS_PUSH_RATE, for an agent that catches up",
    )
    metrics_push_blocks: int = _setting(
        "METRICS_PUSH_BLOCKS",
        5000,
        _whole(1, 20000),
        "1 to 20000",
        "blocks in a payload, one for each FIP",
    )
    metrics_push_unknown_fips: int = _setting(
        "METRICS_PUSH_UNKNOWN_FIPS", 1000, _whole(0, 100000), "0 to 100000",
        "FIPs in a payload that are not in the registry; they are kept, but never published",
    )  # fmt: skip
    webhook_networks: tuple[Network, ...] = _setting(
        "WEBHOOK_NETWORKS", (), _networks, "networks in CIDR form, separated by commas",
        "private networks that webhooks may reach, besides public addresses",
    )  # fmt: skip
    health_escalation_minutes: int = _setting(
        "HEALTH_ESCALATION_MINUTES", 30, _whole(5, 1440), "5 to 1440",
        "an open incident that no one has acknowledged for so long is escalated",
    )  # fmt: skip  # one line for what is the same in all settings
    health_escalation_to: tuple[str, ...] = _setting(
        "HEALTH_ESCALATION_TO", (), _addresses, "email addresses, separated by commas",
        "who hears of incidents that no one has acknowledged; by default operators",
    )  # fmt: skip
    health_storm_alarms: int = _setting(
        "HEALTH_STORM_ALARMS", 5, _whole(1, 1000), "1 to 1000",
        "more alarms than so many for one reader are a storm: one email lists them all",
    )  # fmt: skip
    health_storm_minutes: int = _setting(
        "HEALTH_STORM_MINUTES", 10, _whole(1, 240), "1 to 240",
        "within how many minutes; a storm that continues has one email in each of them",
    )  # fmt: skip
    health_runbook: str = _setting(
        "HEALTH_RUNBOOK", "", _url, "an http or https URL, with {kind} in its path",
        "runbook that each incident leads to; {kind} is fip, fip-api, aa-calls, aa-api, "
        "aa-reporting, path or network",
    )  # fmt: skip
    smtp_url: SecretText | None = _setting(
        "SMTP_URL", None, SecretText, "smtp://user:password@host:587 or smtps://…",
        "mail server; without one, mails stay in the development mailbox", secret=True,
    )  # fmt: skip
    mail_from: str = _setting(
        "MAIL_FROM", "mudra@localhost", _text, "an e-mail address", "sender of mails"
    )
    mail_templates: Path | None = _setting(
        "MAIL_TEMPLATES",
        None,
        Path,
        "a directory",
        "own email templates, by the names of ours; ours are used for those it lacks",
    )
    contact: str = _setting(
        "CONTACT", "", _text, "a text", "whom recipients of emails may ask, such as an address"
    )
    network_name: str = _setting(
        "NETWORK_NAME", "Account Aggregator Network", _text, "a name", "how mails and pages call it"
    )
    status_license: str = _setting(
        "STATUS_LICENSE", "https://creativecommons.org/licenses/by/4.0/", _url,
        "an http or https URL", "license under which others may use the data of the public status",
    )  # fmt: skip
    language: str = _setting(
        "LANGUAGE", "en", _language, "a tag such as en, en-IN or hi",
        "language of public pages, sign-in and emails for those who have chosen none; the rest "
        "of the console, the command line and errors of the API are in English",
    )  # fmt: skip
    locales_dir: Path | None = _setting(
        "LOCALES_DIR", None, Path, "a directory",
        "catalogues (gettext) that add languages or replace single messages, such as ta.po",
    )  # fmt: skip
    trusted_proxies: tuple[Network, ...] = _setting(
        "TRUSTED_PROXIES",
        (),
        _networks,
        "networks in CIDR form, separated by commas",
        "proxies with a trusted X-Forwarded-For",
    )
    address_binding: str = _setting(
        "ADDRESS_BINDING", "watch", _choice("watch", "enforce"), "watch or enforce",
        "what is done with a right entity secret or client assertion from an address that the "
        "entity's registry entry does not list; entities that list none are never concerned",
    )  # fmt: skip
    token_audience: str = _setting(
        "TOKEN_AUDIENCE", "account-aggregator-network", _text, "a text", "aud of entity tokens"
    )
    public_origins_also: tuple[str, ...] = _setting(
        "PUBLIC_ORIGINS", (), _origins, "origins such as https://registry.example.org, with commas",
        "further origins under which members call this service, besides that of BASE_URL: a DPoP "
        "proof must be made for one of them",
    )  # fmt: skip
    token_type_header: str = _setting(
        "TOKEN_TYP", "JWT", _choice("JWT", "at+jwt"), "JWT or at+jwt", "typ header of tokens"
    )
    signing_key_bits: int = _setting(
        "SIGNING_KEY_BITS", 2048, _key_size, "2048, 3072 or 4096", "size of new signing keys"
    )
    key_rotation_days: int = _setting(
        "KEY_ROTATION_DAYS", 30, _whole(1, 365), "1 to 365", "how long a key signs"
    )
    entity_token_rate: int = _setting(
        "ENTITY_TOKEN_RATE",
        20,
        _whole(1, 100000),
        "1 to 100000",
        "tokens in a second of one entity from one address",
    )
    entity_token_burst: int = _setting(
        "ENTITY_TOKEN_BURST", 200, _whole(1, 100000), "1 to 100000", "tokens at once above the rate"
    )
    proof_rate: int = _setting(
        "PROOF_RATE",
        20,
        _whole(1, 100000),
        "1 to 100000",
        "DPoP proofs in a second that one worker accepts of one entity",
    )
    proof_burst: int = _setting(
        "PROOF_BURST", 200, _whole(1, 100000), "1 to 100000", "proofs at once above the rate"
    )
    argon2_memory_mib: int = _setting(
        "ARGON2_MEMORY_MIB", 64, _whole(19, 1024), "19 to 1024", "memory of one password hash, MiB"
    )
    log_level: str = _setting(
        "LOG_LEVEL",
        "info",
        _choice("debug", "info", "warning", "error"),
        "debug, info, warning or error",
        "least weight that is logged",
    )
    sandbox: bool = _setting(
        "SANDBOX",
        False,
        _flag,
        "true or false",
        "loopback only, development mailbox, time machine",
    )

    sources: Mapping[str, Source] = dataclass_field(default_factory=dict, compare=False, repr=False)
    """Where each setting that is not at its default came from."""

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


REFERENCE: Final[Mapping[str, Setting]] = {
    f.name: cast("Setting", f.metadata["setting"]) for f in fields(Settings) if f.metadata
}


def load_settings(
    environment: Mapping[str, str], overrides: Mapping[str, object] | None = None
) -> Settings:
    """Build the settings from the environment, with command-line values on top.

    Raises ConfigError with one clear line for the first wrong value.
    """
    values: dict[str, object] = {}
    for name, setting in REFERENCE.items():
        raw = environment.get(setting.env)
        if raw is None or raw == "":
            continue
        try:
            values[name] = setting.parse(raw)
        except (ValueError, KeyError):
            shown = "the value given" if setting.secret else repr(raw[:80])
            raise ConfigError(f"{setting.env} must be {setting.allowed}, not {shown}") from None
    given = {k: v for k, v in (overrides or {}).items() if v is not None}
    sources = dict.fromkeys(values, Source.ENVIRONMENT) | dict.fromkeys(given, Source.COMMAND_LINE)
    values.update(given, sources=sources)
    settings = Settings(**values)  # type: ignore[arg-type]  # each value came from its own parser
    check_together(settings)
    return settings


def check_together(settings: Settings) -> None:
    """Raise ConfigError for settings that do not fit each other."""
    fault = sign_in_fault(settings) or tracing_fault(settings)
    if fault:
        raise ConfigError(fault)
    if settings.sandbox and not is_loopback(settings.host):
        raise ConfigError(
            f"MUDRA_HOST must be a loopback address in the sandbox, not {settings.host!r}: "
            "its mailbox and time machine are open to anyone who can reach it"
        )
    public = urlsplit(settings.issuer)
    if (
        public.scheme == "http"
        and not is_loopback(public.hostname or "")
        and not settings.plain_http
    ):
        raise ConfigError(
            f"MUDRA_BASE_URL must be https for other machines, not {settings.issuer}: passwords, "
            "secrets and tokens could be read on the way; set it to the address of the proxy that "
            "ends TLS, or MUDRA_PLAIN_HTTP=true for a test network"
        )
