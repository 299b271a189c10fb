"""Settings: one frozen object, built once, every value checked at start (quality O5).

A setting comes from the command line, else from the environment, else from its
default. `REFERENCE` lists them all; the reference page and `mudra config` are
made from it.
"""

import difflib
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Final, TypeVar, cast
from urllib.parse import urlsplit

from mudra.overview.setting_details import SettingDetails, Source
from mudra.shared.loopback import is_loopback
from mudra.shared.secret_text import SecretText

T = TypeVar("T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX_PORT: Final = 65535


class ConfigError(Exception):
    """A setting is wrong: the text names it, what is allowed and where it came from."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How one setting is read and explained."""

    env: str
    parse: Callable[[str], object]
    allowed: str
    meaning: str
    secret: bool = False


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError
    return value.strip()


def _port(value: str) -> int:
    number = int(value)
    if not 0 <= number <= _MAX_PORT:
        raise ValueError
    return number


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        number = int(value)
        if not low <= number <= high:
            raise ValueError
        return number

    return parse


def _flag(value: str) -> bool:
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
        value.lower()
    ]


def _url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError
    return value.rstrip("/")


def _networks(value: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part.strip()) for part in value.split(",") if part.strip())


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in allowed:
            raise ValueError
        return value

    return parse


def _key_size(value: str) -> int:
    return int(_choice("2048", "3072", "4096")(value))


def _paths(value: str) -> tuple[str, ...]:
    prefixes = tuple("/" + part.strip().strip("/") for part in value.split(",") if part.strip())
    if not prefixes or "/" in prefixes:
        raise ValueError
    return prefixes


def _setting(  # one call reads as one row of the reference
    env: str,
    default: T,
    parse: Callable[[str], object],
    allowed: str,
    meaning: str,
    *,
    secret: bool = False,
) -> T:
    return dataclass_field(
        default=default,
        metadata={"setting": Setting(f"MUDRA_{env}", parse, allowed, meaning, secret)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an operator can set. Times are in the unit that the name says."""

    host: str = _setting("HOST", "127.0.0.1", _text, "a name or address", "where to listen")
    port: int = _setting("PORT", 8080, _port, "a port 0 to 65535", "port to listen on")
    data_dir: Path = _setting(
        "DATA_DIR", Path("var"), Path, "a directory", "embedded database, master key, logs"
    )
    database_url: SecretText | None = _setting(
        "DATABASE_URL",
        None,
        SecretText,
        "postgresql://user:password@host/database",
        "PostgreSQL 15 or later to use instead of the embedded one",
        secret=True,
    )
    base_url: str = _setting(
        "BASE_URL",
        "",
        _url,
        "an absolute http or https URL without query",
        "public address of the token service, the issuer of its tokens; "
        "http://HOST:PORT/iam when not set",
    )
    workers: int = _setting("WORKERS", 1, _whole(1, 64), "1 to 64", "processes that serve HTTP")
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
        _whole(1, 1000000),
        "1 to 1000000",
        "blocks in a payload, one for each FIP",
    )
    metrics_push_unknown_fips: int = _setting(
        "METRICS_PUSH_UNKNOWN_FIPS",
        1000,
        _whole(0, 100000),
        "0 to 100000",
        "FIPs in a payload that are not in the registry; they are kept, but never published",
    )
    metrics_raw_days: int = _setting(
        "METRICS_RAW_DAYS", 90, _whole(8, 3650), "8 to 3650", "how long single windows are kept"
    )
    metrics_hour_days: int = _setting(
        "METRICS_HOUR_DAYS", 400, _whole(8, 3650), "8 to 3650", "how long sums by hour are kept"
    )
    webhook_networks: tuple[Network, ...] = _setting(
        "WEBHOOK_NETWORKS",
        (),
        _networks,
        "networks in CIDR form, separated by commas",
        "private networks that webhooks may reach, besides public addresses",
    )
    smtp_url: SecretText | None = _setting(
        "SMTP_URL",
        None,
        SecretText,
        "smtp://user:password@host:587 or smtps://…",
        "mail server; without one, mails stay in the development mailbox",
        secret=True,
    )
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
    trusted_proxies: tuple[Network, ...] = _setting(
        "TRUSTED_PROXIES",
        (),
        _networks,
        "networks in CIDR form, separated by commas",
        "proxies with a trusted X-Forwarded-For",
    )
    token_audience: str = _setting(
        "TOKEN_AUDIENCE", "account-aggregator-network", _text, "a text", "aud of entity tokens"
    )
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
    _check_together(settings)
    return settings


def shown_settings(settings: Settings) -> tuple[SettingDetails, ...]:
    """Give every setting in force with where it came from, in the order of the reference."""
    return tuple(
        SettingDetails(
            setting.env,
            _shown(getattr(settings, name), secret=setting.secret),
            settings.sources.get(name, Source.DEFAULT),
            setting.meaning,
            setting.allowed,
        )
        for name, setting in REFERENCE.items()
    )


def _shown(value: object, *, secret: bool) -> str:
    if value is None or value == "":
        return ""
    if secret:
        return "set"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def unknown_names(environment: Mapping[str, str]) -> list[str]:
    """Sentences about `MUDRA_…` variables that no setting reads: most likely typing errors."""
    known = {setting.env for setting in REFERENCE.values()} | OTHER_VARIABLES
    sentences = []
    for name in sorted(environment):
        if name.startswith("MUDRA_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            sentences.append(f"{name} is not a setting of Mudra{hint}")
    return sentences


OTHER_VARIABLES: Final = frozenset(
    {"MUDRA_MASTER_KEY", "MUDRA_MASTER_KEY_COMMAND", "MUDRA_PASSWORD", "MUDRA_CONFIG_DIR"}
)
"""Variables that other files read: key material never enters the settings object."""


def _check_together(settings: Settings) -> None:
    if settings.sandbox and not is_loopback(settings.host):
        raise ConfigError(
            f"MUDRA_HOST must be a loopback address in the sandbox, not {settings.host!r}: "
            "its mailbox and time machine are open to anyone who can reach it"
        )
