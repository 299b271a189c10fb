"""Validators as browsers and intermediaries send them back (RFC 9110 13.1.2)."""

import pytest
from litestar import Request

from mudra.http.response.entity_tag import entity_tag, has_it

TAG = entity_tag(b"body")
NAME = TAG.strip('"')


def asks(*lines: str) -> bool:
    headers = [(b"if-none-match", line.encode()) for line in lines]
    return has_it(Request({"type": "http", "headers": headers, "method": "GET"}), TAG)


@pytest.mark.parametrize(
    "lines",
    [
        [TAG],
        [f"W/{TAG}"],  # nginx with gzip
        [f'"{NAME}-gzip"'],  # Apache's mod_deflate
        [f'W/"{NAME}-br"'],  # Apache's mod_brotli
        [f'"{NAME}--gzip"'],  # Jetty
        [f'"{NAME};gzip"'],
        [f'"{NAME}-gzip-br"'],  # two that pack
        [f"{TAG}-gzip"],  # Apache 2.2
        [f'"other", {TAG}'],
        [f'"other",,{TAG},'],
        ['"other"', TAG],
        ["*"],
    ],
)
def test_a_validator_that_an_intermediary_changed_is_known(lines: list[str]) -> None:
    assert asks(*lines)


@pytest.mark.parametrize(
    "line",
    [
        "",
        '""',
        NAME,
        f'"{NAME[:-1]}"',
        f'"{NAME}-other"',
        f'"{NAME}-gzip',
        f'"x{NAME}"',
        '"-gzip"',
        "-gzip",
        f"{TAG}x",
        f"{TAG}-gzip-gzip",
    ],
)
def test_another_validator_is_not(line: str) -> None:
    assert not asks(line)
