"""What pages say in words and figures of an incident and its member, against the recount."""

import re
from datetime import datetime, timedelta

from tests.http.public_status import until_shown
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
    instant,
    number,
)
from tests.support.people.console import Reader, reader

API_NAMES = {"cns": "consent", "fireq": "FI request", "fif": "FI fetch"}
"""The types that the network is called by, as pages name them."""
_FAILING = {
    "fip": "Your APIs are failing",
    "aa-calls": "Your calls to FIPs are failing",
    "path": "The path between Kaveri Bank and Kaveri Bank is failing",
}
"""What the overview of a member says, by the place of its incident; all have one name here."""


def failing(counts: Counts) -> float:
    """Return the share in titles."""
    return counts.percent_failed


def state_of_incident(
    compared: Compared, noc: Reader, incident_id: str, network: RecountedNetwork, truth: Truth
) -> None:
    """Compare the only open incident on the board and on its page: bad now, or good for how long.

    And since when, and what its title says.
    """
    board = noc.get("/console/operator/board").text.replace("\n", " ")
    (count,) = found(r'<strong class="large">(\d+)</strong> incidents? open', board)
    compared.same("board: incidents open", int(count), 1)
    (row,) = found(rf'<li><div class="apart"><h3><a href="[^"]*{incident_id}.*?</li>', board)
    page = noc.get(f"/console/operator/incidents/{incident_id}").text.replace("\n", " ")
    (banner,) = found(r'<section class="banner .*?</section>', page)
    assert network.reported_to is not None
    good = (network.reported_to - truth.last_bad) // WINDOW
    for where, html in (("board", f"{row}</li>"), ("page", banner)):
        said = found(r"Bad in the latest|Not bad in the last (\d+) minutes", html)
        # What is bad in the latest window is what the board lists: there it is not said again.
        (minutes,) = said or ([""] if where == "board" else [])
        compared.same(f"{where}: minutes since it was bad", int(minutes or 0), 10 * good)
        compared.same(f"{where}: recovering", int(": recovering<" in html), int(good > 0))
        (since,) = found(r"Since.*", html)
        (began, *_) = re.findall(r'datetime="([^"]+)"', since)
        compared.same(f"{where}: since", instant(began), truth.began)


def calls_on_the_page(
    compared: Compared,
    noc: Reader,
    incident_id: str,
    network: RecountedNetwork,
    situation: Situation,
    truth: Truth,
) -> None:
    """Compare who is affected and the latest windows: the calls of its sentence, no heartbeats."""
    end = truth.last_bad + WINDOW
    is_aa = situation.kind in {"path", "aa-calls"}
    aa = situation.entity_id if is_aa else ""
    fip = situation.peer_id if is_aa else situation.entity_id
    codes = (situation.code,) if situation.code else CUSTOMERS

    def counted(since: datetime, until: datetime) -> Counts:
        def has(one: Cell) -> bool:
            ends = aa in {"", one.aa_id} and fip in {"", one.fip_id}
            return ends and one.code in codes and since <= one.window < until

        return network.count(has)

    page = noc.get(f"/console/operator/incidents/{incident_id}").text.replace("\n", " ")
    hit = [row for row in _rows_of(page, "contrasts") if "to compare" not in row[0]]
    calls = sum(number(total) for _, _, total in hit)
    compared.same("affected: calls", calls, counted(truth.began, end).eligible)
    (windows,) = found(r'<ol class="windows">.*?</ol>', page)
    tile = r'datetime="([^"]+)".*?<strong>([\d.]+) %</strong> <span>([\d,]+) calls?<'
    for item in windows.split("</li>"):
        for at, share, shown in re.findall(tile, item):
            true = counted(instant(at), instant(at) + WINDOW)
            compared.same("tile: calls", number(shown), true.eligible)
            compared.same("tile: success", float(share), true.percent(1))


def figures_of_subject(
    compared: Compared, noc: Reader, network: RecountedNetwork, situation: Situation, truth: Truth
) -> None:
    """Compare the health page of the member or pair, from the first bad window to the last."""
    end = truth.last_bad + WINDOW
    is_aa = situation.kind in {"path", "aa-calls"}
    aa = situation.entity_id if is_aa else ""
    fip = situation.peer_id if is_aa else situation.entity_id

    def counted(codes: tuple[str, ...], aa_id: str = aa, fip_id: str = fip) -> Counts:
        def has(one: Cell) -> bool:
            ends = aa_id in {"", one.aa_id} and fip_id in {"", one.fip_id}
            return ends and one.code in codes and truth.began <= one.window < end

        return network.count(has)

    path = f"pair/{aa}/{fip}" if aa and fip else f"aa/{aa}" if aa else f"fip/{fip}"
    time = f"from={truth.began:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M:%SZ}"
    page = noc.get(f"/console/operator/health/{path}?{time}&type=all").text.replace("\n", " ")
    whole = counted(CUSTOMERS)
    share, calls = found(r">([\d.]+)\s%</strong> of ([\d,]+) calls succeeded", page)
    compared.same("health: success", float(share), whole.percent(1))
    compared.same("health: calls", number(calls), whole.eligible)
    by_api = _rows_of(page, "apis")
    for code, name in API_NAMES.items():
        ((_, success, total),) = [row for row in by_api if f">{name} ({code})<" in row[0]]
        true = counted((code,))
        compared.same("health: success of an API", float(success), true.percent(1))
        compared.same("health: calls of an API", number(total), true.total)
    codes = {name: code for code, name in API_NAMES.items()}
    for first, success, total in _rows_of(page, "others"):
        aa_id, fip_id, name = found(r"/pair/([^/]+)/([^?]+)\?.*<td[^>]*>([^<]+)</td>", first)
        true = counted((codes[name],), aa_id, fip_id)
        compared.same("health: success of a counterpart", float(success), true.percent(1))
        compared.same("health: calls of a counterpart", number(total), true.total)


