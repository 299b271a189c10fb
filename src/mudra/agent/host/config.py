"""`agent.toml`: every key is checked, unknown ones are refused with the way out."""

import re
import tomllib
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from mudra.agent.delivery.credentials import Source
from mudra.agent.sources.logs.log_formats import FORMATS, Fields, renamed
from mudra.client.address import checked_url
from mudra.metrics.payload.report import ENTITY_ID
from mudra.shared.text.byte_order_mark import NotUtf8, without_mark

_RENAMED: Final = frozenset(
    {
        "time", "took", "method", "path", "status", "host", "size", "flags", "answered",
        "details", "server", "fip", "session", "statuses",
    }
)  # fmt: skip  # the members of Fields that are names

Listen = Annotated[
    str, Meta(pattern=r"^(unix:/[^\s\0]{1,100}|(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):[0-9]{1,5})\Z")
]
UNIX: Final = "unix:"
HostName = Annotated[str, Meta(pattern=r"^[a-z0-9.-]{1,253}\Z")]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s@]+[^\s@/]\Z")]


class ConfigError(Exception):
    """The configuration cannot be used; the text names the key and what is allowed."""


class OperatorSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The addresses from which the agent gets its token and to which it pushes."""

    token_url: Url
    """`{base_url}` of the token service, without `/v1`."""
    push_url: Url


class CredentialSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The source of entity ID and secret."""

    id: Source
    secret: Source = Source()
    registered: bool = False
    """Whether the AA's application registers the secret (POST /sna/v1/entity/register)."""
    dpop_key: str = ""
    """File of the key that the tokens are bound to; made where there is none. Empty: not bound."""


class HttpSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The HTTP server for events, traces and the agent's own metrics."""

    listen: Annotated[tuple[Listen, ...], Meta(min_length=1)] = ("127.0.0.1:4044",)
    acknowledge: Literal["on-disk", "at-once"] = "on-disk"
    """When an event is answered: once it survives a crash, or earlier."""
    hosts: tuple[HostName, ...] = ()
    """Names under which programs call the agent, besides `localhost` and addresses of numbers."""
    token: Source = Source()
    """What a program must send as a bearer token with events; none when not given."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which programs call it: `hosts`, and those that it listens at."""
        listened = (one.rpartition(":")[0].lower() for one in self.listen if UNIX not in one)
        return (*self.hosts, *listened)


class LogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One followed access log."""

    path: str
    format: Literal["nginx", "envoy", "haproxy", "kong", "apigee"]
    direction: Literal["to-fips", "from-fips"]
    start: Literal["end", "beginning"] = "end"
    """Where to start in a file that the agent has never read."""
    fields: dict[str, str] = {}

    @property
    def names(self) -> Fields:
        """The field names of its lines."""
        return renamed(FORMATS[self.format], self.fields)

    def is_of(self, file: Path) -> bool:
        """Return whether a file is this log or a rotated one, in its folder with a longer name."""
        own, other = Path(self.path).resolve(), file.resolve()
        return own.parent == other.parent and other.name.startswith(own.name)


def log_of(file: Path, logs: Sequence[LogSettings]) -> LogSettings | None:
    """Return the configured log that a file is or was: of several matches the longest name."""
    return max(
        (log for log in logs if log.is_of(file)),
        key=lambda log: len(Path(log.path).name),
        default=None,
    )


class SessionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings by which FI sessions are tracked."""

    keep_hours: Annotated[int, Meta(ge=1, le=168)] = 24
    most: Annotated[int, Meta(ge=1_000, le=1_000_000)] = 100_000


class SpoolSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The bounds of what may wait on the disk."""

    most_megabytes: Annotated[int, Meta(ge=16, le=1_048_576)] = 1_024


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file."""

    aa_id: Annotated[str, Meta(pattern=ENTITY_ID)]
    directory: str
    """Where the spool and the dead letters are."""
    operator: OperatorSettings
    credentials: CredentialSettings
    http: HttpSettings = HttpSettings()
    log: tuple[LogSettings, ...] = ()
    fips: dict[str, Annotated[str, Meta(pattern=ENTITY_ID)]] = {}
    """Host, with or without port, to the FIP's entity ID; for traces and logs."""
    sessions: SessionSettings = SessionSettings()
    spool: SpoolSettings = SpoolSettings()


