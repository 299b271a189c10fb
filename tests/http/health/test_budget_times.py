"""Until when a budget counts: what is due, so that a late report is missing as in incidents."""

import re
from datetime import datetime

from tests.http.health.level_world import WINDOW, within_a_month
from tests.support.metrics.health_network import a_network, at_fip
from tests.support.people.console import reader
from tests.support.service import Service

from mudra.levels.budgets.budget_run import work_out_budgets
from mudra.metrics.rollup.coverage import due_until


def test_the_missing_reports_of_an_agent_count_when_they_are_late(health_service: Service) -> None:
    service = health_service
    within_a_month(service)
    net = a_network(service, aas=3, fips=2)
    net.early_in_a_window()
    net.windows(8)
    silent, last = net.aas[0].aa_id, net.reported_to
    assert last is not None
    net.silent.add(silent)
    net.windows(3)
    net.settled()

    service.in_store(lambda parts: work_out_budgets(parts.transaction))

    (budget,) = [
        one
        for one in net.noc.get("/levels/budgets", entityId=silent).json()["budgets"]
        if one["burn"]["measure"] == "missingReports"
    ]
    until = due_until(datetime.fromisoformat(budget["at"]))
    missing = (until - last) // WINDOW - 1
    assert missing in {1, 2}
    assert budget["burn"]["spent"] == 2 * missing
    staff = reader(service)
    assert staff.sign_in(net.noc.email).status_code == 303
    page = staff.get("/console/operator/levels").text
    rows = [one for one in page.split('<tr role="row">') if ">Missing reports<" in one]
    (row,) = [one for one in rows if f'data-label="Failures">{2 * missing}<small>' in one]
    (allowed,) = re.findall(r"<small> (\S+) allowed</small>", row)
    assert re.fullmatch(r"\d\.\d", allowed), allowed
    (counted,) = re.findall(r'Counted from .*? to <time[^>]*datetime="([^"]+)"', page)
    assert datetime.fromisoformat(counted) == until
    assert "each window has two, one of requests and one of notifications." in page


def test_no_budget_lasts_the_month_while_an_open_incident_uses_up_the_rest(
    health_service: Service,
) -> None:
    service = health_service
    within_a_month(service)
    net = a_network(service, aas=3, fips=2)
    bank = net.fips[0]
    net.windows(12)
    net.settled()
    service.in_store(lambda parts: work_out_budgets(parts.transaction))
    admin = reader(service)
    assert admin.sign_in(bank.email).status_code == 303
    page = f"/console/entity/{bank.entity_id}/levels"
    before = admin.get(page).text
    net.windows(4, at_fip(bank.entity_id, "fireq", failing=0.6))
    net.settled()

    shown = admin.get(page).text

    assert "All budgets last the month." in before
    assert "not in them yet" not in before
    assert "All budgets last the month." not in shown
    assert "Availability: the budget will not last the month." in shown
    assert re.search(r'health/incidents/[^"]+">[^<]*FI request[^<]*</a> since <time', shown)
    assert "what failed later is not in them yet." in shown
