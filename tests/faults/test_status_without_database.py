"""The public status answers from its last snapshot while the database is away."""

import signal
from pathlib import Path

import httpx2
import pytest
from tests.faults.test_database_gone import freeze
from tests.support.http_clients import NO_TLS
from tests.support.members import onboard
from tests.support.process import running_service

NOTICE = "Live data is not available right now"


@pytest.mark.slow
def test_the_status_is_shown_from_the_last_snapshot(data_dir: Path) -> None:
    with running_service(data_dir) as service:
        onboard(service, "FIP", name="Narmada Bank")
        fresh = httpx2.get(f"{service.root}/status", verify=NO_TLS)
        kept = data_dir / "status-snapshot.json"
        assert "Narmada Bank" in fresh.text
        assert NOTICE not in fresh.text
        assert "Narmada Bank" in kept.read_text()

        answers: list[httpx2.Response] = []

        def shown() -> bool:
            answers.append(httpx2.get(f"{service.root}/status", verify=NO_TLS))
            return NOTICE in answers[-1].text

        freeze(service, signal.SIGSTOP)
        try:
            service.wait_until(shown)
        finally:
            freeze(service, signal.SIGCONT)

        assert {answer.status_code for answer in answers} == {200}
        assert "Narmada Bank" in answers[-1].text
        assert max(answer.elapsed.total_seconds() for answer in answers) < 8
        service.wait_until(lambda: not shown())