def read_config(path: Path) -> Config:
    """Return the checked configuration. Raises ConfigError with one clear sentence."""
    try:
        values = tomllib.loads(without_mark(path.read_bytes()).decode())
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}; name it with --config"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, NotUtf8) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    try:
        config = msgspec.convert(values, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {_sentence(str(error))}") from None
    _check(config, path)
    return config


def _check(config: Config, path: Path) -> None:
    """Check what types alone cannot express."""
    try:
        checked_url(config.operator.token_url, allow_http=True)
    except ValueError as error:
        raise ConfigError(f"{path}: operator.token_url: {error}") from None
    if not Path(config.directory).is_absolute():
        raise ConfigError(f"{path}: directory must be an absolute path")
    for listen in config.http.listen:
        if listen.startswith(UNIX):
            continue
        if not 0 <= int(listen.rpartition(":")[2]) <= 65535:  # noqa: PLR2004 - the range of ports
            raise ConfigError(f"{path}: http.listen {listen} must end in a port from 1 to 65535")
    _check_token(config.http.token, path)
    _check_credentials(config.credentials, path)
    _check_logs(config.log, path)


def _check_credentials(credentials: CredentialSettings, path: Path) -> None:
    named = [("id", credentials.id), ("secret", credentials.secret)]
    if credentials.registered:
        if credentials.secret.chosen:
            raise ConfigError(f"{path}: credentials.registered leaves no place for a secret here")
        if credentials.dpop_key:
            raise ConfigError(
                f"{path}: credentials.dpop_key is not for credentials.registered: the application "
                "reads the token, and could not prove the key; let the agent read the secret"
            )
        named = named[:1]
    for name, source in named:
        if len(source.chosen) != 1:
            raise ConfigError(
                f"{path}: credentials.{name} must have exactly one of value, file, env, command, "
                f"not {len(source.chosen)}"
            )
    if credentials.dpop_key and not Path(credentials.dpop_key).is_absolute():
        raise ConfigError(f"{path}: credentials.dpop_key must be an absolute path")
    if credentials.secret.value:
        raise ConfigError(
            f"{path}: credentials.secret must come from file, env or command, not from this "
            "file; put it into a file that only the agent's user may read"
        )


def _check_token(token: Source, path: Path) -> None:
    if token.value or len(token.chosen) > 1:
        raise ConfigError(f"{path}: http.token must have exactly one of file, env, command")


def _check_logs(logs: Sequence[LogSettings], path: Path) -> None:
    for index, log in enumerate(logs):
        if not Path(log.path).is_absolute():
            raise ConfigError(f"{path}: log[{index}].path must be an absolute path")
        for name in log.fields:
            if name not in _RENAMED:
                raise ConfigError(
                    f"{path}: log[{index}].fields.{name} is not a field; "
                    f"allowed are {', '.join(sorted(_RENAMED))}{_nearest(name, _RENAMED)}"
                )
    if len({log.path for log in logs}) != len(logs):
        raise ConfigError(f"{path}: log has a path twice; each file is read once")


def _sentence(error: str) -> str:
    """Return the message of msgspec with the key first, and the nearest key for an unknown one."""
    text, _, path = error.partition(" - at `$.")
    key = path.rstrip("`")
    unknown = text.partition("unknown field `")[2].rstrip("`")
    if unknown:
        full = f"{key}.{unknown}" if key else unknown
        known = _known_keys(key)
        return f"{full} is not a key; allowed are {', '.join(known)}{_nearest(unknown, known)}"
    missing = text.partition("missing required field `")[2].rstrip("`")
    if missing:
        return f"{f'{key}.' if key else ''}{missing} is missing; it has no default"
    allowed = ALLOWED.get(_INDEX.sub("", key).rpartition(".")[2])
    if allowed:
        return f"{key} must be {allowed}"
    return f"{key}: {text[:1].lower()}{text[1:]}" if key else text


def _known_keys(key: str) -> list[str]:
    table = _TABLES.get(_INDEX.sub("", key).rpartition(".")[2], Config)
    return sorted(field.name for field in msgspec.structs.fields(table))


_INDEX: Final = re.compile(r"\[[^]]*\]")
_ENTITY: Final = "an entity ID: 1 to 64 of A-Z a-z 0-9 @ . _ -"
_ADDRESS: Final = "an http or https address without user, password and final slash"
ALLOWED: Final = {  # by the last part of the key
    "aa_id": _ENTITY,
    "fips": f"a table of hosts, each with {_ENTITY}",
    "token_url": _ADDRESS,
    "push_url": _ADDRESS,
    "listen": 'one address or more, such as "127.0.0.1:4044" or "unix:/run/mudra-agent/socket"',
    "hosts": "a list of host names in lower case",
    "acknowledge": "on-disk or at-once",
    "format": "nginx, envoy, haproxy, kong or apigee",
    "direction": "to-fips or from-fips",
    "start": "end or beginning",
    "registered": "true or false",
    "dpop_key": "an absolute path",
    "keep_hours": "a whole number from 1 to 168",
    "most": "a whole number from 1000 to 1000000",
    "most_megabytes": "a whole number from 16 to 1048576",
}

_TABLES: Final[dict[str, type[msgspec.Struct]]] = {
    "operator": OperatorSettings,
    "credentials": CredentialSettings,
    "id": Source,
    "secret": Source,
    "token": Source,
    "http": HttpSettings,
    "log": LogSettings,
    "sessions": SessionSettings,
    "spool": SpoolSettings,
}


def _nearest(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""
