"""The pages of a report: its numbers, every missed target, in both languages, and as files."""

import html
import json
import re

from tests.http.health.level_world import LevelWorld
from tests.support.people.console import reader
from tests.support.service import Service


def test_its_pages_show_the_numbers_in_both_languages(health_service: Service) -> None:
    world = LevelWorld(health_service)
    report_id, bank = world.make(world.fip)["reportId"], world.network.fips[0]
    staff = reader(world.network.service)
    assert staff.sign_in(world.network.noc.email).status_code == 303
    admin = reader(world.network.service)
    assert admin.sign_in(bank.email).status_code == 303

    listed = staff.get("/console/operator/levels").text
    page = admin.get(f"/console/entity/{bank.entity_id}/levels/{report_id}").text
    account = "/console/account"
    assert admin.act(account, f"{account}/language", language="hi").status_code == 303
    hindi = admin.get(f"/console/entity/{bank.entity_id}/levels").text

    assert f"/console/operator/levels/{report_id}" in listed
    report = world.read(report_id).json()["report"]
    (share,) = (
        one["value"]
        for one in report["figures"]
        if (one["measure"], one["api"]) == ("availability", "fireq")
    )
    assert f"{int(share * 100) / 100:.2f} %" in page
    missed = [one for one in report["figures"] if one["met"] is False]
    shown = re.findall(r"<li>(.*? target .*?)</li>", page)
    assert f"{len(missed)} targets missed" in page
    assert len(shown) == len(missed)
    for one in missed:
        failed = f"({one['whole'] - one['part']} of {one['whole']} calls failed"
        is_share = one["measure"] in {"availability", "success", "endedInData"}
        assert not is_share or any(failed in text.replace(",", "") for text in shown), one
    own = [row for row in hindi.split('<tr role="row">') if f"/levels/{report_id}" in row]
    assert [f"{len(missed)} चूके" in row for row in own] == [True]
    assert "सेवा स्तर" in hindi
    assert '<html lang="hi">' in hindi
    printed = admin.get(f"/console/entity/{bank.entity_id}/levels/{report_id}?download=pdf")
    assert printed.content.startswith(b"%PDF-")
    assert printed.headers["content-disposition"].endswith('.pdf"')
    assert bank.reset(oldSecretValidity=0).status_code == 200
    world.network.service.advance("PT20M")  # its chart ends with a window that is over
    shown = admin.get(f"/console/entity/{bank.entity_id}/health?range=24h&over-time=part").text
    (figures,) = re.findall(r"data-figures='([^']*)'", shown)
    marks = [text for _, text in json.loads(html.unescape(figures))["marks"]]
    assert any(bank.entity_id in one for one in marks)
    proof = admin.get(f"/console/entity/{bank.entity_id}/levels/{report_id}?download=proof")
    assert proof.json()["report"] == world.read(report_id, "/proof").json()["report"]
