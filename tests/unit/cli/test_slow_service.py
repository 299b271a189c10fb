"""A command that waits for a service says so on standard error, and only there."""

import asyncio

import pytest

from mudra.cli.client.api import said_when_slow


@pytest.mark.parametrize(
    ("issuer", "after_s", "said"),
    [
        ("https://iam.example/iam", 0, 1),
        ("https://iam.example/iam", 60, 0),
        ("", 0, 0),
    ],
    ids=["slow", "quick", "in this process"],
)
def test_a_slow_service_is_named_once(
    issuer: str, after_s: float, said: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async def waited() -> None:
        with said_when_slow(issuer, after_s):
            for _ in range(3):
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)

    asyncio.run(waited())

    shown = capsys.readouterr()
    assert shown.out == ""
    line = "mudra: no answer from https://iam.example/iam yet; waiting up to 30 s\n"
    assert shown.err == line * said
