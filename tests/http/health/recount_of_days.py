"""The history of an institution by day, its badge, and how severe an incident is: recounted."""

import re
from datetime import UTC, datetime
from typing import Any

from tests.http.public_status import open_data
from tests.support.metrics.recounted import (
    CUSTOMERS,
    WINDOW,
    Cell,
    Compared,
    Counts,
    RecountedNetwork,
    Situation,
    Truth,
    found,
    number,
)
from tests.support.people.console import Reader, reader

LEAST_CALLS = 100
"""Below it nothing is published of a day."""
_MANY, _VERY_MANY = 50, 1_000
"""Failed calls of a window of which half are critical, and of which a tenth is."""
_CLOSES_AFTER = 3 * WINDOW
_TAGS = {"good": "good", "partly": "an incident", "bad": "bad"}


def severity_is_right(
    compared: Compared,
    noc: Reader,
    incident_id: str,
    network: RecountedNetwork,
    situation: Situation,
    truth: Truth,
) -> None:
    """Compare how severe it is on the board, on its page, and when its first email was written."""
    board = noc.get("/console/operator/board").text.replace("\n", " ")
    (row,) = found(rf'<li><div class="apart"><h3><a href="[^"]*{incident_id}.*?</li>', board)
    page = noc.get(f"/console/operator/incidents/{incident_id}").text.replace("\n", " ")
    (head,) = found(r'<h1 id="verdict">.*?</div>', page)
    true = _severity(situation, truth.counts, truth.last, truth.bad_windows)
    for where, html in (("board", row), ("page", head)):
        tags = re.findall(r'<span class="tag [a-z]+">(critical|major|minor)</span>', html)
        compared.same(f"{where}: severity", tags[:1], [true])
    mails = [one for one in network.mails_to(network.noc.email) if incident_id in one["text"]]
    (opening,) = [one for one in mails if "Latest, at" in one["text"]][-1:]
    (windows,) = found(r"in (\d+) windows? of ten minutes", opening["text"])
    together, last = truth.until(int(windows))
    then = _severity(situation, together, last, int(windows))
    said = opening["subject"].partition("]")[0].removeprefix("[").lower()
    compared.same("email: severity", said, then)


def _severity(situation: Situation, together: Counts, last: Counts, windows: int) -> str:
    """Of very many calls a tenth, else of many calls half, and not on one path alone."""
    if last.failed >= _VERY_MANY and 10 * last.failed >= last.eligible:
        return "critical"
    many = max(last.failed, together.failed / windows) >= _MANY
    half = 2 * last.failed >= last.eligible
    return "critical" if many and half and situation.kind != "path" else "major"


def badges_say(compared: Compared, network: RecountedNetwork, fip_id: str, state: str) -> None:
    """Compare the badges of an institution and of the network with the state that is true."""
    client, root = network.service.client(), network.service.root
    of_fip = client.get(f"{root}/status/fip/{fip_id}/badge.svg").text
    compared.same("badge: its state", _words_of(of_fip)[-1], state)


def _words_of(badge: str) -> list[str]:
    return [one for one in re.findall(r">([^<>]+)</text>", badge) if one.strip()]


def days_are_recounted(
    compared: Compared, network: RecountedNetwork, fip_id: str, truth: Truth
) -> None:
    """Compare the days of an incident of a FIP: in the open data, and on its public page."""
    (of_fip,) = [one for one in open_data(network.service)["fips"] if one["fip_id"] == fip_id]
    days = {one["day"]: one for one in of_fip["days"]}
    page = reader(network.service).get(f"/status/fip/{fip_id}").text.replace("\n", " ")
    history = _history(page)
    for day in sorted({at.astimezone(UTC).date() for at, _ in truth.by_window}):
        shown = days[day.isoformat()]
        _day_is(compared, network, fip_id, shown)
        compared.same("history: its state", history[day.isoformat()][0], _TAGS[shown["state"]])
        if shown["requests"] is not None:
            compared.same("history: calls", history[day.isoformat()][1], shown["requests"])


def _day_is(
    compared: Compared, network: RecountedNetwork, fip_id: str, shown: dict[str, Any]
) -> None:
    def own(one: Cell) -> bool:
        is_own = one.fip_id == fip_id and one.code in CUSTOMERS
        return is_own and one.window.astimezone(UTC).date().isoformat() == shown["day"]

    whole = network.count(own)
    sure = network.count(lambda one: own(one) and not _is_elsewhere(network, one))
    if whole.total < LEAST_CALLS:
        return
    if sure == whole:
        compared.same("day: calls", shown["requests"], whole.total)
        compared.same("day: success", shown["success_percentage"], whole.percent(1))
        is_bad = 100 * whole.good <= 95 * whole.eligible
        compared.same("day: state", shown["state"], "bad" if is_bad else "partly")
    else:
        # From its second window on what is elsewhere is left out, until it closes.
        inside = sure.total <= (shown["requests"] or 0) <= whole.total
        compared.same("day: calls between", int(inside), 1)


def _is_elsewhere(network: RecountedNetwork, cell: Cell) -> bool:
    """Report whether an AA or a path may be why a call failed."""
    return any(
        not one.kind.startswith("fip")
        and one.has(cell)
        and truth.began <= cell.window < truth.last_bad + WINDOW + _CLOSES_AFTER
        for one, truth in network.past
    )


def _history(page: str) -> dict[str, tuple[str, int]]:
    """Return state and calls of each day in the table of the page."""
    (table,) = found(r'<section class="table" id="history".*?</section>', page)
    days = {}
    for row in re.findall(r'<tr role="row">(.*?)</tr>', table.partition("<tbody")[2]):
        cells = [re.sub(r"<[^>]+>", "", one).strip() for one in re.findall(r"<td.*?</td>", row)]
        day = datetime.strptime(cells[0], "%d %b %Y").replace(tzinfo=UTC).date()
        calls = cells[2] if len(cells) > 2 and cells[2][:1].isdigit() else "0"
        days[day.isoformat()] = (cells[1], number(calls))
    return days
