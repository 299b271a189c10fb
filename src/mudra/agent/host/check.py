"""`agent check`: tests what an agent needs to work, each with the way out."""

import asyncio
import os
import shutil
import sqlite3
import stat
import tempfile
from pathlib import Path
from typing import Final

import httpx2

from mudra.agent.clock import Clock
from mudra.agent.delivery.backoff import Uniform, parse_http_date
from mudra.agent.delivery.credentials import read_source
from mudra.agent.host.assembly import tokens_of, user_agent
from mudra.agent.host.config import Config, ConfigError
from mudra.agent.host.log_check import CheckResult, check_log
from mudra.agent.spool.spool import FILE_NAME, SpoolReadable, read_only, refuse_readable
from mudra.client import MudraClientError
from mudra.client.errors import kind_of_failure

MAX_OFFSET: Final = 60_000
"""The operator refuses a window that is further in the future."""
MIN_FREE: Final = 256 << 20
_UNAUTHORIZED: Final = 401
_NOT_FOUND: Final = 404
_FOR_OTHERS: Final = 0o077


def refused(error: ConfigError) -> list[CheckResult]:
    """Return the result for a configuration that cannot be read: nothing else can be checked."""
    way = "correct it, and run the check again: the rest needs the configuration"
    return [CheckResult("configuration", ok=False, found=str(error), way_out=way)]


async def check(
    config: Config,
    clock: Clock,
    uniform: Uniform,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> list[CheckResult]:
    """Run all checks; a failed one does not hide the next."""
    found = [CheckResult("configuration", ok=True, found=f"for {config.aa_id}, no unknown keys")]
    found += [_secret_file(config), _disk(config)]
    found += [check_log(config, log, clock) for log in config.log]
    async with httpx2.AsyncClient(
        transport=transport, timeout=15, headers={"User-Agent": user_agent()}
    ) as http:
        credentials, warning = await _credentials(config, http, clock, uniform)
        found.append(credentials)
        if warning:
            way = (
                "register the new secret with the agent"
                if config.credentials.registered
                else "put the new secret where credentials.secret points; no restart is needed"
            )
            found.append(CheckResult("grace", ok=False, found=warning, way_out=way))
        found += await _reach(config, http, clock)
    return found


async def _credentials(
    config: Config, http: httpx2.AsyncClient, clock: Clock, uniform: Uniform
) -> tuple[CheckResult, str]:
    try:
        tokens = tokens_of(config, http, clock, uniform)
        entity = await asyncio.to_thread(read_source, "credentials.id", config.credentials.id)
        if entity != config.aa_id:
            return CheckResult(
                "credentials",
                ok=False,
                found=f"credentials.id is {entity} but aa_id is {config.aa_id}",
                way_out="the operator accepts metrics of an AA only with that AA's own token",
            ), ""
        await tokens.token()
    except MudraClientError as error:
        return CheckResult(
            "credentials", ok=False, found=error.diagnosis, way_out=error.way_out
        ), ""
    warning = "" if tokens.warning is None else tokens.warning.message
    bound = "" if tokens.dpop is None else f", bound to the key in {config.credentials.dpop_key}"
    return CheckResult("credentials", ok=True, found=f"{entity} gets a token{bound}"), warning


async def _reach(config: Config, http: httpx2.AsyncClient, clock: Clock) -> list[CheckResult]:
    url = config.operator.push_url
    try:
        # An empty push without a token: the right place answers 401 and stores nothing.
        response = await http.post(url, content=b"{}", headers={"Content-Type": "application/json"})
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        way = "check operator.push_url, name resolution, firewall and proxy from this machine"
        fact = f"{url} cannot be reached ({kind_of_failure(error)})"
        return [CheckResult("reachability", ok=False, found=fact, way_out=way)]
    found = [_right_place(url, response.status_code)]
    at = parse_http_date(response.headers.get("date", ""))
    if at is None:
        found.append(
            CheckResult("clock", ok=True, found="the operator sent no time to compare with")
        )
    else:
        offset = at - clock.wall()
        fact = f"the operator's clock is {offset / 1000:+.1f} s from this one"
        way = "set up a time service (chrony, systemd-timesyncd) on this machine"
        good = abs(offset) <= MAX_OFFSET
        found.append(CheckResult("clock", ok=good, found=fact, way_out="" if good else way))
    return found


def _right_place(url: str, status: int) -> CheckResult:
    if status == _UNAUTHORIZED:
        return CheckResult("reachability", ok=True, found=f"{url} answers and asks for a token")
    way = "check operator.push_url: the network's operator publishes it"
    if status == _NOT_FOUND:
        return CheckResult("reachability", ok=False, found=f"{url} answers 404", way_out=way)
    fact = f"{url} answers {status} to a push without a token, not 401"
    return CheckResult("reachability", ok=False, found=fact, way_out=way)


def _secret_file(config: Config) -> CheckResult:
    path = config.credentials.secret.file
    if config.credentials.registered:
        return CheckResult("secret", ok=True, found="is registered by the AA's application")
    if not path:
        return CheckResult("secret", ok=True, found="comes from the environment or a command")
    try:
        file = Path(path).stat()
    except OSError as error:
        fact = f"{path} cannot be read: {error.strerror}"
        return CheckResult("secret", ok=False, found=fact, way_out="put the entity secret there")
    if _is_open_to_others(file):
        fact = f"{path} may be read by other users"
        return CheckResult("secret", ok=False, found=fact, way_out=f"chmod 600 {path}")
    return CheckResult("secret", ok=True, found=f"no other user may read {path}")


def _is_open_to_others(file: os.stat_result) -> bool:
    """Kubernetes gives a Secret's files to root, for the group of the pod to read."""
    is_of_own_group = file.st_gid in {os.getegid(), *os.getgroups()}
    return bool(file.st_mode & _FOR_OTHERS & ~(stat.S_IRGRP if is_of_own_group else 0))


def _disk(config: Config) -> CheckResult:
    directory = Path(config.directory)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
        refuse_readable(directory)
        free = shutil.disk_usage(directory).free
        state = "ok"
        if (directory / FILE_NAME).exists():
            db = read_only(directory)
            state = db.execute("PRAGMA quick_check").fetchone()[0]
            db.close()
    except SpoolReadable as error:
        fact, _, way = str(error).partition(": ")
        return CheckResult("disk", ok=False, found=fact, way_out=way)
    except (OSError, sqlite3.Error) as error:
        way = f"make {directory} writable for the agent's user and free room on its disk"
        return CheckResult("disk", ok=False, found=f"{directory}: {error}", way_out=way)
    if state != "ok":
        way = "start the agent: it moves the damaged file aside; then check the disk"
        return CheckResult("disk", ok=False, found=f"the journal is damaged: {state}", way_out=way)
    if free < MIN_FREE:
        way = f"free at least {MIN_FREE >> 20} MB; seven days of outage need up to 1 GiB"
        return CheckResult("disk", ok=False, found=f"{free >> 20} MB are free", way_out=way)
    return CheckResult(
        "disk", ok=True, found=f"{directory} accepts writes, {free >> 20} MB are free"
    )
