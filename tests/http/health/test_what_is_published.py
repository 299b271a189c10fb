"""Public pages, files and the feed name registered FIPs only, and say "no data" without reports."""

import uuid
from collections.abc import Iterator
from typing import Any

import httpx2
import msgspec
import pytest
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data
from tests.support.members import new_member, onboard
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.metrics.payload.catalogue import WINDOW, Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip, RequestMetrics

FEED = "/metrics/perf/v1/feed"
PUBLIC = (
    "/status",
    "/status?export=apis",
    "/status/network.json",
    "/status/network.csv",
    "/status/feed.atom",
    "/status/v1/fips.json",
    "/status/v1/fips.csv",
)
MAX_BLOCKS, MAX_UNKNOWN = 6, 3


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service_in_process(
        tmp_path_factory.mktemp("published") / "data",
        MUDRA_METRICS_PUSH_BLOCKS=str(MAX_BLOCKS),
        MUDRA_METRICS_PUSH_UNKNOWN_FIPS=str(MAX_UNKNOWN),
    ) as running:
        yield running


@pytest.fixture
def aa(service: Service) -> PushingAa:
    return pushing_aa(service)


def get(service: Service, path: str, **headers: str) -> httpx2.Response:
    answer = service.client().get(f"{service.root}{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer


def feed_of(service: Service, fiu: dict[str, str]) -> Any:
    return get(service, FEED, **fiu).json()


def fiu_of(service: Service) -> dict[str, str]:
    fiu = new_member(service, "FIU")
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    return {"Authorization": f"Bearer {token}"}


def consents(succeeded: int) -> RequestBlock:
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = 200, succeeded
    counts[Position.INTERNAL_500] = 200 - succeeded
    return RequestBlock(RequestType.CONSENT.value, (90, 200, 300, 400), tuple(counts))


def report(aa: PushingAa, windows_ago: int, **succeeded: int) -> RequestMetrics:
    """A payload with 200 consents of each FIP, of which so many succeeded."""
    fips = tuple(RequestFip(fip_id, (consents(good),)) for fip_id, good in succeeded.items())
    payload = aa.requests(aa.last_window() - windows_ago * WINDOW)
    return msgspec.structs.replace(payload, fips=fips)


def status_row(service: Service, fip_id: str) -> dict[str, Any]:
    rows = open_data(service, "/status/v1/fips.json")["fips"]
    mine = [one for one in rows if (one["fip_id"], one["api"]) == (fip_id, "consent")]
    return mine[0] if mine else {"status": None}


def test_80_minutes_without_any_report_are_no_data(service: Service, aa: PushingAa) -> None:
    """The first test here: nothing else was reported, and the first snapshot has its reports."""
    bank, _ = onboard(service, "FIP", name="Godavari Bank")
    for windows_ago in range(3):
        assert aa.push(report(aa, windows_ago, **{bank: 200})).status_code == 200
    fiu = fiu_of(service)
    service.wait_until(lambda: "perational" in get(service, "/status").text)
    assert "Operational" in get(service, f"/status/fip/{bank}").text
    assert status_row(service, bank)["status"] == "GOOD"

    def state() -> str:
        return str(feed_of(service, fiu)["data"]["fips"][bank]["consent"]["status"])

    service.advance("PT16M")  # its windows are judged without notifications then
    service.wait_until(lambda: state() == "GOOD")
    operator = new_operator(service, "health")
    assert operator.get("/board").json()["unjudgedSince"] is None
    with service.client() as client:  # as while no jobs run
        client.post(f"{service.root}/sandbox/v1/clock", json={"advance": "PT79M"})
    since = operator.get("/board").json()["unjudgedSince"]
    service.advance("PT1M")

    assert since.endswith("0:00.000Z")
    page = get(service, "/status").text
    of_bank = get(service, f"/status/fip/{bank}").text
    snapshot = open_data(service)
    assert "<h1>No data since " in page
    assert "perational" not in page + of_bank
    assert '<p class="now"><strong>No data</strong>' in of_bank
    assert {row["status"] for fip in snapshot["fips"] for row in fip["apis"]} == {"UNSURE"}
    assert snapshot["heard_until"]
    row = status_row(service, bank)
    assert (row["status"], row["requests"]) == ("UNSURE", 600)
    assert feed_of(service, fiu)["data"]["fips"][bank]["consent"]["status"] == "UNSURE"

    assert aa.push(report(aa, 0, **{bank: 200})).status_code == 200
    service.advance("PT10M")  # what is read for the files is read again with the next window
    service.wait_until(lambda: status_row(service, bank)["status"] == "GOOD")


def test_a_name_that_an_aa_made_up_is_published_nowhere(service: Service, aa: PushingAa) -> None:
    bank, _ = onboard(service, "FIP", name="Kaveri Bank")
    good, _ = onboard(service, "FIP", name="Narmada Bank")
    made_up = f"@CALL-1800-{uuid.uuid4().hex[:6]}"
    for windows_ago in range(3):
        answer = aa.push(report(aa, windows_ago, **{bank: 20, good: 199, made_up: 20}))
        assert answer.status_code == 200, answer.text
    service.advance("PT16M")  # no other report may come in time any more

    def open_of_bank() -> bool:
        snapshot = open_data(service)
        return bank in {one["fip_id"] for one in snapshot["incidents"]}

    service.wait_until(open_of_bank)
    fiu = fiu_of(service)
    service.wait_until(lambda: feed_of(service, fiu)["summary"].get(bank))
    for path in PUBLIC:
        text = get(service, path).text
        assert bank in text or "Kaveri Bank" in text
        assert made_up not in text, path
    assert made_up not in get(service, FEED, **fiu).text
    assert get(service, FEED, **fiu).json()["data"]["fips"][bank]["consent"]["status"] == "BAD"


def test_a_push_holds_a_bounded_number_of_blocks(service: Service, aa: PushingAa) -> None:
    fips = [onboard(service, "FIP", name=f"Bank {number}")[0] for number in range(MAX_BLOCKS)]
    metrics = aa.requests().fips[0].metrics
    enough = tuple(RequestFip(fip_id, metrics) for fip_id in fips)
    payload = msgspec.structs.replace(aa.requests(), fips=(*enough, RequestFip("X", metrics)))

    refused = aa.push(payload)
    accepted = aa.push(msgspec.structs.replace(payload, fips=enough))

    assert (refused.status_code, refused.json()["errorCode"]) == (400, "InvalidRequest")
    (finding,) = refused.json()["findings"]
    assert finding["path"] == f"$.fips[{MAX_BLOCKS}]"
    assert finding["allowed"] == f"at most {MAX_BLOCKS} blocks in a payload"
    assert accepted.status_code == 200, accepted.text


def test_a_push_holds_a_bounded_number_of_unknown_fips(service: Service, aa: PushingAa) -> None:
    unknown = {f"NOBODY-{number}": 200 for number in range(MAX_UNKNOWN + 2)}
    payload = report(aa, 0, **unknown)

    refused = aa.push(payload)
    accepted = aa.push(msgspec.structs.replace(payload, fips=payload.fips[:MAX_UNKNOWN]))

    assert (refused.status_code, refused.json()["errorCode"]) == (400, "InvalidRequest")
    assert [one["path"] for one in refused.json()["findings"]] == [
        f"$.fips[{place}].fipId" for place in range(MAX_UNKNOWN, MAX_UNKNOWN + 2)
    ]
    assert "not in the registry" in refused.json()["findings"][0]["problem"]
    assert accepted.status_code == 200, accepted.text
    assert len(accepted.json()["findings"]) == MAX_UNKNOWN
