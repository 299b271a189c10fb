"""The health feed can be checked by anyone who holds a copy, and every push leaves its event."""

import httpx2
from joserfc import jws
from joserfc.jwk import KeySet
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.operators import new_operator


def reader(service, entity_type="FIU"):
    member = new_member(service, entity_type)
    token = member.entity_token(member.secret()).json()["accessToken"]

    def get(**headers):
        return member.client.get(
            f"{service.root}/metrics/perf/v1/feed",
            headers={"Authorization": f"Bearer {token}", **headers},
        )

    return get


def test_the_feed_is_signed_with_a_published_key_and_known_by_its_tag(service):
    get = reader(service)
    answer = get()
    assert answer.status_code == 200, answer.text
    keys = KeySet.import_key_set(
        httpx2.get(f"{service.issuer}/protocol/openid-connect/certs").json()
    )

    registry = jws.JWSRegistry(algorithms=["RS256"])
    registry.max_payload_length = len(answer.content)  # by itself it takes 128,000 bytes
    found = jws.deserialize_compact(
        answer.headers["x-jws-signature"], keys, registry=registry, payload=answer.content
    )
    again = get(**{"If-None-Match": answer.headers["ETag"]})

    assert found.headers()["b64"] is False
    # The window may have closed in between; then the other answer is a new one.
    assert (again.status_code, again.content) == (304, b"") or again.headers[
        "ETag"
    ] != answer.headers["ETag"]


def test_a_fip_without_data_is_unsure_and_neither_zero_nor_healthy(service):
    fip = new_member(service, "FIP")
    get = reader(service)

    def shown():
        return fip.entity_id in get().json()["data"]["fips"]

    service.wait_until(shown)
    feed = get().json()

    assert feed["data"]["fips"][fip.entity_id]["fi_fetch"] == {
        "status": "UNSURE",
        "reasons": [],
        "p50_response_time": None,
        "success_percentage": None,
        "causes": [],
        "confidence": 0.0,
        "calls": 0,
        "failed": 0,
        "reporters": 0,
        "evidence_from": None,
        "since": None,
    }
    assert set(feed["summary"][fip.entity_id].values()) == {"UNSURE"}


def test_a_fip_does_not_read_the_feed(service):
    assert reader(service, "FIP")().status_code == 401


def test_every_push_leaves_an_event_that_names_its_receipt(service):
    aa = pushing_aa(service)
    payload = aa.requests()
    receipt = aa.push(payload).json()["receiptId"]
    aa.push(payload)

    events = new_operator(service, "audit").get("/audit", entityId=aa.aa_id).json()["events"]

    accepted = [one for one in events if one["event"] == "metrics:report:accept"]
    assert [one["reason"] for one in accepted] == ["duplicate", "accepted"]
    assert {one["detail"]["receiptId"] for one in accepted} == {receipt}
    assert {one["actor"] for one in accepted} == {f"entity:{aa.aa_id}"}
