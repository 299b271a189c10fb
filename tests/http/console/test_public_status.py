"""The public status: 90 days, no AA named, no small counts shown, "no data" never 100 %."""

import csv
import io
import re
import uuid
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree as ET

import httpx2
import msgspec
import pytest
import sqlalchemy as sa
from tests.http.public_status import until_shown
from tests.support.database.lock_holder import lock_holder
from tests.support.error_body import assert_error
from tests.support.http_clients import NO_TLS
from tests.support.members import onboard
from tests.support.metrics.incidents import an_incident, stored_row
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.metrics.totals import reported_by, totals_of
from tests.support.process import running_service
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.localization.languages import Languages
from mudra.metrics.health.weighing import seen_by_most
from mudra.metrics.incidents.incident import AaCalls, AaReporting, FipApi, Incident
from mudra.metrics.payload.catalogue import Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip
from mudra.metrics.public_status.status_history import (
    Day,
    DayState,
    StatusSnapshot,
    days_of_fips,
    public_incident,
    with_incidents,
)
from mudra.storage.tables.metrics import metrics_incident

DAY = datetime(2026, 3, 4, tzinfo=UTC)
HINDI_LANGUAGE = Languages().of("hi")


def day_of(total: int, ok: int, not_found: int = 0) -> Day:
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = total, ok
    counts[Position.NOT_FOUND_404] = not_found
    block = RequestBlock(RequestType.CONSENT.value, (90, 200, 300, 400), tuple(counts))
    seen = seen_by_most(totals_of([reported_by("AA", "FIP", block)]))
    return days_of_fips(DAY.date(), seen).of_fips["FIP"]


def incident(subject: object, began: datetime, ended: datetime | None, eligible: int) -> Incident:
    return an_incident(subject, began, ended, eligible=eligible)


def get(service: Service, path: str) -> httpx2.Response:
    return httpx2.get(f"{service.root}{path}", verify=NO_TLS)


def test_a_day_is_reported_by_its_calls_and_incidents() -> None:
    midday = incident(FipApi("F", "fif"), DAY + timedelta(hours=12), DAY + timedelta(hours=13), 200)

    good, bad = (day_of(500, ok) for ok in (499, 400))
    after = msgspec.structs.replace(good, day=DAY.date() + timedelta(days=1))

    assert (good.state, bad.state) == (DayState.GOOD, DayState.BAD)
    assert with_incidents(good, [midday], is_below=False).state is DayState.PARTLY
    assert with_incidents(bad, [midday], is_below=True) == bad
    assert with_incidents(after, [midday], is_below=True) == after
    assert good.success_percentage == 99.8


def test_nothing_is_reported_of_few_calls_or_none() -> None:
    for day in (day_of(99, 99), day_of(500, 0, 500)):
        assert (day.state, day.requests, day.success_percentage) == (DayState.TOO_FEW, None, None)
    few = public_incident(incident(FipApi("F", "fif"), DAY, None, 99))
    enough = public_incident(incident(FipApi("F", "fif"), DAY, None, 100))
    assert few is not None
    assert enough is not None
    assert (few.success_percentage, enough.success_percentage) == (None, 50.0)


def test_incidents_of_aas_are_not_shown() -> None:
    for subject in (AaCalls("A"), AaReporting("A")):
        assert public_incident(incident(subject, DAY, None, 1000)) is None


def test_the_page_and_the_files_tell_the_same_and_name_no_aa(service: Service) -> None:
    aa = pushing_aa(service)
    fip_id, _ = onboard(service, "FIP", name="Narmada Bank")
    for payload in (aa.requests(), aa.notifications()):
        assert aa.push(payload).status_code == 200
    service.advance("PT10M")

    # Made again behind the one who looks, so not always at the first look.
    service.wait_until(lambda: "Narmada Bank" in get(service, f"/status?q={fip_id}").text)
    page = get(service, f"/status?q={fip_id}")
    snapshot = msgspec.json.decode(
        get(service, "/status/network.json").content, type=StatusSnapshot
    )
    rows = list(csv.DictReader(io.StringIO(get(service, "/status/network.csv").text)))
    one = get(service, f"/status/fip/{fip_id}")
    files = {
        name: list(csv.DictReader(io.StringIO(get(service, f"{path}?export={name}").text[1:])))
        for path, name in (("/status", "apis"), (f"/status/fip/{fip_id}", "history"))
    }

    assert page.status_code == one.status_code == 200
    assert "Narmada Bank" in page.text
    assert aa.aa_id not in page.text + one.text
    found = {fip.fip_id: fip for fip in snapshot.fips}[fip_id]
    assert len(found.days) == 90
    assert {day.state for day in found.days} == {DayState.NO_DATA}
    mine = [row for row in rows if row["fip_id"] == fip_id]
    assert [row["day"] for row in mine] == [day.day.isoformat() for day in found.days]
    assert {row["success_percentage"] for row in mine} == {""}
    assert {row["Day (UTC)"] for row in files["history"]} == {row["day"] for row in mine}
    assert {(row["State"], row["Success %"]) for row in files["history"]} == {("no data", "")}
    assert "Narmada Bank" in {row["Institution"] for row in files["apis"]}
    assert "100 %" not in one.text
    (badge,) = re.findall(r'src="([^"]+/badge.svg)"', one.text)
    assert "Narmada Bank" in get(service, badge).text


