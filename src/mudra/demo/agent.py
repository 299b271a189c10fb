"""The agent of one demonstration AA, set up as the AA's operations team would do it.

Its files are in the data directory: `agents/<AA>/agent.toml`, the spool, and the
secret, which an admin reads through the API; only the file's owner can read it.
"""

import json
import socket
from pathlib import Path
from typing import Final

import httpx2
import msgspec
import structlog
from msgspec import Struct

from mudra.agent.clock import MachineClock
from mudra.demo.network import DEMO_NETWORK, DEMO_PASSWORD
from mudra.demo.time_machine import MovableClock
from mudra.settings.settings import Settings

FIRST_PORT: Final = 4044
_OK: Final = 200
_log = structlog.get_logger()


class SandboxClock:
    """The sandbox's time for an agent: both its clocks include the time that was skipped."""

    def __init__(self, clock: MovableClock) -> None:
        self._machine = MachineClock()
        self._clock = clock

    @property
    def boot(self) -> str:
        """The machine's boot with the clock's offset: a moved clock looks like another boot."""
        return f"{self._machine.boot} {self._moved()}"

    def wall(self) -> int:
        """Returns milliseconds since 1970, UTC."""
        return self._machine.wall() + self._moved()

    def monotonic(self) -> int:
        """Returns milliseconds of CLOCK_MONOTONIC plus those that were skipped."""
        return self._machine.monotonic() + self._moved()

    def _moved(self) -> int:
        return int(self._clock.offset.total_seconds() * 1000)


class AgentFiles(Struct, frozen=True):
    """The files of one AA's agent."""

    aa_id: str
    directory: Path

    @property
    def config(self) -> Path:
        """The path of its agent.toml."""
        return self.directory / "agent.toml"

    @property
    def secret(self) -> Path:
        """The path of the file with the entity's secret."""
        return self.directory / "secret"


def set_up(files: AgentFiles, settings: Settings, port: int) -> None:
    """Writes the agent's configuration; the port may differ at every start."""
    files.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    root = service_root(settings)
    # A JSON string is also a valid TOML string, for any path.
    spool = json.dumps(str(files.directory.resolve() / "spool"))
    secret = json.dumps(str(files.secret.resolve()))
    lines = [
        f"# The agent of {files.aa_id}, written again at every start of the sandbox.",
        f'aa_id = "{files.aa_id}"',
        f"directory = {spool}",
        "",
        "[operator]",
        f'token_url = "{root}{settings.token_prefix}"',
        f'push_url = "{root}{settings.metrics_prefixes[0]}/push"',
        "",
        "[credentials]",
        f'id = {{ value = "{files.aa_id}" }}',
        f"secret = {{ file = {secret} }}",
        "",
        "[http]",
        f'listen = ["127.0.0.1:{port}"]',
        "",
    ]
    _put(files.config, "\n".join(lines))


def service_root(settings: Settings) -> str:
    """Returns the service's address on this machine, independent of its public address."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def free_port(preferred: int) -> int:
    """Returns this port, or any other free port when it is in use."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no port of the loopback address is free")


async def fetch_secret(files: AgentFiles, settings: Settings, http: httpx2.AsyncClient) -> bool:
    """Reads the secret as the AA's admin and writes its file; returns False when that failed."""
    admin = next(one.admin for one in DEMO_NETWORK if one.entity_id == files.aa_id)
    url = f"{service_root(settings)}{settings.token_prefix}/v1"
    signed_in = await _post(
        http, f"{url}/user/token/generate", data={"username": admin, "password": DEMO_PASSWORD}
    )
    token = signed_in.get("accessToken")
    if token is None:
        _log.warning("the demonstration agent cannot read its secret", aa_id=files.aa_id)
        return False
    found = await _post(
        http,
        f"{url}/entity/secret/read",
        document={"entityId": files.aa_id},
        headers={"Authorization": f"Bearer {token}"},
    )
    secret = found.get("secret")
    if not isinstance(secret, str):
        return False
    _put(files.secret, secret)
    return True


def _put(path: Path, text: str) -> None:
    """Writes a file atomically, readable only by its owner."""
    draft = path.with_name(f"{path.name}.draft")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


async def _post(
    http: httpx2.AsyncClient,
    url: str,
    *,
    data: dict[str, str] | None = None,
    document: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> dict[str, object]:
    try:
        response = await http.post(url, data=data, json=document, headers=headers)
        if response.status_code != _OK:
            return {}
        return msgspec.json.decode(response.content, type=dict[str, object])
    except (httpx2.HTTPError, msgspec.DecodeError):
        return {}
