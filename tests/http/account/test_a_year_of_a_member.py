"""A year of one member: three rotations, one forgotten, an admin replaced, and every email."""

from datetime import datetime
from pathlib import Path

import pytest
from tests.support.mailbox import latest_link, mails, subjects
from tests.support.members import Member, new_member, set_password
from tests.support.process import running_service
from tests.support.service import PASSWORD, Service
from tests.support.until import until

RESET = "the entity secret was reset"
DAYS = "the entity secret expires in {} days"
TOMORROW = "the entity secret expires in 1 day"
EXPIRED = "the entity secret has expired"
IN_USE = "the old secret is still in use"


class Year:
    """Walks through time and knows which letters went out."""

    def __init__(self, service: Service, entity_id: str) -> None:
        self.service, self.entity_id, self.day = service, entity_id, 0

    def to_day(self, day: int) -> None:
        """Move to a day of the year in steps that pass no two reminders at once."""
        self.service.advance(f"P{day - self.day}D")
        self.day = day

    def emails(self, email: str) -> list[str]:
        return subjects(self.service, email)

    def expect(self, email: str, wanted: list[str]) -> None:
        until(lambda: self.emails(email) == wanted, lambda: self.emails(email))


@pytest.mark.slow
def test_a_year_with_the_exact_emails(tmp_path: Path):
    with running_service(tmp_path / "data", keeps_store=True) as service:
        asha = new_member(service)
        year = Year(service, asha.entity_id)
        wanted = year.emails(asha.email)
        assert len(wanted) == 1  # the invitation

        first_rotation(year, asha, wanted)
        ravi = replaced_admin(year, asha)
        wanted += ["an admin hands over", f"{ravi.email} took over from {asha.email}"]
        forgotten_rotation(year, ravi)
        third_rotation(year, ravi)

        # Who left is written to no more.
        year.expect(asha.email, wanted)


def first_rotation(year: Year, asha: Member, wanted: list[str]) -> None:
    """Reminded at 30 and 14 days, Asha rotates with a week of grace; one program is late."""
    for day, message in ((150, DAYS.format(30)), (166, DAYS.format(14))):
        year.to_day(day)
        wanted.append(message)
        year.expect(asha.email, wanted)
    old = asha.secret()
    assert asha.reset(oldSecretValidity=7).status_code == 200
    wanted.append(RESET)
    year.to_day(172)
    assert asha.entity_token(old).json()["message"].startswith("The secret used is the old one")
    until(lambda: used_at_day(year, asha) >= 1)
    year.service.advance("PT12H")
    wanted.append(IN_USE)
    year.expect(asha.email, wanted)
    year.to_day(175)
    assert asha.entity_token(old).json()["errorCode"] == "SecretGraceEnded"


def used_at_day(year: Year, asha: Member) -> int:
    answer = asha.client.get(
        "/v1/entity/secret/use", params={"entityId": year.entity_id}, headers=asha.bearer()
    )
    return int(answer.json().get("old", {"count": 0})["count"])


def replaced_admin(year: Year, asha: Member) -> Member:
    """Asha leaves the bank and hands over to Ravi."""
    year.to_day(200)
    headers, email = asha.bearer(), "ravi@member.example"
    answer = asha.client.post(
        "/v1/entity/admin/handover",
        json={"entityId": asha.entity_id, "email": email, "name": "Ravi Iyer"},
        headers=headers,
    )
    assert answer.status_code == 200, answer.text
    assert asha.read(headers).status_code == 200
    client = year.service.client()
    assert set_password(client, latest_link(year.service, email)).status_code == 200
    assert asha.read(headers).status_code == 401
    return Member(year.service, asha.entity_id, email, PASSWORD, client)


def forgotten_rotation(year: Year, ravi: Member) -> None:
    """Ravi reads no mail until the secret has expired: all six letters, and no token."""
    secret = ravi.secret()
    wanted = year.emails(ravi.email)
    ends = ravi.read().json()["expiresOn"] / 1000
    now = datetime.fromisoformat(ravi.read().json()["timestamp"]).timestamp()
    last = year.day + int((ends - now) // 86400)
    for before in (30, 14, 7, 3, 1):
        year.to_day(last + 1 - before)
        wanted.append(TOMORROW if before == 1 else DAYS.format(before))
        year.expect(ravi.email, wanted)
    year.to_day(last + 2)
    wanted.append(EXPIRED)
    year.expect(ravi.email, wanted)
    assert ravi.entity_token(secret).json()["errorCode"] == "SecretExpired"
    assert ravi.reset().status_code == 200
    wanted.append(RESET)
    year.expect(ravi.email, wanted)
    assert ravi.entity_token(ravi.secret()).status_code == 200


def third_rotation(year: Year, ravi: Member) -> None:
    """In time this time: no reminder, and the old secret is let go by hand."""
    wanted = year.emails(ravi.email)
    year.to_day(max(365, year.day + 1))
    assert ravi.reset(oldSecretValidity=7).status_code == 200
    wanted.append(RESET)
    retired = ravi.client.post(
        "/v1/entity/secret/retire", json={"entityId": ravi.entity_id}, headers=ravi.bearer()
    )
    assert retired.status_code == 200
    year.service.advance("P6DT12H")
    year.expect(ravi.email, wanted)
    assert "by ravi@member.example" in mails(year.service, ravi.email)[-1]["text"]
