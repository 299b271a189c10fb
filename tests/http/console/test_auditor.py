"""The audit as an auditor reads it: who signed in, whom an event concerns, what people did."""

import csv
import io
import re

import pytest
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.console.framework.navigation import operator_path

AUDIT = operator_path("audit")


@pytest.fixture(scope="module")
def auditor(service: Service) -> Operator:
    return new_operator(service, "audit")


@pytest.fixture(scope="module")
def browser(service: Service, auditor: Operator) -> Reader:
    made = reader(service)
    assert made.sign_in(auditor.email).status_code == 303
    return made


def events(browser: Reader, query: str) -> list[dict[str, str]]:
    answer = browser.get(f"{AUDIT}?{query}&export=events")
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def test_who_signed_in_is_the_actor(browser: Reader, auditor: Operator) -> None:
    signed_in = events(browser, f"actor={auditor.email}&event=user:sign_in:succeed")

    assert {one["Actor"] for one in signed_in} == {auditor.email}


def test_a_refused_sign_in_names_the_account_that_was_tried(
    service: Service, browser: Reader
) -> None:
    person = new_member(service)
    assert reader(service).sign_in(person.email, "not the password").status_code != 303

    found = events(browser, "event=user:sign_in:refuse")

    (tried,) = [one for one in found if person.email in one["Detail"]]
    assert tried["Actor"] == "no one signed in"


def test_acts_of_people_are_found_among_those_of_programs(
    service: Service, browser: Reader
) -> None:
    aa = pushing_aa(service)
    assert aa.push(aa.requests()).status_code == 200

    by_people = events(browser, f"entity={aa.aa_id}&by=people")
    by_programs = events(browser, f"entity={aa.aa_id}&by=programs")

    assert "entity:secret:read" in {one["Event"] for one in by_people}
    assert "metrics:report:accept" not in {one["Event"] for one in by_people}
    assert "metrics:report:accept" in {one["Event"] for one in by_programs}
    # What provisioned this service acted under a name, not an address: it is no person.
    assert {one["Actor"] for one in by_programs} == {f"entity:{aa.aa_id}", "tests"}
    assert "tests" not in {one["Actor"] for one in by_people}


def test_acts_of_people_come_first_and_those_of_machines_are_folded(
    service: Service, browser: Reader
) -> None:
    aa = pushing_aa(service)
    assert aa.push(aa.requests()).status_code == 200

    of_people = browser.get(AUDIT).text
    of_all = browser.get(f"{AUDIT}?by=all&within=1h").text
    files = events(browser, "by=programs&event=metrics:report:accept")

    assert "read the secret of" in of_people
    assert "metrics:report:accept" not in of_people.partition("<tbody")[2]
    assert re.search(r"report of |reports of ", of_all)
    assert files, "a file has each event"
    assert {one["Outcome"] for one in files} == {"success"}


def test_an_entity_leads_to_its_events(service: Service, browser: Reader) -> None:
    member = new_member(service)

    page = browser.get(f"{AUDIT}?entity={member.entity_id}").text

    assert re.search(rf'<a href="\?entity={member.entity_id}"><code>', page)


def test_a_report_leads_to_what_it_is_a_receipt_of(service: Service) -> None:
    aa, both = pushing_aa(service), reader(service)
    assert both.sign_in(new_operator(service, "audit", "health").email).status_code == 303
    receipt = aa.push(aa.requests()).json()["receiptId"]

    page = both.get(f"{AUDIT}?entity={aa.aa_id}&event=metrics:report:accept").text
    (link,) = re.findall(rf'<dt>Receipt</dt><dd><a href="([^"]+)">{receipt}</a>', page)

    leads_to = both.get(link).headers["location"]
    assert leads_to.startswith(f"{operator_path('health/aa')}/{aa.aa_id}?from=")
    assert both.get(leads_to).status_code == 200


def test_a_time_that_ends_before_it_begins_is_refused(browser: Reader) -> None:
    refused = browser.get(f"{AUDIT}?since=2026-02-01T00:00&until=2026-01-01T00:00")

    assert refused.status_code == 400
    assert "Since must be earlier than before" in refused.text
