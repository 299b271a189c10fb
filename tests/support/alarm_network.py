"""A service whose AAs report faults on request, for tests of incidents and their alarms."""

from dataclasses import dataclass
from typing import Any

from tests.support.mailbox import mails
from tests.support.members import Member
from tests.support.metrics.health_network import HealthNetwork, at_fip
from tests.support.people.operators import Operator
from tests.support.service import Service


@dataclass
class Network:
    """A service of its own, AAs that report, and an operator."""

    service: Service
    health: HealthNetwork
    noc: Operator

    def report(self, fip_id: str, share: int, windows: int = 2) -> None:
        """Let the next windows hold 100 consents of each AA, of which `share` succeeded."""
        fault = at_fip(fip_id, "cns", failing=1 - share / 100)
        self.health.windows(windows, fault, fips=[fip_id, self.health.fips[0].entity_id])
        self.service.advance("PT1S")  # wakes the watch

    def good(self, fip_id: str) -> None:
        """Let a good hour pass first."""
        self.report(fip_id, 99, windows=4)

    def open_incidents(self, fip_id: str) -> list[dict[str, Any]]:
        answer = self.noc.get("/incidents", entityId=fip_id, open="true")
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["incidents"]
        return found

    def hook(self, url: str, **members: str) -> dict[str, Any]:
        answer = self.noc.post("/health/webhooks", url=url, **members)
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def end_silences(self, entity_id: str) -> None:
        for one in self.noc.get("/health/silences").json()["silences"]:
            if one["entityId"] == entity_id:
                self.noc.post(f"/health/silences/{one['silenceId']}/end")


def as_entity(member: Member) -> dict[str, str]:
    """The header of an entity's own calls."""
    token = member.entity_token(member.secret()).json()["accessToken"]
    return {"Authorization": f"Bearer {token}"}


def emails_to(service: Service, to: str) -> list[str]:
    """The texts of the emails to an address."""
    return [one["text"] for one in mails(service, to)]
