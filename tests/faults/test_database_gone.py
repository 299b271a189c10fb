"""While the database is away: 503 in time, keys and liveness go on; back without a restart."""

import os
import signal
import time
from pathlib import Path

import httpx
from tests.support.processes import children
from tests.support.service import NO_TLS, Service, new_member, running_service


def postmaster(service: Service) -> int:
    return int((service.data_dir / "postgres" / "postmaster.pid").read_text().split()[0])


def freeze(service: Service, number: signal.Signals) -> None:
    """Stop or continue every process of the embedded server."""
    head = postmaster(service)
    for pid in [head, *children(head)]:
        os.kill(pid, number)


def test_a_database_that_does_not_answer_is_told_as_503_in_time(data_dir: Path) -> None:
    with running_service(data_dir) as service:
        member = new_member(service)
        bearer, secret = member.bearer(), member.secret()
        freeze(service, signal.SIGSTOP)
        try:
            started = time.monotonic()
            token = member.entity_token(secret)
            while token.status_code == 200 and time.monotonic() - started < 3:
                token = member.entity_token(secret)
            asked = time.monotonic()
            read = member.read(bearer)
            answered = time.monotonic() - asked
            keys = httpx.get(f"{service.issuer}/.well-known/jwks.json", timeout=10, verify=NO_TLS)
            live = httpx.get(f"{service.root}/livez", timeout=10, verify=NO_TLS)
            ready = httpx.get(f"{service.root}/readyz", timeout=10, verify=NO_TLS)
        finally:
            freeze(service, signal.SIGCONT)

        assert (token.status_code, read.status_code, ready.status_code) == (503, 503, 503)
        assert int(read.headers["retry-after"]) >= 1
        assert read.json()["errorCode"] == "ServiceUnavailable"
        assert answered < 5
        assert (keys.status_code, live.status_code) == (200, 200)
        assert len(keys.json()["keys"]) == 4

        deadline = time.monotonic() + 10
        while member.entity_token(secret).status_code != 200:
            assert time.monotonic() < deadline
