"""An agent whose tokens are bound to a key of its own (DPoP, RFC 9449) pushes to the real service."""

import asyncio
from pathlib import Path

import httpx2
import jwt
import pytest
from tests.support.agent.agents import config as agent_config
from tests.support.http_clients import NO_TLS
from tests.support.manual_clock import MovedClock
from tests.support.members import Member, new_member
from tests.support.service import Service

from mudra.agent.counting.window import WINDOW
from mudra.agent.host.assembly import Agent, assemble
from mudra.agent.host.check import CheckResult, check
from mudra.agent.host.config import Config
from mudra.client import SecretUnreadable

CLOSE_DELAY = 30_000
SPREAD = 60_000

AHEAD = WINDOW + CLOSE_DELAY + SPREAD


@pytest.fixture
def aa(service: Service) -> Member:
    return new_member(service, "AA")


def settings(directory: Path, aa: Member, **more: str) -> Config:
    directory.mkdir(mode=0o700, exist_ok=True)
    secret = directory / "secret"
    secret.write_text(aa.secret())
    secret.chmod(0o600)
    credentials = {"id": {"value": aa.entity_id}, "secret": {"file": str(secret)}, **more}
    operator = {
        "token_url": aa.service.issuer,
        "push_url": f"{aa.service.root}/metrics/perf/v1/push",
    }
    return agent_config(directory, aa_id=aa.entity_id, operator=operator, credentials=credentials)


def at(aa: Member, earlier: int = 0) -> MovedClock:
    """The service's time, which other tests move, or some milliseconds before."""
    return MovedClock(wall=int(aa.service.wall() * 1000) - earlier)


def push(aa: Member, config: Config) -> tuple[Agent, str]:
    """Run an agent until a window was sent; gives it, closed, and the token that it has."""

    async def story() -> tuple[Agent, str]:
        clock = at(aa, AHEAD)
        agent = assemble(config, clock, lambda low, _: low, lambda _: None)
        await agent.tick()
        clock.pass_time(AHEAD)
        await agent.tick()
        for _ in range(2):
            await agent.push_once()
            clock.pass_time(500)
        token = await agent.tokens.token()
        await agent.aclose()
        return agent, token

    return asyncio.run(story())


def checked(aa: Member, config: Config) -> dict[str, CheckResult]:
    found = asyncio.run(check(config, at(aa), lambda low, _: low))
    return {one.name: one for one in found}


def test_an_agent_pushes_with_tokens_that_are_of_no_use_without_its_key(
    aa: Member, tmp_path: Path
) -> None:
    key = tmp_path / "dpop-key.pem"
    config = settings(tmp_path, aa, dpop_key=str(key))

    agent, token = push(aa, config)

    assert agent.pusher.metrics.delivered == 2, agent.pusher.metrics.last_error
    bound_to = jwt.decode(token, options={"verify_signature": False})["cnf"]["jkt"]
    assert key.stat().st_mode & 0o777 == 0o600
    for scheme in ("Bearer", "DPoP"):
        copied = httpx2.post(
            config.operator.push_url,
            json={},
            headers={"Authorization": f"{scheme} {token}"},
            verify=NO_TLS,
        )
        assert (copied.status_code, copied.json()["errorCode"]) == (401, "ProofInvalid")

    again, later = push(aa, config)

    claims = jwt.decode(later, options={"verify_signature": False})
    assert claims["cnf"] == {"jkt": bound_to}, "a restart keeps the key"
    assert not again.pusher.metrics.last_error
    found = checked(aa, config)["credentials"]
    assert found.ok
    assert str(key) in found.found


def test_without_the_setting_its_tokens_are_plain(aa: Member, tmp_path: Path) -> None:
    agent, token = push(aa, settings(tmp_path, aa))

    assert agent.pusher.metrics.delivered == 2
    assert "cnf" not in jwt.decode(token, options={"verify_signature": False})


def test_a_wrong_clock_is_named_with_its_way_out(aa: Member, tmp_path: Path) -> None:
    config = settings(tmp_path, aa, dpop_key=str(tmp_path / "key.pem"))
    slow = at(aa, 120_000)

    found = asyncio.run(check(config, slow, lambda low, _: low))

    (credentials,) = [one for one in found if one.name == "credentials"]
    assert not credentials.ok
    assert "ProofInvalid" in credentials.found
    assert "clock" in credentials.way_out


def test_a_key_that_cannot_be_used_ends_the_start_and_the_check_names_it(
    aa: Member, tmp_path: Path
) -> None:
    key = tmp_path / "key.pem"
    config = settings(tmp_path, aa, dpop_key=str(key))
    key.write_text("hush-hush")
    key.chmod(0o600)

    found = checked(aa, config)["credentials"]

    assert not found.ok
    assert "P-256 key in PEM" in found.found
    with pytest.raises(SecretUnreadable, match="P-256 key in PEM") as error:
        assemble(config, at(aa), lambda low, _: low, lambda _: None)
    assert "hush-hush" not in f"{found} {error.value}"
