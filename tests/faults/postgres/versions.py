"""PostgreSQL of other versions than the embedded one: Debian's, or of the npm registry, pinned."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import psycopg
from tests.support.agent.agent_process import free_port
from tests.support.programs import program
from tests.support.smtp_sink import make_certificate
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.account import choose_accounts

DEBIAN: Final = 15
_HBA: Final = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"


@cache
def programs_of(major: int) -> Path:
    """The directory of `initdb` and `postgres`; a test is skipped that cannot have them."""
    if major == DEBIAN:
        return Path(program(f"postgresql-{major}")).parent
    packages = Path(program("postgres-versions"))
    home = packages / f"postgresql-{major}"
    with (packages / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _link(home)
    return home / "native" / "bin"


def _link(home: Path) -> None:
    """Make the links that a package of npm cannot hold; its own script is not run."""
    for one in json.loads((home / "native" / "pg-symlinks.json").read_text()):
        link, target = home / one["target"], home / one["source"]
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(target, link.parent))


@contextlib.contextmanager
def postgres_of(major: int, home: Path, *more: str) -> Iterator[str]:
    """Run a server of this version until the end of the block; gives its superuser's address.

    `more` are settings besides; those of `with_tls` let it listen on 127.0.0.1, too.
    """
    binaries, data, run = programs_of(major), home / "data", home / "run"
    account = choose_accounts(home, home / "none", binaries).initdb
    for folder in (data, run):
        folder.mkdir(mode=0o700)
        os.chown(folder, account.uid, account.gid)
    options = ["-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust"]
    initdb = [*account.prefix, str(binaries / "initdb"), "-D", str(data), *options]
    made = subprocess.run(
        initdb, capture_output=True, text=True, check=False, cwd="/", timeout=PATIENCE_S
    )
    assert made.returncode == 0, made.stderr
    port = free_port()
    settings = [f"unix_socket_directories={run}", "listen_addresses=", f"port={port}", "fsync=off"]
    settings += more
    words = [*account.prefix, str(binaries / "postgres"), "-D", str(data)]
    words += [word for one in settings for word in ("-c", one)]
    with (home / "postgres.log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, cwd="/")
    url = f"postgresql://postgres@/postgres?host={run}&port={port}"
    try:
        until(lambda: _answers(url))
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(PATIENCE_S)


def with_tls(major: int, home: Path) -> tuple[Path, list[str]]:
    """Make a certificate of localhost; gives the one to trust, and settings for `postgres_of`."""
    folder = home / "tls"
    folder.mkdir()
    made = make_certificate(folder, 30)
    rules = folder / "pg_hba.conf"
    rules.write_text(_HBA)
    account = choose_accounts(home, home / "none", programs_of(major)).initdb
    for file in (folder, made.key, made.cert, rules):
        os.chown(file, account.uid, account.gid)
    made.key.chmod(0o600)
    files = {"ssl_cert_file": made.cert, "ssl_key_file": made.key, "hba_file": rules}
    settings = ["ssl=on", "listen_addresses=127.0.0.1"]
    return made.cert, settings + [f"{name}={file}" for name, file in files.items()]


def _answers(url: str) -> bool:
    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=2):
        return True
    return False
