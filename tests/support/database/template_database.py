"""A migrated, empty database that is made once for a test run; every other is a copy of it.

To make a cluster and run all migrations takes two seconds of a core, and a run has nearly two
hundred databases. To copy all of a cluster takes a tenth of that: what is copied has neither the
databases that new ones are made from nor much of a log. Its superuser still signs in, which a start
of the service ends. Keys at rest are not part of it: each data directory makes its own at its start.
"""

import fcntl
import subprocess
from pathlib import Path

import psycopg
import pytest

from mudra.storage.database.embedded.account import choose_accounts
from mudra.storage.database.embedded.cluster import CLUSTER
from mudra.storage.database.embedded.locks import ALIVE, is_held
from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import migrate
from mudra.storage.database.schema.roles import OWNER, SERVICE, Role, as_role, grant, make_roles

_run: list[Path] = []


def share(factory: pytest.TempPathFactory) -> None:
    """Let this run have a directory, unless the process that it was forked from gave it one."""
    if not _run:
        use(factory.getbasetemp())


def use(run: Path) -> None:
    """Share with the processes of a test run that has this directory."""
    _run.append(run)


def directory() -> Path | None:
    """The directory of this test run; None outside of one."""
    return _run[-1] if _run else None


def prepare(data_dir: Path, *, with_templates: bool = False) -> None:
    """Put the migrated database in a data directory that has none; nothing outside of a test run.

    Its server can make more databases only if it has the templates.
    """
    cluster = data_dir / CLUSTER
    if not _run or cluster.exists():
        return
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = _made_once(_run[-1])[with_templates]
    # Python's own copy takes three times the CPU.
    subprocess.run(["cp", "-a", "--reflink=auto", made, cluster], check=True)


def _made_once(run: Path) -> tuple[Path, Path]:
    """Return the cluster without the templates, and the one with them."""
    small, whole = run / "prepared", run / "prepared-whole"
    with (run / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given up when the file is closed
        if not small.exists():
            new = run / "prepared.new"
            with embedded_server(new) as url:
                make_roles(url, Role(OWNER), Role(SERVICE))
                migrate(as_role(url, OWNER))
                grant(as_role(url, OWNER), SERVICE)
                _do_what_is_rarely_due(url)
                _leave_disk_and_processor_alone(url)
            assert not is_held(new, ALIVE), "its server has not stopped"
            subprocess.run(["cp", "-a", new, whole], check=True)
            with embedded_server(new) as url, psycopg.connect(url, autocommit=True) as connection:
                for name in ("template0", "template1"):
                    connection.execute(f"ALTER DATABASE {name} IS_TEMPLATE false".encode())
                    connection.execute(f"DROP DATABASE {name}".encode())
            assert not is_held(new, ALIVE), "its server has not stopped"
            _shorten_log(new)
            new.rename(small)
    return small / CLUSTER, whole / CLUSTER


def _shorten_log(data_dir: Path) -> None:
    """Let its log begin with a megabyte in place of sixteen."""
    cluster = data_dir / CLUSTER
    account = choose_accounts(data_dir, cluster, programs()).server
    subprocess.run(
        [*account.prefix, programs() / "pg_resetwal", "-D", cluster, "--wal-segsize=1"],
        cwd="/",
        check=True,
        capture_output=True,
    )


def _do_what_is_rarely_due(url: str) -> None:
    """Let no start on a copy run the jobs of an hour, a day and a week: a quarter of a start's CPU.

    They count as done for the next slot as well, which holds for one slot more: for an hour at
    least. One that is not named here, or at other times, runs at each start as it does elsewhere.
    """
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT metrics_partition_make(parent, now() + day * interval '1 day') FROM"
            " unnest(ARRAY['metrics_block_window', 'metrics_block_hour', 'metrics_block_day', 'metrics_block_previous'])"
            " AS parent, generate_series(-1, 3) AS day"
        )
        connection.execute(
            "INSERT INTO job_run (name, slot, started_at, finished_at)"
            " SELECT name, date_bin(every, now(), timestamptz '2000-01-01 00:00Z' + past) + every,"
            " now(), now() FROM (VALUES"
            " ('clear-out', interval '1 hour', interval '17 minutes'),"
            " ('metrics-partitions', interval '1 hour', interval '7 minutes'),"
            " ('metrics-retention', interval '24 hours', interval '100 minutes'),"
            " ('metrics-settle', interval '1 hour', interval '23 minutes'),"
            " ('metrics-recount', interval '24 hours', interval '140 minutes'),"
            " ('level-reports', interval '24 hours', interval '70 minutes'),"
            " ('level-budgets', interval '24 hours', interval '130 minutes'),"
            " ('capacity-notices', interval '7 days', interval '2 days 160 minutes')"
            ") AS job (name, every, past)"
        )


def _leave_disk_and_processor_alone(url: str) -> None:
    """Let its copies not wait for the disk: a killed server loses nothing so, only a power cut does.

    What is in a commit is still written before it is answered (synchronous_commit stays). Of its
    own accord a server of a few minutes has nothing to vacuum, no one subscribes to it, and all
    that it reads is in memory, so that processes that read ahead are of no use.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET full_page_writes = off")
        connection.execute("ALTER SYSTEM SET autovacuum_naptime = '10min'")
        connection.execute("ALTER SYSTEM SET max_logical_replication_workers = 0")
        connection.execute("ALTER SYSTEM SET io_method = 'sync'")