def test_an_aa_that_fell_silent_is_not_among_those_that_report(service: Service) -> None:
    aa = pushing_aa(service)
    for payload in (aa.requests(), aa.notifications()):
        assert aa.push(payload).status_code == 200
    service.advance("PT10M")

    def counted() -> tuple[int, int]:
        data = get(service, "/status/network.json").json()
        return data["reporters_heard"], data["reporters_expected"]

    service.wait_until(lambda: counted()[0] > 0)
    service.advance("PT2H")

    service.wait_until(lambda: counted()[0] == 0)
    reported, expected = counted()
    assert expected > 0
    page = get(service, "/status").text
    assert f"the reports of {reported} of {expected} account aggregator" in page


def test_the_data_has_a_schema_and_a_license(service: Service) -> None:
    service.wait_until(lambda: get(service, "/status/network.json").status_code == 200)
    schema = get(service, "/status/schema.json").json()
    data, rows = get(service, "/status/network.json"), get(service, "/status/network.csv")
    license_ = "https://creativecommons.org/licenses/by/4.0/"

    assert schema["$defs"]["StatusSnapshot"]["properties"].keys() == data.json().keys()
    for file in (data, rows):
        assert f'<{license_}>; rel="license"' in file.headers["link"]
        assert '</status/schema.json>; rel="describedby"' in file.headers["link"]
    for path in ("v1/fips.json", "v1/fips.csv", "feed.atom", "feed.rss"):
        file = get(service, f"/status/{path}")
        assert file.headers["link"] == f'<{license_}>; rel="license"', path
        assert file.headers["content-type"].count("charset") <= 1, path
    assert f'rel="license" href="{license_}"' in get(service, "/status").text


def test_institutions_of_one_name_are_shown_with_their_ids(service: Service) -> None:
    name = f"Sangam Gramin {uuid.uuid4().hex[:6]}"
    twins = [onboard(service, "FIP", name=name)[0] for _ in range(2)]
    alone, _ = onboard(service, "FIP", name=f"{name} Sahakari")

    def page() -> str:
        return httpx2.get(f"{service.root}/status", params={"q": name}, verify=NO_TLS).text

    # All were onboarded before the last of them.
    until_shown(service, lambda: alone in page())
    shown = page()

    assert [f">{name} ({one})</a>" in shown for one in twins] == [True, True]
    assert f">{name} Sahakari</a>" in shown


def test_an_unknown_institution_is_not_found(service: Service) -> None:
    for path in ("/status/fip/UNKNOWN", "/status/nothing"):
        page = get(service, path)
        assert (page.status_code, "There is no page at this address." in page.text) == (404, True)
        assert "Network status" in page.text
    assert_error(get(service, "/status/v1/nothing"), 404, "NotFound")


