"""A small network with something on each page, for tests that look at all pages."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2
import sqlalchemy as sa
from tests.support.alarm_network import as_entity
from tests.support.members import Member, new_member
from tests.support.metrics.incidents import stored_row
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.operators import active_operator, with_token
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service
from tools.demonstration import Page, operator_pages

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import WINDOW
from mudra.storage.tables.metrics import metrics_incident


@dataclass(frozen=True)
class Network:
    """A member of each kind with something on each of its pages, and an operator."""

    service: Service
    aa: PushingAa
    fip: Member
    fiu: Member
    operator: str
    incident_id: str
    announcement_id: str
    dispute_id: str
    report_id: str
    mail_id: str

    @property
    def pages_of_operator(self) -> list[Page]:
        """Every page of operators, in the order of the menu."""
        ids = self.aa.aa_id, self.fip.entity_id, self.incident_id, self.announcement_id
        lists = self.dispute_id, self.report_id, self.mail_id
        return list(operator_pages(self.operator, *ids, *lists))


def a_network(service: Service) -> Network:
    aa, fip, fiu = pushing_aa(service), new_member(service), new_member(service, "FIU")
    assert aa.push(aa.requests(fips=2)).status_code == 200
    assert aa.push(b"{}").status_code == 400
    send(fip, payload(fip))  # which waits for approval
    add_webhook(fip)
    operator = active_operator(service)
    announcement_id = announce(service, operator, fip.entity_id)
    began, incident_id = aa.last_window() - 12 * WINDOW, str(uuid.uuid4())

    async def store(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            row = stored_row(incident_id, "fip-api", fip.entity_id, began)
            await transaction.connection.execute(sa.insert(metrics_incident), [row])

    service.in_store(store)
    service.wait_until(lambda: httpx2.get(f"{service.root}/status/fip/{fip.entity_id}").is_success)
    dispute_id = contest(fip, incident_id)
    report_id = a_report(service, operator, fip.entity_id, aa.last_window() + WINDOW)
    service.advance("PT2M")  # until the public status is read again
    service.wait_until(lambda: httpx2.get(f"{service.root}/status/levels").is_success)
    ids = incident_id, announcement_id, dispute_id, report_id, an_email(service, operator)
    return Network(service, aa, fip, fiu, operator, *ids)


def a_report(service: Service, operator: str, fip_id: str, end: datetime) -> str:
    """Make a report of the FIP, and let members see the league table, and all what FIPs deliver."""
    noc = with_token(service, operator)
    today = datetime.fromtimestamp(service.wall(), UTC).date().isoformat()
    rule = {"since": today, "noticeHours": 24, "hoursAMonth": 24, "league": True, "published": True}
    assert noc.post("/levels/rule", **rule, reason="a test").status_code == 200
    period = {"start": (end - 24 * WINDOW).isoformat(), "end": end.isoformat()}
    made = noc.post("/levels/reports", entityId=fip_id, **period)
    assert made.status_code == 200, made.text
    return str(made.json()["report"]["reportId"])


def an_email(service: Service, operator: str) -> str:
    """The ID of an email to the operator: of the dispute."""
    found = with_token(service, operator).get("/mails", to=operator).json()["mails"]
    return str(found[0]["id"])


def contest(fip: Member, incident_id: str) -> str:
    """Raise a dispute with a file, of an incident of the FIP."""
    text = "Our gateway answered all calls of this time, as its log shows. " * 8
    said = {"entityId": fip.entity_id, "about": "incident", "incidentId": incident_id, "text": text}
    url, headers = "/v1/entity/disputes", fip.bearer()
    made = fip.client.post(url, json=said, headers=headers)
    assert made.status_code == 200, made.text
    dispute_id = made.json()["dispute"]["disputeId"]
    file = {"name": "gateway-of-the-bank.log", "content": "MTAgMjAwCg=="}
    fip.client.post(f"{url}/{dispute_id}/evidence", json=file, headers=headers).raise_for_status()
    return str(dispute_id)


def announce(service: Service, operator: str, fip_id: str) -> str:
    """Announce something that is over, and something with all that it may have."""
    noc = with_token(service, operator)
    words = {"title": "A title of an announcement " * 4, "text": "Some plain words of it. " * 24}
    for more in ({}, {"kind": "incident", "fipIds": [fip_id], "begins": "2026-01-31T09:30:00Z"}):
        made = noc.post("/announcements", **words, **more)
        assert made.status_code == 200, made.text
        announcement_id = made.json()["announcement"]["announcementId"]
        if not more:
            noc.post(f"/announcements/{announcement_id}/end")
    return str(announcement_id)


def add_webhook(member: Member) -> None:
    root = member.service.root
    url = {"url": "https://alarms.example/a-long-address/of-an-alarm-system/with-many-parts"}
    made = member.client.post(
        f"{root}/metrics/perf/v1/webhooks", json=url, headers=as_entity(member)
    )
    assert made.status_code == 200, made.text
