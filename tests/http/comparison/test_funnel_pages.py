"""The pages of the funnel: a member's own, an operator's, and what each says of others."""

import csv
import io
import re
from datetime import timedelta

from tests.http.comparison.conftest import Weeks
from tests.http.comparison.test_funnel import truth
from tests.http.comparison.test_roles import week_of
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.service import PASSWORD


def texts(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def untagged(html: str) -> str:
    """Returns the words of a page without the tag of the worst step, wherever it is."""
    return re.sub(r"(loses most|worst step) ", "", texts(html))


def within(weeks: Weeks) -> str:
    first, last = weeks.windows[0], weeks.windows[-1]
    return f"from={first:%Y-%m-%dT%H:%M:%SZ}&to={last:%Y-%m-%dT%H:59:59Z}"


def test_a_member_sees_its_steps_its_weeks_and_its_place(weeks: Weeks) -> None:
    fip, (name, _) = weeks.members[2], week_of(weeks)
    browser = reader(weeks.service)
    assert browser.sign_in(fip.email, PASSWORD).status_code == 303
    home = f"/console/entity/{fip.entity_id}/funnel"

    shown = browser.get(f"{home}?{within(weeks)}&week={name}").text

    begun, done, *_ = truth(weeks, fip=fip.entity_id)["discovery"]
    assert f"Discovery {begun:,} {done:,} " in untagged(shown)
    assert f"Among all FIPs, week {name}" in shown
    assert f"<code>{name}</code>" in shown
    assert "AA</a></th>" in shown
    others = [one.entity_id for one in weeks.fips if one is not fip]
    assert not any(one in shown for one in others)
    assert "/docs/how-to/read-the-funnel.html" in shown
    exported = browser.get(f"{home}?{within(weeks)}&export=aa").text
    assert exported.count("\n") == 7
    assert all(one.aa_id in exported for one in weeks.aas)
    refused = browser.get(f"{home}?week=2026-W99")
    assert refused.status_code == 400
    assert "or an earlier one" in refused.text


def test_the_step_that_loses_most_has_the_largest_figure_of_its_column(weeks: Weeks) -> None:
    browser = reader(weeks.service)
    assert browser.sign_in(weeks.noc.email, PASSWORD).status_code == 303

    shown = browser.get(f"/console/operator/funnel?{within(weeks)}").text

    table = shown[shown.index('id="steps"') :].partition("</table>")[0]
    rows = re.findall(r'class="term name-cell">(.*?)</tr>', table, re.DOTALL)
    lost = [re.search(r'data-label="Lost, %">([\d.]+)<', row) for row in rows]
    named = [number for row, number in zip(rows, lost, strict=True) if "loses most" in row]
    assert len(rows) == 7
    assert [float(one[1]) for one in named if one] == [max(float(one[1]) for one in lost if one)]
    places = re.findall(r'data-label="(Points above|Discovery)" class="(\S+)[ "]', shown)
    assert {*places} == {("Points above", "figure-cell"), ("Discovery", "more-cell")}


def test_the_worst_step_of_a_fip_is_the_same_in_the_list_and_on_its_page(weeks: Weeks) -> None:
    browser = reader(weeks.service)
    assert browser.sign_in(weeks.noc.email, PASSWORD).status_code == 303
    home = "/console/operator/funnel"
    listed = browser.get(f"{home}?{within(weeks)}&export=fip").text
    rows = {one["Entity ID"]: one for one in csv.DictReader(io.StringIO(listed.lstrip("\ufeff")))}

    said = {
        one.entity_id: texts(browser.get(f"{home}/fip/{one.entity_id}?{within(weeks)}").text)
        for one in weeks.fips
    }

    assert any(one["Worst step"] for one in rows.values())
    for fip_id, page in said.items():
        step, points = rows[fip_id]["Worst step"], rows[fip_id]["Points above"]
        if step:
            assert f"{step} loses {points} points more than the network: " in page
            assert f"{step} worst step" in page
        else:
            assert "No step loses more than the network, beyond chance." in page
            assert "worst step" not in page
        assert "Network, %" in page


def test_an_operator_goes_from_the_network_to_a_pair(weeks: Weeks) -> None:
    browser = reader(weeks.service)
    assert browser.sign_in(weeks.noc.email, PASSWORD).status_code == 303
    aa, fip = weeks.aas[0].aa_id, weeks.fips[0].entity_id

    for path, where, links in (
        ("", {}, [f"/fip/{fip}", f"/aa/{aa}"]),
        (f"/fip/{fip}", {"fip": fip}, [f"/pair/{aa}/{fip}"]),
        (f"/aa/{aa}", {"aa": aa}, [f"/pair/{aa}/{fip}"]),
        (f"/pair/{aa}/{fip}", {"aa": aa, "fip": fip}, []),
    ):
        shown = browser.get(f"/console/operator/funnel{path}?{within(weeks)}").text
        begun, done, *_ = truth(weeks, **where)["consent"]
        assert f"Consent {begun:,} {done:,} " in untagged(shown), path
        assert all(f"/console/operator/funnel{link}" in shown for link in links)


def test_a_page_says_since_when_there_were_calls(weeks: Weeks) -> None:
    browser = reader(weeks.service)
    assert browser.sign_in(weeks.noc.email, PASSWORD).status_code == 303
    first, last = weeks.windows[0], weeks.windows[-1]
    before = first - timedelta(days=3)
    late = f"from={before:%Y-%m-%dT%H:%M:%SZ}&to={last:%Y-%m-%dT%H:%M:%SZ}"

    said = browser.get(f"/console/operator/funnel?{late}").text.partition("Calls are known from")

    assert f'datetime="{first:%Y-%m-%dT%H:%M:%SZ}"' in said[2][:200]
    whole = browser.get(f"/console/operator/funnel?{within(weeks)}").text
    assert "Calls are known from" not in whole


def test_a_fiu_has_no_funnel(weeks: Weeks) -> None:
    fiu = new_member(weeks.service, "FIU")
    browser = reader(weeks.service)
    assert browser.sign_in(fiu.email, PASSWORD).status_code == 303

    refused = browser.get(f"/console/entity/{fiu.entity_id}/funnel")

    assert refused.status_code == 400
    assert "calls are not counted by FIU" in refused.text
    assert "/funnel" not in browser.get(f"/console/entity/{fiu.entity_id}").text
