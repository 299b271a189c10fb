"""The cost for all others of guessing from many addresses.

    python -m bench.guessing [SECONDS]

Others ask for entity tokens and sign in; next to them one guesses from 1,000 addresses in
turn, first while these are open (each guess is hashed and counted), then from addresses that
ten failures have closed (each is refused before anything is hashed). Goal: p99 of the others
rises by no more than 10 %. Medians over rounds in which calm and guessing take turns.
"""

import asyncio
import os
import statistics
from contextlib import ExitStack

from bench.entity_token import make_members, requests_for
from bench.login_flood import login_request
from bench.people import make_people
from bench.sizes import argument, sized
from bench.support import (
    Load,
    RunningService,
    data_directory,
    database_kept_up,
    percentile,
    scratch,
)
from mudra.bootstrap.node.serve import open_store
from mudra.identity.accounts.password_hash import MIN_MEMORY_MIB
from mudra.settings.settings import Settings

ADDRESSES = 1000
CLOSED = sized(4, 1)
ROUNDS = sized(5, 1)
VARIABLES = {
    "MUDRA_ARGON2_MEMORY_MIB": str(MIN_MEMORY_MIB),
    "MUDRA_TRUSTED_PROXIES": "127.0.0.1/32",
    "MUDRA_ENTITY_TOKEN_RATE": "100000+100000",
}
Waits = tuple[float, float]


def main() -> None:
    """Measure and print the ratios."""
    seconds = argument(1, 4.0, 0.02)
    with scratch() as folder, ExitStack() as stack:
        settings = Settings(data_dir=data_directory(folder), argon2_memory_mib=MIN_MEMORY_MIB)
        stack.enter_context(database_kept_up(settings.data_dir))
        members = make_members(settings.data_dir, sized(1000, 5))
        with open_store(settings, create=False) as (conninfo, encryption):
            people = make_people(conninfo, encryption, settings, sized(20, 2))
        with RunningService(settings.data_dir, "--workers", "1", **VARIABLES) as service:
            tokens = Load(service.port, requests_for(members))
            logins = Load(service.port, [login_request(email) for email in people.values()])
            open_still = guesser(service.port, ADDRESSES)
            closed = guesser(service.port, CLOSED, first=ADDRESSES, expect=b"HTTP/1.1 429")
            asyncio.run(tokens.run(4, sized(1.0, 0.02)))
            asyncio.run(close(closed))
            found = {
                words: [compared(tokens, logins, guesses, seconds) for _ in range(ROUNDS)]
                for words, guesses in (("open", open_still), ("closed", closed))
            }
            assert tokens.failed == logins.failed == closed.failed == 0
    load = f"load {os.getloadavg()[1]:.1f}"
    for words, rounds in found.items():
        for what, ratios in zip(
            ("entity tokens", "sign-ins"), zip(*rounds, strict=True), strict=True
        ):
            print(
                f"p99 of {what} while guesses come from {words} addresses / without ({load}): "
                f"{statistics.median(ratios):.2f} (goal at most 1.10)"
            )


def guesser(port: int, addresses: int, first: int = 0, expect: bytes = b"HTTP/1.1 401") -> Load:
    """Wrong passwords from one address after the other, each for another name that no one has."""
    requests = [guess(first + n % addresses, first + n) for n in range(addresses + 20 * CLOSED)]
    return Load(port, requests, expect)


def guess(address: int, name: int) -> bytes:
    """One guess, as the trusted proxy passes it on."""
    request = login_request(f"nobody{name}@bench.example")
    forwarded = f"\r\nx-forwarded-for: 198.18.{address // 250}.{address % 250 + 1}\r\n"
    return request.replace(b"\r\n", forwarded.encode(), 1)


async def close(guesses: Load) -> None:
    """Guess until every address has had its failures."""
    while True:
        before = guesses.failed
        await guesses.run(1, sized(1.0, 0.05))
        if guesses.failed == before:
            break
    guesses.failed = 0


def compared(tokens: Load, logins: Load, guesses: Load, seconds: float) -> Waits:
    """Returns how much longer the slowest hundredth of the others waits while somebody guesses."""
    calm = asyncio.run(others(tokens, logins, None, seconds))
    measured = asyncio.run(others(tokens, logins, guesses, seconds))
    return measured[0] / calm[0], measured[1] / calm[1]


async def others(tokens: Load, logins: Load, guesses: Load | None, seconds: float) -> Waits:
    """Seconds of the slowest hundredth of tokens and of sign-ins."""
    loads = [tokens.run(2, seconds), logins.run(1, seconds)]
    if guesses is not None:
        loads.append(guesses.run(1, seconds))
    await asyncio.gather(*loads)
    return percentile(tokens.latencies, 0.99), percentile(logins.latencies, 0.99)


if __name__ == "__main__":
    main()
