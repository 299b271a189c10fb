"""The AA's application registers its secret with the agent, as guides of today's agent have it."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import msgspec
import pytest
from tests.support.agent.agents import config as agent_config
from tests.support.agent.agents import writing
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import MovedClock
from tests.support.members import Member, new_member
from tests.support.service import Service

from mudra.agent.clock import MachineClock
from mudra.agent.counting.window import WINDOW
from mudra.agent.host.assembly import Agent, assemble
from mudra.agent.host.check import check
from mudra.agent.host.config import Config, ConfigError, read_config
from mudra.agent.host.intake_guard import IntakeGuard
from mudra.agent.host.run import ingest_app

CLOSE_DELAY = 30_000
SPREAD = 60_000

REGISTER = "/sna/v1/entity/register"
TOKEN = "/sna/v1/entity/token/generate"
REGISTERED = {"id": {"value": "AA-1"}, "registered": True}


@pytest.fixture
def aa(service: Service) -> Member:
    return new_member(service, "AA")


def settings(directory: Path, aa: Member, **changes: object) -> Config:
    operator = {
        "token_url": aa.service.issuer,
        "push_url": f"{aa.service.root}/metrics/perf/v1/push",
    }
    credentials = {"id": {"value": aa.entity_id}, "registered": True}
    values = {"aa_id": aa.entity_id, "operator": operator, "credentials": credentials, **changes}
    return agent_config(directory, **values)


def run_story(
    config: Config, story: Callable[[httpx2.AsyncClient], Awaitable[None]], token: bytes = b""
) -> None:
    """Run an agent of this configuration, and the story of what its application sends."""

    async def run() -> None:
        agent = assemble(config, MachineClock(), lambda low, _: low, lambda _: None)
        async with called(agent, token) as http:
            await story(http)
        await agent.aclose()

    asyncio.run(run())


def called(agent: Agent, token: bytes = b"") -> httpx2.AsyncClient:
    app = ingest_app(agent, IntakeGuard((), token))
    transport = httpx2.ASGITransport(app)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:4044")


def test_a_registered_secret_gets_the_token_of_the_aa_also_after_a_restart_and_a_reset(
    aa: Member, tmp_path: Path
) -> None:
    config = settings(tmp_path, aa)

    async def first(http: httpx2.AsyncClient) -> None:
        before = await http.get(TOKEN)
        registered = await http.post(
            REGISTER, json={"entity_id": aa.entity_id, "secret": aa.secret()}
        )

        assert (before.status_code, before.json()["errorCode"]) == (503, "ServiceUnavailable")
        assert "entity/register" in before.json()["message"]
        assert registered.json() == {
            "message": "Entity registration received successfully",
            "entity_id": aa.entity_id,
            "status": "registered",
        }

    async def restarted(http: httpx2.AsyncClient) -> None:
        answer = await http.get(TOKEN)

        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        body = answer.json()
        assert body["tokenType"] == "Bearer"
        ahead = aa.service.wall() - time.time()  # other tests move the service's clock
        assert 0 < body["expiresIn"] <= 86_400 + ahead + 1
        seen = aa.service.introspected(body["accessToken"], aa.entity_id, aa.secret())
        assert seen["active"]

    async def reset(http: httpx2.AsyncClient) -> None:
        secret = aa.reset().json()["secret"]
        old = await http.get(TOKEN)
        await http.post(REGISTER, json={"entity_id": aa.entity_id, "secret": secret})
        fresh = await http.get(TOKEN)

        assert old.status_code == 503
        assert fresh.status_code == 200, fresh.text

    run_story(config, first)
    run_story(config, restarted)
    run_story(config, reset)
    kept = Path(config.directory) / "registered-credentials.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    checked = asyncio.run(check(config, MachineClock(), lambda low, _: low))
    assert {one.name: one.ok for one in checked}["credentials"]


def test_a_registered_token_is_used_before_a_secret_until_it_is_refused(
    aa: Member, tmp_path: Path
) -> None:
    config = settings(tmp_path, aa)
    token = aa.entity_token(aa.secret()).json()["accessToken"]

    async def story(http: httpx2.AsyncClient) -> None:
        both = {"entity_id": aa.entity_id, "secret": aa.secret(), "token": token}
        await http.post(REGISTER, json=both)
        used = await http.get(TOKEN)

        assert used.json()["accessToken"] == token

    run_story(config, story)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"entity_id": "OTHER-AA", "secret": "s" * 43}, "entity_id must be"),
        ({"entity_id": "AA"}, "secret or token"),
        ({"entity_id": "AA", "secret": "two words of a secret"}, "secret must be"),
        ({"entity_id": "AA", "token": "t" * 9000}, "token must be"),
        ({"secret": "never-shown-to-anyone"}, "entity_id"),
        ({"entity_id": "AA", "secret": 5}, "secret"),
        ([], "body cannot be read"),
    ],
)
def test_a_wrong_registration_is_refused_without_its_secret(
    tmp_path: Path, body: object, named: str
) -> None:
    if isinstance(body, dict) and body.get("entity_id") == "AA":
        body["entity_id"] = "AA-1"
    config = agent_config(tmp_path, credentials=REGISTERED)

    async def story(http: httpx2.AsyncClient) -> None:
        answer = await http.post(REGISTER, json=body)

        assert (answer.status_code, answer.json()["errorCode"]) == (400, "InvalidRequest")
        assert named in answer.json()["message"]
        secret = body.get("secret") if isinstance(body, dict) else None
        assert not secret or str(secret) not in answer.text or secret == 5

    run_story(config, story)
    assert not (Path(config.directory) / "registered-credentials.json").exists()


def test_without_the_setting_there_is_neither(tmp_path: Path) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        answers = [
            await http.post(REGISTER, json={"entity_id": "AA-1", "secret": "x"}),
            await http.get(TOKEN),
        ]

        assert [one.status_code for one in answers] == [501, 501]
        assert all("credentials.registered" in one.json()["message"] for one in answers)

    run_story(agent_config(tmp_path), story)


def test_no_web_page_and_no_program_without_the_token_of_the_agent_gets_one(
    tmp_path: Path,
) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        own = {"Authorization": "Bearer of-the-agent"}
        page = await http.get(TOKEN, headers=own | {"Sec-Fetch-Site": "cross-site"})
        stranger = await http.get(TOKEN)
        other = await http.get(TOKEN, headers=own | {"Host": "rebound.example"})
        ours = await http.get(TOKEN, headers=own)
        wrong = [await http.get(REGISTER), await http.post(TOKEN, json={})]

        refused = [one.status_code for one in (page, stranger, other)]
        assert refused == [403, 401, 421]
        assert ours.status_code == 503
        assert [one.status_code for one in wrong] == [405, 405]

    run_story(agent_config(tmp_path, credentials=REGISTERED), story, b"of-the-agent")


def test_what_waited_is_sent_at_once_after_a_registration(tmp_path: Path) -> None:
    clock, operator = MovedClock(), HostileOperator(31)
    operator.now = clock.datetime

    async def story() -> None:
        agent = assemble(
            agent_config(tmp_path, credentials=REGISTERED),
            clock,
            lambda _, high: high,
            lambda _: None,
            operator.transport,
        )
        await agent.tick()
        clock.pass_time(WINDOW + CLOSE_DELAY + SPREAD)
        await agent.tick()
        for _ in range(3):
            await agent.push_once()
            clock.pass_time(500)
        waited = agent.pusher.metrics.last_error
        async with called(agent) as http:
            body = {"entity_id": "AA-1", "secret": operator.secret}
            await http.post(REGISTER, content=json.dumps(body), headers=JSON)
        await agent.push_once()

        assert "no secret is registered" in waited
        assert len(operator.stored) == 1
        await agent.aclose()

    asyncio.run(story())


JSON = {"Content-Type": "application/json"}


def test_the_calls_of_snalib_1_0_are_answered_as_it_reads_them(aa: Member, tmp_path: Path) -> None:
    """`@sahamati/snalib` 1.0.0 is in no registry that the tests reach: its requests, in its order."""
    body = {"ver": "2.0.0", "txnid": "0b811819-9044-4856-b0ee-8c88035f8858"}
    event = {
        "peerId": "fip-test-001",
        "peerType": "FIP",
        "customerId": "user-test@network",
        "txnCorId": "5f0c",
        "body": body,
    }
    notified, requested = {"route": "/Consent/Notification"}, {"route": "/FI/request"}
    dispatched = [
        event | notified | {"callType": "requestIn"},
        event | notified | {"callType": "responseOut", "httpStatus": 200},
        event | requested | {"callType": "requestOut"},
        event
        | requested
        | {"callType": "responseIn", "httpStatus": 200, "addlAttr": {"correlationId": "c"}},
    ]

    async def run() -> None:
        agent = assemble(settings(tmp_path, aa), MachineClock(), lambda low, _: low, lambda _: None)
        async with writing(agent.recorder), called(agent) as http:
            ping, version = await http.get("/sna/v1/ping"), await http.get("/sna/v1/version")
            credentials = {"entity_id": aa.entity_id, "secret": aa.secret()}
            registered = await http.post(REGISTER, json=credentials)
            taken = [await http.post("/sna/v1/aa", json=one) for one in dispatched]
            token = await http.get(TOKEN)
            counted = (await http.get("/metrics")).text
        await agent.aclose()

        assert (ping.status_code, set(version.json())) == (200, {"agentVersion", "name"})
        assert registered.json()["status"] == "registered"
        assert [one.json() for one in taken] == [{"message": "accepted"}] * 4
        assert {"accessToken", "expiresIn", "tokenType", "ver", "txnId"} <= token.json().keys()
        assert "mudra_agent_events_total 4.0" in counted

    asyncio.run(run())


def test_a_secret_and_a_registration_exclude_each_other(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    lines = [
        'aa_id = "AA-1"',
        f'directory = "{tmp_path}/spool"',
        '[operator]\ntoken_url = "https://o.example/iam"\npush_url = "https://o.example/push"',
        '[credentials]\nid.value = "AA-1"\nregistered = true',
    ]
    file.write_text("\n".join(lines))
    registered = read_config(file)
    file.write_text("\n".join([*lines, 'secret.file = "/etc/secret"']))

    with pytest.raises(ConfigError, match=r"credentials\.registered"):
        read_config(file)

    assert registered.credentials.registered
    assert msgspec.to_builtins(registered.credentials.secret) == {}