def _rows_of(page: str, table: str) -> list[tuple[str, str, str]]:
    """Return of each row of calls what is before its figures, its success and its calls."""
    (section,) = re.findall(rf'<section class="table" id="{table}".*?</section>', page) or [""]
    figure = r'<td[^>]*data-label="{}"[^>]*>(?:<[^>]*>)?([\d.,]+)'
    shown = re.compile(f"(.*?){figure.format('Success %')}.*?{figure.format('Calls')}")
    rows = re.findall(r'<tr role="row">(.*?)</tr>', section.partition("<tbody")[2])
    return [(one[1], one[2], one[3]) for one in map(shown.match, rows) if one]


def overview_of_member(
    compared: Compared, network: RecountedNetwork, situation: Situation, truth: Truth
) -> None:
    """Compare what the overview of the member at the cause says."""
    own = reader(network.service)
    assert own.sign_in(network.admins[situation.entity_id]).status_code == 303
    page = (
        own.get(f"/console/entity/{situation.entity_id}")
        .text.replace("\n", " ")
        .replace("\u00a0", " ")
    )
    what, why = found(r">now</span>\s*<div><strong>([^<]*failing)</strong><p[^>]*>([^<]*)<", page)
    name = API_NAMES.get(situation.code, "")
    true = _FAILING.get(situation.kind) or f"{name[:1].upper()}{name[1:]} failing"
    compared.same("overview: what", what, true)
    (share,) = found(r"([\d.]+) % of calls failing", why)
    compared.same("overview: share", float(share), failing(truth.counts))
    _health_of_member(compared, network, own, situation)


def _health_of_member(
    compared: Compared, network: RecountedNetwork, own: Reader, situation: Situation
) -> None:
    """Compare the first figure of its health page: of the incident's calls in the last hour."""
    page = own.get(f"/console/entity/{situation.entity_id}/health").text.replace("\n", " ")
    share, calls = found(r">([\d.]+)\s%</strong> of (?:your )?([\d,]+) calls", page)
    (lead,) = found(r'<p class="lead">Data from.*?</p>', page)
    start, end = map(instant, re.findall(r'datetime="([^"]+)"', lead)[:2])
    true = network.count(lambda one: situation.has(one) and start <= one.window < end)
    compared.same("own health: success", float(share), true.percent(1))
    compared.same("own health: calls", number(calls), true.eligible)


def status_while_open(
    compared: Compared, network: RecountedNetwork, situation: Situation, truth: Truth
) -> None:
    """Compare the public status while a FIP is disrupted; its snapshot has the incident."""
    fip_id, page = situation.entity_id, _status(network)
    compared.same("status: headline", _headline(page), f"Kaveri Bank ({fip_id}) disrupted")
    compared.same("status: state", _state_of(page, fip_id), "Disrupted")
    opened = re.findall(r'<article class="incident">.*?</article>', page)
    compared.same("status: incidents open", len(opened), 1)
    api = API_NAMES.get(situation.code, "all APIs")
    compared.same("status: its API", int(f"</a>, {api} <span" in opened[0]), 1)
    began, *_, last = sorted(map(instant, re.findall(r'datetime="([^"]+)"', opened[0])))
    compared.same("status: first bad window", began, truth.began)
    (text,) = found(r'datetime="([^"]+)"[^>]*>[^<]*</time> <span>latest failures', opened[0])
    compared.same("status: latest failures", instant(text), truth.last_bad + timedelta(minutes=10))
    assert last >= truth.last_bad + timedelta(minutes=10)
    if truth.counts.eligible >= 100:
        share, time = found(r"([\d.]+) % of the calls failed in ([^.]+)\.", opened[0])
        compared.same("status: share", float(share), truth.counts.percent_failed)
        compared.same("status: time", time, _windows(truth.bad_windows))


def is_over(
    compared: Compared, noc: Reader, network: RecountedNetwork, situation: Situation
) -> None:
    """Compare what the board and the public status say once nothing is bad any more."""
    board = noc.get("/console/operator/board").text
    compared.same("board: nothing is broken", int("Nothing is broken now" in board), 1)
    if not situation.kind.startswith("fip"):
        return
    fip_id, state = situation.entity_id, "Disrupted earlier"
    until_shown(network.service, lambda: _state_of(_status(network), fip_id) == state)
    headline = _headline(_status(network))
    compared.same(
        "status: headline afterwards",
        headline.partition(":")[0],
        "All institutions operational; disrupted in the last 24 hours",
    )


def _status(network: RecountedNetwork) -> str:
    root = network.service.root
    return str(network.service.client().get(f"{root}/status").text.replace("\n", " "))


def _headline(page: str) -> str:
    (text,) = found(r"<h1>([^<]*)</h1>", page)
    return text


def _state_of(page: str, fip_id: str) -> str:
    (text,) = found(rf'/status/fip/{fip_id}">[^<]*</a></h3><span class="tag \w+">([^<]*)<', page)
    return text


def _windows(count: int) -> str:
    hours, minutes = divmod(count * WINDOW, timedelta(hours=1))
    left = int(minutes.total_seconds()) // 60
    parts = [f"{hours} h"] * bool(hours) + [f"{left} min"] * bool(left)
    return " ".join(parts)
