"""Which form of an answer a client wants (RFC 9110 12.5.3)."""

import pytest
from litestar import Request

from mudra.http.response.content_coding import Coding, coding_for


def coding(*lines: str) -> Coding:
    headers = [(b"accept-encoding", line.encode()) for line in lines]
    return coding_for(Request({"type": "http", "headers": headers, "method": "GET"}))


@pytest.mark.parametrize(
    "line",
    ["gzip", "gzip, deflate, br, zstd", "GZIP", "x-gzip", "*", "gzip;q=0.001", "gzip ; q=1.000",
     "br;q=1.0, gzip;q=0.8, *;q=0.1", "identity;q=0.5, *", "gzip, identity", "deflate,,gzip,",
     "gzip;Q=0.5", "*;q=0.3, br"],
)  # fmt: skip  # of one outcome
def test_who_takes_gzip_gets_it(line: str) -> None:
    assert coding(line) == "gzip"


@pytest.mark.parametrize(
    "line",
    ["", "identity", "gzip;q=0", "gzip;q=0.0, br", "gzip; q=0.000", "*;q=0", "identity;q=0",
     "gzip;q=0, *", "identity, gzip;q=0.5", "br", "gzipped", "not-gzip", "gzip;q=high", "gzip;q=2",
     "gzip;level=9", "gzip;q=0, identity;q=0", "deflate, gzip;q=0, *;q=0"],
)  # fmt: skip  # of one outcome
def test_who_does_not_or_refuses_both_gets_the_plain_form(line: str) -> None:
    assert coding(line) == "plain"


@pytest.mark.parametrize(
    "lines",
    [["gzip, identity;q=0"], ["gzip, *;q=0"], ["identity;q=0", "gzip;q=0.1"], ["*, identity;q=0"]],
)
def test_who_refuses_the_plain_form_gets_gzip_however_short_it_is(lines: list[str]) -> None:
    assert coding(*lines) == "only gzip"


def test_without_the_header_the_form_is_plain() -> None:
    assert coding() == "plain"
