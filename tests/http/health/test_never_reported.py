"""A live AA that never sent a report is shown as that, on the board and on the overview."""

import re

from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.registry.registry_members import live_entry
from tests.support.service import Service


def test_an_aa_that_never_reported_is_counted_and_named(service: Service) -> None:
    registry, _ = live_entry(service, "AA")
    aa_id, operator, browser = registry.member.entity_id, new_operator(service), reader(service)
    new_member(service, "FIP")
    service.advance("PT1H30M")
    assert browser.sign_in(operator.email).status_code == 303

    overview = browser.get("/console/operator/health?range=1h").text

    missing = overview.partition('id="silent"')[2].partition("</section>")[0]
    row = re.search(rf"</a></strong> <code>{aa_id}</code><p>(.*?)</p>", missing)
    assert row is not None, missing
    # Of the six windows of an hour the last ones may still come (decision 0044).
    assert re.fullmatch(r"Never reported\. (8|10|12) of \1 reports missing", row[1]), row[1]
    assert aa_id in overview.partition('class="heat"')[2], "a column of the matrix"

    def board() -> str:
        return browser.get("/console/operator/board").text

    mine = rf": ([^<]*)</a></h3>[^<]*<span[^>]*>[^<]*</span></div>\s*<p class=\"quiet\"><code>{aa_id}</code>"
    service.wait_until(lambda: re.search(mine, board()) is not None)
    shown = re.search(mine, board())
    assert shown is not None
    assert shown[1] == "never reported", "not that it stopped"
