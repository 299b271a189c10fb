"""What others on the machine see of a dump that runs."""

from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.until import until

from mudra.storage.backup.postgres_dump import DumpFailed, dumping, only_backup, unreadable_part

PASSWORD = "a-password-that-no-one-reads"


def test_the_password_of_the_database_is_no_argument_of_pg_dump(conninfo: str) -> None:
    with psycopg.connect(conninfo) as other:
        other.execute("LOCK TABLE entity")  # which the dump waits for
        with dumping(make_conninfo(conninfo, password=PASSWORD)) as dump:
            shown = until(_arguments_of_a_dump)
            other.rollback()
            assert dump.read(5) == b"PGDMP"
            while dump.read(1 << 16):
                pass

    assert "--format=custom" in shown
    assert PASSWORD not in shown


def test_one_backup_is_made_at_a_time(conninfo: str) -> None:
    """Of two at once the first could have the name of the second one in it."""
    with only_backup(conninfo):
        with (
            pytest.raises(DumpFailed, match="another backup of this service"),
            only_backup(conninfo),
        ):
            pass
        with pytest.raises(DumpFailed), only_backup(conninfo):
            pass
    with only_backup(conninfo):
        pass


def test_the_owner_of_the_schema_may_read_all_of_it(conninfo: str) -> None:
    assert unreadable_part(conninfo) is None


def _arguments_of_a_dump() -> str:
    """The command line of the `pg_dump` below this process; empty before it has begun."""
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            said = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
            if "pg_dump" in said.partition(" ")[0]:
                return said
    return ""
