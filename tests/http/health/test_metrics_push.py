"""An agent pushes ten minutes to a real service, and looks up what became of them."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from tests.support.members import new_member
from tests.support.metrics.metrics_payloads import as_value
from tests.support.metrics.metrics_push import ago, pushing_aa, utc

from mudra.metrics.payload.catalogue import WINDOW


@pytest.fixture
def aa(service):
    return pushing_aa(service)


def test_a_payload_is_accepted_with_the_documented_answer(aa):
    payload = aa.requests()
    answer = aa.push(payload)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert list(body) == ["ver", "timestamp", "txnId", "status", "receiptId", "findings"]
    assert body["txnId"] == payload.txn_id
    assert body["status"] == "accepted"
    assert uuid.UUID(body["receiptId"])


def test_fips_that_no_one_knows_are_kept_and_noted(aa):
    findings = aa.push(aa.requests()).json()["findings"]
    assert [f["path"] for f in findings] == ["$.fips[0].fipId", "$.fips[1].fipId"]
    assert {f["severity"] for f in findings} == {"note"}


def test_a_block_with_intermediate_notifications_alone_is_no_block_without_traffic(aa):
    value = as_value(aa.notifications())
    value["fips"] = [{"fipId": "KAVERI-FIP", "metrics": [
        {"type": "finot", "counts": [0] * 15, "status": [0, 0, 0, 0, 0, 0, 3]},
        {"type": "alnot", "counts": [0] * 15},
    ]}]  # fmt: skip  # one block a line

    findings = aa.push(msgspec.json.encode(value)).json()["findings"]

    quiet = [one["path"] for one in findings if one["problem"] == "reports no traffic"]
    assert quiet == ["$.fips[0].metrics[1]"]


@pytest.mark.parametrize("packed", ["", "gzip", "zstd"])
@pytest.mark.parametrize("path", ["/metrics/perf/v1/push", "/sla-inputs/aa/v1/push"])
def test_both_addresses_take_plain_and_packed_bodies(aa, packed, path):
    assert aa.push(aa.requests(), path=path, packed=packed).json()["status"] == "accepted"
    assert aa.push(aa.notifications(), path=path, packed=packed).json()["status"] == "accepted"


def test_the_same_push_again_is_a_duplicate_with_the_same_receipt(aa):
    payload = aa.requests()
    first, again = aa.push(payload).json(), aa.push(payload).json()
    assert again["status"] == "duplicate"
    assert (again["receiptId"], again["findings"]) == (first["receiptId"], first["findings"])


def test_the_same_window_and_content_under_another_txn_id_is_a_duplicate(aa):
    window = aa.last_window()
    first = aa.push(aa.requests(window)).json()
    again = aa.push(aa.requests(window)).json()
    assert (again["status"], again["receiptId"]) == ("duplicate", first["receiptId"])


def test_the_same_txn_id_with_other_content_is_refused(aa):
    txn_id = str(uuid.uuid4())
    assert aa.push(aa.requests(txn_id=txn_id)).status_code == 200
    answer = aa.push(aa.requests(txn_id=txn_id, seed=2))
    assert answer.status_code == 409
    assert answer.json()["errorCode"] == "IdempotencyError"
    assert aa.push(aa.notifications(txn_id=txn_id)).status_code == 409


def test_other_content_of_the_same_window_replaces_it(aa):
    window = aa.last_window()
    aa.push(aa.requests(window))
    assert aa.push(aa.requests(window, seed=2)).json()["status"] == "replaced"
    assert aa.push(aa.requests(window, seed=3)).json()["status"] == "replaced"
    (receipt,) = aa.receipts()["receipts"]
    assert receipt["version"] == 3


def test_a_tag_without_traffic_is_reported_and_is_no_gap(aa):
    window = aa.last_window()
    assert aa.push(aa.requests(window)).status_code == 200
    silent = as_value(aa.notifications(window)) | {"fips": []}
    answer = aa.push(msgspec.json.encode(silent)).json()
    assert (answer["status"], answer["findings"]) == ("accepted", [])
    assert aa.push(msgspec.json.encode(silent)).json()["status"] == "duplicate"
    shown = aa.receipts(**{"from": utc(window), "to": utc(window + WINDOW)})
    assert len(shown["receipts"]) == 2
    assert shown["gaps"] == []


def test_all_faults_are_named_at_once(aa):
    value = as_value(aa.requests())
    value["duration"] = 599
    value["fips"][0]["metrics"][0]["counts"][3] = -1
    value["fips"][1]["metrics"][2]["type"] = "adsic"
    answer = aa.push(msgspec.json.encode(value))
    assert answer.status_code == 400
    body = answer.json()
    assert body["errorCode"] == "InvalidRequest"
    assert body["errorMsg"].startswith("$.duration ")
    assert "3 findings in all" in body["errorMsg"]
    assert [f["path"] for f in body["findings"]] == [
        "$.duration",
        "$.fips[0].metrics[0].counts[3]",
        "$.fips[1].metrics[2].type",
    ]
    assert aa.receipts()["refused"][0]["total"] == 3


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_a_bomb_is_refused(aa, packed):
    assert aa.push(b" " * (8 * 1024 * 1024 + 1), packed=packed).status_code == 413


def test_another_media_type_is_refused(aa):
    assert aa.push(aa.requests(), **{"Content-Type": "text/plain"}).status_code == 415


def test_an_aa_reports_for_itself_only(service, aa):
    other = pushing_aa(service)
    answer = aa.push(other.requests())
    assert (answer.status_code, answer.json()["errorCode"]) == (401, "Unauthorized")


def test_a_fip_may_not_push(service, aa):
    fip = new_member(service, "FIP")
    aa.token = fip.entity_token(fip.secret()).json()["accessToken"]
    assert aa.push(aa.requests()).status_code == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x.y.z", "Basic eDp5"])
def test_without_a_good_token_nothing_is_taken(aa, header):
    assert aa.push(aa.requests(), Authorization=header).status_code == 401


def test_a_revoked_token_is_refused(aa):
    aa.client.post("/oauth2/revoke", data={"token": aa.token}, headers=aa.bearer)
    answer = aa.push(aa.requests())
    assert (answer.status_code, answer.json()["errorCode"]) == (401, "TokenRevoked")


def test_parallel_equal_pushes_are_stored_once(aa):
    payload = aa.requests()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: aa.push(payload).json(), range(24)))
    assert sorted(answer["status"] for answer in answers) == ["accepted"] + ["duplicate"] * 23
    assert len({answer["receiptId"] for answer in answers}) == 1


def test_a_report_that_may_still_come_in_time_is_no_gap(service, aa):
    service.advance("PT2H")
    last = aa.last_window()
    assert aa.push(aa.requests(last - WINDOW)).status_code == 200
    within = {"from": utc(last), "to": utc(last + WINDOW)}

    before = aa.receipts(**within)["gaps"]
    service.advance("PT16M")
    after = aa.receipts(**within)["gaps"]

    assert before == []
    assert [gap["start"] for gap in after] == [utc(last)] * 2


def test_receipts_show_gaps_late_windows_and_pages(service, aa):
    service.advance("PT2H")
    last = aa.last_window()
    windows = [last - place * WINDOW for place in (6, 5, 3, 0)]
    for window in windows:
        assert aa.push(aa.requests(window)).status_code == 200
        assert aa.push(aa.notifications(window)).status_code == 200
    service.advance("PT16M")  # none of them may come in time any more
    shown = aa.receipts(**{"from": utc(ago(last, minutes=60)), "to": utc(last + WINDOW)})
    assert [r["window"] for r in shown["receipts"][::2]] == [utc(w) for w in windows]
    assert [r["late"] for r in shown["receipts"][::2]] == [True, True, True, False]
    assert [(g["start"], g["windows"]) for g in shown["gaps"]] == [
        (utc(last - 4 * WINDOW), 1),
        (utc(last - 2 * WINDOW), 2),
    ] * 2
    pages, following = [], {}
    while True:
        page = aa.receipts(
            **{
                "from": utc(ago(last, minutes=60)),
                "to": utc(last + WINDOW),
                "limit": 3,
                **following,
            }
        )
        pages += [r["receiptId"] for r in page["receipts"]]
        if page["next"] is None:
            break
        following = {"next": page["next"]}
    assert pages == [r["receiptId"] for r in shown["receipts"]]


def test_too_many_pushes_of_a_tag_are_answered_when_to_come_back(aa):
    """A backlog of 72 hours goes through at once, what comes beyond it waits."""
    payload = msgspec.json.encode(aa.requests(fips=0))
    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda _: aa.push(payload).status_code, range(450)))
    assert codes == [200] * 450
    for _ in range(60):  # one more is let in each 50 s, so few can come in between
        refused = aa.push(payload)
        if refused.status_code != 200:
            break
    assert refused.status_code == 429
    assert refused.json()["errorCode"] == "TooManyAttempts"
    assert 1 <= int(refused.headers["Retry-After"]) <= 50
    assert aa.push(aa.notifications()).status_code == 200


def test_what_an_agent_says_next_to_its_payload_is_logged_and_bounded(aa):
    note = "dropped-full=3, clock-jump=+90.0s " + "x" * 5_000
    answer = aa.push(aa.requests(), **{"Mudra-Agent-Note": note})

    log = (aa.service.data_dir / "mudra.log").read_text()
    (line,) = [line for line in log.splitlines() if "agent note" in line and aa.aa_id in line]
    reported = msgspec.json.decode(line)
    assert reported["note"] == note[:300]
    assert reported["txn_id"] == answer.json()["txnId"]