@pytest.mark.slow
def test_a_disrupted_day_is_shown_however_many_incidents_came_later(tmp_path: Path) -> None:
    with (
        running_service(tmp_path / "data", keeps_store=True) as service,
        lock_holder(service) as holder,
    ):
        # No day is judged meanwhile: what is stored here would be withdrawn, as no call failed.
        holder.session.execute("SELECT pg_advisory_xact_lock(hashtextextended('watch', 0))")
        aa, (fip_id, _) = pushing_aa(service), onboard(service, "FIP", name="Narmada Bank")
        midnight = aa.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=3)
        for hours in (-30, -2, 2, 30):  # a good day, two around midnight, a good one
            says_consent(aa, midnight + timedelta(hours=hours), fip_id)

        async def keep(dependencies: Dependencies) -> None:
            over_midnight = stored_row(
                str(UUID(int=0)), "fip-api", fip_id, midnight - timedelta(hours=1)
            )
            later = midnight + timedelta(hours=3)
            others = [
                stored_row(
                    str(UUID(int=n)), "aa-reporting", "ANOTHER-AA", later + timedelta(minutes=n)
                )
                for n in range(1, 600)
            ]
            async with dependencies.database.transaction() as transaction:
                await transaction.connection.execute(
                    sa.insert(metrics_incident), [over_midnight, *others]
                )

        service.in_store(keep)
        found: list[StatusSnapshot] = []

        def has_all() -> bool:
            answer = get(service, "/status/network.json")
            found.append(msgspec.json.decode(answer.content, type=StatusSnapshot))
            return bool(found[-1].incidents)

        until_shown(service, has_all)
        (fip,) = [one for one in found[-1].fips if one.fip_id == fip_id]
        days = {day.day: day.state for day in fip.days if day.state is not DayState.NO_DATA}
        assert list(days.values()) == ["good", "partly", "partly", "good"]
        assert min(days) == (midnight - timedelta(days=2)).date()
        assert [one.fip_id for one in found[-1].incidents] == [fip_id]  # of AAs nothing is shown
        assert "2 of 4 measured days without disruption" in get(service, "/status").text
        the_feeds_name_the_incident(service, fip_id)
        in_hindi = get(service, f"/status/fip/{fip_id}?lang=hi").text
        assert HINDI_LANGUAGE.day(min(days)) in in_hindi
        assert f">{min(days)}<" not in in_hindi
        the_headline_names_a_past_disruption(service, aa)


def the_feeds_name_the_incident(service: Service, fip_id: str) -> None:
    for path in ("/status/feed", f"/status/fip/{fip_id}/feed"):
        rss = get(service, f"{path}.rss")
        channel = ET.fromstring(rss.content).find("channel")  # our own
        assert rss.headers["content-type"].startswith("application/rss+xml")
        assert channel is not None
        (item,) = channel.findall("item")
        assert item.findtext("title") == "Narmada Bank: consent over"
        assert (item.findtext("link") or "").endswith(f"/status/fip/{fip_id}")
        assert parsedate_to_datetime(item.findtext("pubDate") or "").tzinfo is UTC
        assert (item.findtext("guid") or "").endswith("#ended")
        assert get(service, f"{path}.atom").headers["content-type"].startswith("application/atom")


def the_headline_names_a_past_disruption(service: Service, aa: PushingAa) -> None:
    """One bad window is no incident, but the day of this institution was not without trouble."""
    fip_id, _ = onboard(service, "FIP", name="Tapti Bank")
    says_consent(aa, aa.last_window() - timedelta(hours=2), fip_id, failed=100)
    says_consent(aa, aa.last_window(), fip_id)  # without a recent report nothing is operational
    shown = "disrupted in the last 24 hours: Tapti Bank</h1>"

    until_shown(service, lambda: shown in get(service, "/status").text)
    assert 'class="banner warn"' in get(service, "/status").text


def says_consent(aa: PushingAa, window: datetime, fip_id: str, failed: int = 0) -> None:
    """Report a window of a FIP's consents."""
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = 200, 200 - failed
    counts[Position.INTERNAL_500] = failed
    block = RequestBlock(RequestType.CONSENT.value, (90, 200, 300, 400), tuple(counts))
    payload = msgspec.structs.replace(aa.requests(window), fips=(RequestFip(fip_id, (block,)),))
    answer = aa.push(payload)
    assert answer.status_code == 200, answer.text


def test_a_link_to_a_page_is_shown_with_a_card(service: Service) -> None:
    fip_id, _ = onboard(service, "FIP", name="Mahi Bank")
    client = service.client()
    until_shown(
        service, lambda: "Mahi Bank" in client.get(f"{service.root}/status?q={fip_id}").text
    )

    for path in ("/status", f"/status/fip/{fip_id}"):
        page = client.get(service.root + path).text
        found = re.search(r'<meta property="og:image" content="([^"]+)">', page)
        assert found is not None
        assert found[1].endswith(f"{path}/card.png")
        card = client.get(f"{service.root}{path}/card.png")
        assert (card.status_code, card.headers["content-type"]) == (200, "image/png")
        assert card.content.startswith(b"\x89PNG")
        tag = {"If-None-Match": card.headers["etag"]}
        assert client.get(f"{service.root}{path}/card.png", headers=tag).status_code == 304
    assert client.get(f"{service.root}/status/fip/NO-BANK/card.png").status_code == 404
