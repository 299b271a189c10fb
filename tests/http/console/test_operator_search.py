"""Operators search everything that their scopes show, and an ID leads to what it names."""

import re
from datetime import datetime, timedelta
from urllib.parse import urlencode

import pytest
from tests.http.console.stored_incidents import end_incident, open_incident
from tests.support.members import new_member, onboard
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.console.framework.navigation import operator_path
from mudra.metrics.payload.catalogue import WINDOW

SEARCH = operator_path("search")


def signed_in(service: Service, *scopes: str) -> Reader:
    browser = reader(service)
    assert browser.sign_in(new_operator(service, *scopes).email).status_code == 303
    return browser


@pytest.fixture(scope="module")
def boss(service: Service) -> Reader:
    return signed_in(service)


def test_words_of_a_name_find_the_member_its_health_and_its_people(
    service: Service, boss: Reader
) -> None:
    bank = new_member(service, "FIP")
    word = bank.entity_id[:-2]

    page = boss.get(f"{SEARCH}?q={word.lower()}").text

    assert f'href="{operator_path(f"members/{bank.entity_id}")}"' in page
    assert f'href="{operator_path(f"health/fip/{bank.entity_id}")}"' in page


def test_the_member_of_exactly_this_name_comes_first_with_the_status_of_the_list(
    service: Service, boss: Reader
) -> None:
    word = "Zanskar"
    for number in range(11):
        onboard(service, "FIP", name=f"{word} Bank {number}")
    service.cli(
        *("member", "onboard", "Z-LAST", "--type", "FIU", "--name", word),
        *("--admin", "last@member.example"),
    )

    hits = boss.get(f"{SEARCH}?q={word.upper()}").text.partition('class="hits"')[2]

    assert hits.index("members/Z-LAST") < hits.index("</li>")
    assert "FIU Z-LAST, no admin can act" in hits


def test_an_incident_that_is_over_is_found_with_both_its_times(
    service: Service, boss: Reader
) -> None:
    bank = new_member(service, "FIP", name="Spiti Bank").entity_id
    end_incident(service, open_incident(service, bank, timedelta(days=1)))
    open_incident(service, bank)

    page = boss.get(f"{SEARCH}?q=spiti bank").text

    assert re.search("over, <time[^>]*>[^<]*</time>\N{EN DASH}<span data-clock><time", page)
    assert re.search(r"open, since <time[^>]*>[^<]*</time></span>", page)


def test_an_id_or_an_address_leads_there_at_once(service: Service, boss: Reader) -> None:
    bank = new_member(service, "FIP")

    for text in (bank.entity_id, f"  {bank.entity_id.lower()} ", bank.email.upper()):
        answer = boss.get(f"{SEARCH}?q={text}")
        assert answer.status_code == 303, text
        assert answer.headers["location"].endswith(operator_path(f"members/{bank.entity_id}"))


def test_what_is_found_while_one_types_goes_nowhere_by_itself(
    service: Service, boss: Reader
) -> None:
    bank = new_member(service, "FIP")

    answer = boss.get(f"{SEARCH}?q={bank.entity_id}&part=hits")

    assert answer.status_code == 200
    assert f'href="{operator_path(f"members/{bank.entity_id}")}"' in answer.text
    assert "<html" not in answer.text
    assert "Nothing found." in boss.get(f"{SEARCH}?q=no-such-thing-at-all&part=hits").text


def _times(start: datetime, end: datetime) -> str:
    return urlencode({"from": f"{start:%Y-%m-%dT%H:%M:%SZ}", "to": f"{end:%Y-%m-%dT%H:%M:%SZ}"})


def test_a_receipt_leads_to_its_aa_at_its_window(service: Service, boss: Reader) -> None:
    aa = pushing_aa(service)
    receipt = aa.push(aa.requests()).json()["receiptId"]

    answer = boss.get(f"{SEARCH}?q={receipt.upper()}")

    assert answer.status_code == 303
    window = aa.last_window()
    leads_to = f"{operator_path(f'health/aa/{aa.aa_id}')}?{_times(window, window + WINDOW)}"
    assert answer.headers["location"] == leads_to


def test_a_transaction_and_a_page_are_offered(boss: Reader) -> None:
    txn = "00000000-0000-4000-8000-000000000001"

    assert f"/console/operator/audit?txn={txn}" in boss.get(f"{SEARCH}?q={txn}").text
    assert f'<li><a href="{operator_path("keys")}">' in boss.get(f"{SEARCH}?q=keys signing").text


def test_a_signing_key_is_found_by_its_id(service: Service, boss: Reader) -> None:
    kid = service.client().get("/.well-known/jwks.json").json()["keys"][0]["kid"]

    answer = boss.get(f"{SEARCH}?q={kid}")

    assert answer.headers["location"].endswith(operator_path("keys"))


def test_what_the_scopes_do_not_show_is_not_found_and_looks_like_nothing(service: Service) -> None:
    bank = new_member(service, "FIP")
    keeper = signed_in(service, "keys")

    found = keeper.get(f"{SEARCH}?q={bank.entity_id}")
    unknown = keeper.get(f"{SEARCH}?q=NO-SUCH-BANK")

    assert found.status_code == unknown.status_code == 200
    assert "Nothing found." in found.text
    assert f"/{bank.entity_id}" not in found.text
    assert "Not searched: Members, Health, People, Incidents, Reports, Audit" in found.text


def test_a_health_operator_jumps_to_the_health_of_a_member(service: Service) -> None:
    bank = new_member(service, "FIP")

    answer = signed_in(service, "health").get(f"{SEARCH}?q={bank.entity_id}")

    assert answer.headers["location"].endswith(operator_path(f"health/fip/{bank.entity_id}"))


@pytest.mark.parametrize("text", ["", "%25", "_", "<script>alert(1)</script>", "a" * 5000, "%00"])
def test_odd_texts_find_nothing_and_break_nothing(boss: Reader, text: str) -> None:
    answer = boss.get(f"{SEARCH}?q={text}")

    assert answer.status_code in {200, 400}
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("page", ["audit?entity", "audit?txn", "members?type", "incidents?entity"])
def test_nul_in_an_address_is_no_fault_of_the_service(boss: Reader, page: str) -> None:
    assert boss.get(f"{operator_path(page)}=%00x").status_code == 200
