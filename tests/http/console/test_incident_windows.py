"""The windows on the page of an incident: what its head counts, and no more, is shown as bad."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.support.metrics.health_network import a_network, at_fip
from tests.support.people.console import Reader, reader
from tests.support.service import PASSWORD, Service

from mudra.metrics.payload.catalogue import WINDOW


@pytest.fixture
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One in this process: AAs that report to that of the run are judged with each of its moves."""
    with service_in_process(tmp_path_factory.mktemp("windows") / "data") as running:
        yield running


def boxes(page: str) -> list[str]:
    (windows,) = re.findall(r'<ol class="windows">(.*?)</ol>', page, re.DOTALL)
    return re.findall(r"<li .*?</li>", windows, re.DOTALL)


def shaded(browser: Reader, path: str) -> list[datetime]:
    """The starts of the windows whose ground is red."""
    part = browser.get(f"{path}?over-time=part").text
    (written,) = re.findall(r"data-figures='([^']*)'", part)
    figures = json.loads(written)
    starts = [datetime.fromtimestamp(one / 1000, UTC) for one in figures["starts"]]
    return [starts[place] for place in figures["bad"]]


def test_a_window_that_is_not_judged_yet_is_neither_red_nor_shaded(service: Service) -> None:
    net = a_network(service, fips=3)
    fip_id = net.fips[0].entity_id
    down = at_fip(fip_id, "fireq", failing=0.7)
    net.early_in_a_window()
    net.windows(4)
    net.windows(3, down)
    net.settled()
    (found,) = net.incidents(fip_id)
    assert net.reported_to is not None
    last_bad = net.reported_to
    net.silent.add(net.aas[0].aa_id)  # its report may still come
    net.windows(1, down)

    member, operator = reader(service), reader(service)
    assert member.sign_in(net.fips[0].email, PASSWORD).status_code == 303
    assert operator.sign_in(net.noc.email).status_code == 303
    incident_id = found["incidentId"]
    for browser, path in (
        (operator, f"/console/operator/incidents/{incident_id}"),
        (member, f"/console/entity/{fip_id}/health/incidents/{incident_id}"),
    ):
        page = browser.get(path).text
        *judged, latest = boxes(page)
        assert "Bad in the latest judged window; later ones wait for reports." in page
        assert [one.startswith('<li class="bad"') for one in judged[-3:]] == [True] * 3
        assert latest.startswith('<li class="none" title="Not judged yet:')
        assert "not judged yet</span>" in latest
        assert not any("judged yet" in one for one in judged)
        assert shaded(browser, path) == [last_bad - 2 * WINDOW, last_bad - WINDOW, last_bad]


def test_a_gap_is_filled_only_by_reports_that_came(service: Service) -> None:
    net = a_network(service, fips=2)
    silent, others = net.aas[0].aa_id, {one.aa_id for one in net.aas[1:]}
    net.early_in_a_window()
    net.windows(3)
    net.silent = {silent}
    net.windows(3)
    last = net.reported_to
    assert last is not None
    net.settled()
    (found,) = net.incidents(silent)
    operator = reader(service)
    assert operator.sign_in(net.noc.email).status_code == 303
    path = f"/console/operator/incidents/{found['incidentId']}"
    assert "Blank since " in operator.get(path).text
    net.silent = set()
    net.windows(4)
    net.settled()
    gap = [last - 2 * WINDOW, last - WINDOW, last]

    said = [operator.get(path).text]
    assert "Blank since " not in said[0]
    net.silent = others
    for windows in (gap[:1], gap[1:]):
        for window in windows:
            net.report(window)
        said.append(operator.get(path).text)

    for page, sentence in zip(
        said,
        (
            "No late report has filled the gap.",
            "Late reports have filled in some of the gap.",
            "Late reports have filled the gap.",
        ),
        strict=True,
    ):
        assert f"were missing. {sentence}" in page
