"""A plain table with a row for each block of a report: what a push is compared with."""

import time
from collections.abc import Iterator, Sequence

import msgspec
import psycopg

from bench.support import cpu_seconds
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.payload.validation import CheckedReport

CREATE = (
    "CREATE TABLE bare_rows (window_at timestamptz NOT NULL, aa_id text NOT NULL, tag text NOT"
    " NULL, fip_id text NOT NULL, type text NOT NULL, counts bigint[] NOT NULL, pxx bigint[],"
    " status bigint[], data_bytes numeric, PRIMARY KEY (window_at, aa_id, tag, fip_id, type))"
)
_encode = msgspec.json.Encoder().encode


def lines_of(checked: CheckedReport) -> bytes:
    """The rows of a report in the text form of COPY."""
    return b"".join(_lines(checked))


def _lines(checked: CheckedReport) -> Iterator[bytes]:
    head = f"{checked.window.isoformat()}\t{checked.aa_id}\t{checked.tag.value[:3]}\t"
    for fip in checked.report.fips:
        own = f"{head}{fip.fip_id}\t".encode()
        for block in fip.metrics:
            counts = _encode(block.counts)[1:-1]
            rest = b"\\N\t\\N\t\\N"
            if isinstance(block, RequestBlock):
                size = block.counted_size.encode() or b"\\N"
                rest = b"{%b}\t\\N\t%b" % (_encode(block.pxx)[1:-1], size)
            yield b"%b%b\t{%b}\t%b\n" % (own, block.type.encode(), counts, rest)


def copy_seconds(conninfo: str, reports: Sequence[bytes]) -> float:
    """CPU seconds of COPY of these rows, each report a transaction: ours and PostgreSQL's."""
    with psycopg.connect(conninfo) as connection:
        connection.execute(CREATE)
        connection.commit()
        server = connection.info.backend_pid
        own, there = time.process_time(), cpu_seconds(server)
        for lines in reports:
            with connection.cursor().copy("COPY bare_rows FROM STDIN") as copy:
                copy.write(lines)
            connection.commit()
        used = time.process_time() - own + cpu_seconds(server) - there
        connection.execute("DROP TABLE bare_rows")
    return used
