"""While the database is away: 503 in time, keys and liveness go on; back without a restart."""

import asyncio
import os
import signal
import time
from pathlib import Path

import httpx2
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.process import running_service
from tests.support.processes import children
from tests.support.service import Service
from tests.support.until import until


def postmaster(service: Service) -> int:
    return int((service.data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def freeze(service: Service, number: signal.Signals) -> None:
    """Stop or continue every process of the embedded server."""
    head = postmaster(service)
    for pid in [head, *children(head)]:
        os.kill(pid, number)


def asked_at_once(service: Service, bearer: dict[str, str]) -> tuple[list[int], float]:
    """Statuses of 60 calls at once, three for each connection, and the seconds until the last."""

    async def ask() -> list[int]:
        async with httpx2.AsyncClient(verify=NO_TLS) as client:
            url = f"{service.issuer}/v1/user/token/list"
            answers = await asyncio.gather(*(client.get(url, headers=bearer) for _ in range(60)))
        return [one.status_code for one in answers]

    began = time.monotonic()
    return asyncio.run(ask()), time.monotonic() - began


def test_a_database_that_does_not_answer_is_reported_as_503_in_time(data_dir: Path) -> None:
    with running_service(data_dir) as service:
        member = new_member(service)
        bearer, secret = member.bearer(), member.secret()
        browser = reader(service)
        browser.sign_in(member.email)
        freeze(service, signal.SIGSTOP)
        try:
            until(lambda: member.entity_token(secret).status_code != 200)
            token = member.entity_token(secret)
            asked = time.monotonic()
            read = member.read(bearer)
            answered = time.monotonic() - asked
            keys = httpx2.get(f"{service.issuer}/.well-known/jwks.json", verify=NO_TLS)
            live = httpx2.get(f"{service.root}/livez", verify=NO_TLS)
            ready = httpx2.get(f"{service.root}/readyz", verify=NO_TLS)
            crowd, crowd_s = asked_at_once(service, bearer)
            page = browser.get("/console")
            form = browser.sign_in(member.email)
        finally:
            freeze(service, signal.SIGCONT)

        assert (token.status_code, read.status_code, ready.status_code) == (503, 503, 503)
        assert int(read.headers["retry-after"]) >= 1
        assert read.json()["errorCode"] == "ServiceUnavailable"
        assert (page.status_code, page.headers["refresh"]) == (503, "5")
        assert "tries again every 5 seconds" in page.text
        assert form.status_code == 503
        assert "refresh" not in form.headers
        assert answered < 5
        assert set(crowd) == {503}
        assert crowd_s < 8
        assert (keys.status_code, live.status_code) == (200, 200)
        assert len(keys.json()["keys"]) == 4

        until(lambda: member.entity_token(secret).status_code == 200)
