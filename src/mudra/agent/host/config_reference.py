"""The meaning of each key of `agent.toml`. `make docs` fails for a key without a text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import NODEFAULT

from mudra.agent.host.config import (
    ALLOWED,
    Config,
    CredentialSettings,
    HttpSettings,
    LogSettings,
    OperatorSettings,
    SessionSettings,
    SpoolSettings,
)

_SOURCE: Final = "one of `value` (of the ID only), `file`, `env`, `command`"
_TABLES: Final[dict[str, type[msgspec.Struct]]] = {
    "": Config,
    "operator": OperatorSettings,
    "credentials": CredentialSettings,
    "http": HttpSettings,
    "log": LogSettings,
    "sessions": SessionSettings,
    "spool": SpoolSettings,
}
_MEANING: Final = {
    "aa_id": "entity ID of the AA",
    "directory": "where spool and dead letters are stored: an absolute path, of mode 0700",
    "fips": "host, with or without port, to the FIP's entity ID; for traces and logs",
    "operator.token_url": "`{base_url}` of the token service, without `/v1`",
    "operator.push_url": "where the payloads go",
    "credentials.id": f"the entity ID, which `mudra agent check` compares with `aa_id`: {_SOURCE}",
    "credentials.secret": f"its secret, read again when it is refused or will end: {_SOURCE}; "
    "needed unless `credentials.registered`",
    "credentials.registered": "the AA's application registers secret or token at "
    "`POST /sna/v1/entity/register`, and may read a token at `GET /sna/v1/entity/token/generate`",
    "credentials.dpop_key": "file of a P-256 key in PEM, made by the agent where there is none: "
    "tokens are bound to it (DPoP), so that a copy is of no use; not with `credentials.registered`",
    "http.listen": "where events, traces, `/readyz`, `/metrics` and `/status` are served",
    "http.acknowledge": "when an event is answered: once it is on the disk, or at once",
    "http.hosts": "names under which programs call it, besides `localhost` and numeric addresses; "
    "another `Host` is refused (421)",
    "http.token": "what programs must send as a bearer token with events: one of `file`, `env`, "
    "`command`",
    "log.path": "one followed access log (`[[log]]`, any number); an absolute path",
    "log.format": "which server writes it",
    "log.direction": "calls made to FIPs, or notifications received from them",
    "log.start": "where to start in a file never read before",
    "log.fields": 'fields with another name in this log, such as `session = "session_id"`',
    "sessions.keep_hours": "hours after which FI sessions that do not end are dropped, and counted",
    "sessions.most": "FI sessions tracked at a time",
    "spool.most_megabytes": "payloads on the disk; beyond it the oldest are dropped, and counted; "
    "dead letters have a quarter of it more",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One key."""

    key: str
    meaning: str
    allowed: str
    default: str


def rows() -> Iterator[Row]:
    """Return every key of the file, in its order. Raises KeyError for one without a meaning."""
    for table, struct in _TABLES.items():
        for field in msgspec.structs.fields(struct):
            key = f"{table}.{field.name}" if table else field.name
            if field.name in _TABLES and not table:
                continue  # a table of its own
            default = field.default
            if field.default_factory is not NODEFAULT:
                default = field.default_factory()
            text = "" if default is NODEFAULT else _text(default)
            yield Row(key, _MEANING[key], ALLOWED.get(field.name, ""), text)


_NOTHING: Final = frozenset({"[]", "{}", '""'})


def _text(default: object) -> str:
    text = msgspec.json.encode(default).decode()
    return "none" if text in _NOTHING else f"`{text}`"
