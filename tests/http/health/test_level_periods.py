"""The periods of which there is no report of service levels, and those that its page offers."""

import re
from datetime import timedelta

import httpx2
from tests.http.health.level_world import INDIA, REPORTS, WINDOW
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import window_start


def made(service: Service, **period: str) -> httpx2.Response:
    """The answer to an operator who makes a report of a new FIP."""
    bank = new_member(service, "FIP")
    return new_operator(service, "health").post(REPORTS, entityId=bank.entity_id, **period)


def test_of_a_time_without_any_report_there_is_no_report_of_levels(
    health_service: Service,
) -> None:
    quiet = window_start(health_service.advance("PT0S")) - timedelta(days=80)

    answer = made(health_service, start=quiet.isoformat(), end=(quiet + WINDOW).isoformat())

    assert (answer.status_code, answer.json().get("errorMsg")) == (
        409,
        "no AA reported anything in this time, so there is nothing to report",
    )


def test_a_month_that_goes_on_is_named(health_service: Service) -> None:
    month = f"{health_service.advance('PT0S').astimezone(INDIA):%Y-%m}"

    answer = made(health_service, month=month)

    assert (answer.status_code, answer.json().get("errorMsg")) == (
        400,
        f"the month {month} is not over",
    )


def test_the_page_offers_no_month_without_reports_and_names_targets_in_words(
    health_service: Service,
) -> None:
    now = health_service.advance("PT0S").astimezone(INDIA)
    last = now.replace(day=1) - timedelta(days=1)
    staff = reader(health_service)
    assert staff.sign_in(new_operator(health_service, "health").email).status_code == 303

    page = staff.get("/console/operator/levels").text

    assert f'<option value="{last:%Y-%m}">' not in page
    assert f'<option value="{now:%Y-%m}">' not in page
    assert re.search(r">Missing reports</td>.*?≤ 1\.0 %", page)
    assert re.search(r">95 % had data within</td>.*?>10 min", page)
