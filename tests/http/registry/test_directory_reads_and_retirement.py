"""Reading the directory at a time, again and onwards; ending an entry; and the limit of writes."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx2
from tests.support.members import new_member
from tests.support.people.operators import new_operator
from tests.support.registry.registry_members import Registry, approve, live_entry, payload_of
from tests.support.registry.registry_payloads import fip
from tests.support.service import Service


def now_of(registry: Registry) -> str:
    return registry.get("/changes?since=0").json()["changes"][-1]["at"]


def test_the_registry_is_shown_as_it_was(service_of_two: Service):
    registry, payload = live_entry(service_of_two, "AA")
    path = f"/entityInfo/AA/{registry.member.entity_id}"
    then = now_of(registry)
    payload["entityinfo"]["tags"] = "Renamed"
    assert registry.update(payload).json()["status"] == "live"

    was, is_now = registry.get(f"{path}?at={then}"), registry.get(path)
    before = registry.get(f"{path}?at=2020-01-01T00:00:00Z")

    assert was.json()["entityinfo"]["name"] != "Renamed"
    assert is_now.json()["entityinfo"]["tags"] == "Renamed"
    assert was.headers["x-jws-signature"]
    assert before.status_code == 404


def test_a_reader_with_a_date_gets_304_until_it_changes(service_of_two: Service):
    registry, payload = live_entry(service_of_two, "AA")
    path = f"/entityInfo/AA/{registry.member.entity_id}"
    service_of_two.advance("PT2S")
    first = registry.get(path)
    date = {"If-Modified-Since": first.headers["last-modified"]}
    second = registry.get(path, **date)
    both = registry.get(path, **date, **{"If-None-Match": '"another"'})
    service_of_two.advance("PT2S")
    payload["entityinfo"]["tags"] = "Renamed"
    assert registry.update(payload).status_code == 200
    third = registry.get(path, **date)

    assert (second.status_code, second.content) == (304, b"")
    assert second.headers["etag"] == first.headers["etag"]
    assert (both.status_code, third.status_code) == (200, 200)


def test_a_change_has_a_date_at_once_by_which_the_next_one_is_not_missed(service_of_two: Service):
    registry, payload = live_entry(service_of_two, "AA")
    path = f"/entityInfo/AA/{registry.member.entity_id}"
    payload["entityinfo"]["tags"] = "Renamed"
    assert registry.update(payload).status_code == 200

    first = registry.get(path)
    modified, changed = parsedate_to_datetime(first.headers["last-modified"]), now_of(registry)
    payload["entityinfo"]["tags"] = "Renamed again"
    assert registry.update(payload).status_code == 200
    second = registry.get(path, **{"If-Modified-Since": first.headers["last-modified"]})

    assert abs(modified - datetime.fromisoformat(changed)) <= timedelta(seconds=1)
    assert second.status_code == 200
    assert second.json()["entityinfo"]["tags"] == "Renamed again"


def test_a_date_that_is_none_is_ignored(service_of_two: Service):
    registry, _ = live_entry(service_of_two, "AA")
    path = f"/entityInfo/AA/{registry.member.entity_id}"
    wrong = ("soon", f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 -9999")

    answers = [registry.get(path, **{"If-Modified-Since": date}) for date in wrong]

    assert [one.status_code for one in answers] == [200, 200, 200]


def test_changes_are_followed_page_by_page(service_of_two: Service):
    registry, payload = live_entry(service_of_two, "AA")
    start = registry.get("/changes?since=0").json()
    payload["entityinfo"]["tags"] = "Renamed"
    registry.update(payload)

    following = registry.get(f"/changes?since={start['upto']}").json()
    ahead = registry.get(f"/changes?since={following['upto'] + 1000}").json()
    nothing = registry.get(f"/changes?since={following['upto']}").json()

    mine = [one for one in following["changes"] if one["id"] == registry.member.entity_id]
    assert [one["entry"]["entityinfo"]["tags"] for one in mine] == ["Renamed"]
    assert (start["complete"], following["complete"], ahead["complete"]) == (True, False, True)
    assert (nothing["changes"], nothing["hash"]) == ([], following["hash"])


def test_an_admin_retires_the_entry_by_delete_and_its_tokens_end_everywhere(
    service_of_two: Service,
):
    registry, _ = live_entry(service_of_two, "AA")
    member, admin = registry.member, registry.member.bearer()
    url = f"{registry.root}/entityInfo/AA/{member.entity_id}"

    by_entity = httpx2.delete(f"{url}?reason=x", headers=registry.entity)
    unsaid = httpx2.delete(url, headers=admin)
    elsewhere = httpx2.delete(url.replace("/AA/", "/FIP/"), headers=admin)
    done = httpx2.delete(f"{url}?reason=we left", headers=admin)
    # Connections of their own: the system gives each to one of the workers.
    tokens = {member.client.post("/v1/entity/token/generate", data=secret_of(registry)).status_code}
    tokens |= {fresh_token(registry).status_code for _ in range(10)}
    again = httpx2.delete(f"{url}?reason=x", headers=admin)

    assert (by_entity.status_code, unsaid.status_code, elsewhere.status_code) == (401, 400, 404)
    assert (done.status_code, done.json()["status"]) == (200, "retired")
    assert tokens == {401}
    assert registry.get("/changes").status_code == 401
    assert again.status_code == 409


def secret_of(registry: Registry) -> dict[str, str]:
    return {"id": registry.member.entity_id, "secret": registry.secret}


def fresh_token(registry: Registry) -> httpx2.Response:
    return httpx2.post(
        f"{registry.member.service.issuer}/v1/entity/token/generate",
        data=secret_of(registry),
    )


def test_a_revoked_entity_token_reads_nothing_on_any_worker(service_of_two: Service):
    registry = Registry(new_member(service_of_two, "AA"))
    token = registry.entity["Authorization"].removeprefix("Bearer ")
    before = {registry.get("/changes").status_code for _ in range(10)}
    answer = httpx2.post(
        f"{service_of_two.issuer}/oauth2/revoke",
        data={"token": token},
        auth=(registry.member.entity_id, registry.secret),
    )
    after = [registry.get("/changes") for _ in range(10)]

    assert (before, answer.status_code) == ({200}, 200)
    assert {one.status_code for one in after} == {401}
    assert {one.json()["errorCode"] for one in after} == {"TokenRevoked"}
    assert (
        "entity:token:revoke"
        in service_of_two.cli(
            "audit", "list", "--entity", registry.member.entity_id, "--json"
        ).stdout
    )


def test_a_scheduled_version_goes_live_at_its_time(service_of_two: Service):
    registry, payload = live_entry(service_of_two, "AA")
    path = f"/entityInfo/AA/{registry.member.entity_id}"
    payload["entityinfo"]["baseurl"] = "v2:https://moved.example/v2"
    assert registry.update(payload).json()["status"] == "submitted"
    due = datetime.fromisoformat(now_of(registry)).timestamp() + 3600
    approve(registry.member, "--from", datetime.fromtimestamp(due, UTC).isoformat())
    soon = registry.get(path)

    service_of_two.advance("PT1H2M")
    service_of_two.wait_until(lambda: "moved.example" in registry.get(path).text)

    assert "moved.example" not in soon.text


def test_an_operator_with_the_scope_submits_for_anyone(service_of_two: Service):
    able, unable = (new_operator(service_of_two, scope) for scope in ("registry", "health"))
    payload = fip(61_000)
    url = f"{service_of_two.root}/cr/v2/entityInfo/FIP"

    refused = httpx2.post(url, json=payload, headers=unable.headers)
    taken = httpx2.post(url, json=payload, headers=able.headers)

    assert (refused.status_code, taken.status_code) == (401, 200)
    assert taken.json()["status"] == "submitted"


def test_the_thirty_first_write_of_an_hour_waits_whichever_worker_is_asked(
    service_of_two: Service,
):
    registry = Registry(new_member(service_of_two, "FIP"))
    url = f"{registry.root}/entityInfo/FIP"

    def write(_: int) -> httpx2.Response:
        return httpx2.post(url, json={}, headers=registry.entity)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(write, range(31)))
    late = next(one for one in answers if one.status_code == 429)
    reads = registry.get("/changes")
    service_of_two.advance("PT1H1M")
    later = write(0)

    assert sorted(one.status_code for one in answers) == [400] * 30 + [429]
    assert 3000 < int(late.headers["retry-after"]) <= 3600
    assert late.json()["errorCode"] == "TooManyAttempts"
    assert (reads.status_code, later.status_code) == (200, 400)


def test_a_duplicate_is_refused_without_naming_its_holder(service_of_two: Service):
    holder, payload = live_entry(service_of_two, "AA")
    other = Registry(new_member(service_of_two, "AA"))
    same_key, same_handle = payload_of(other.member), payload_of(other.member)
    same_key["entityinfo"]["certificate"] = payload["entityinfo"]["certificate"] | {"kid": "mine"}
    same_handle["entityinfo"]["entityhandle"] = payload["entityinfo"]["entityhandle"]
    capitals = payload_of(other.member)
    capitals["entityinfo"]["entityhandle"] = payload["entityinfo"]["entityhandle"].upper()

    again = payload | {"txnid": str(uuid.uuid4())}

    refused = [
        holder.submit(again),
        *(other.submit(one) for one in (same_key, same_handle, capitals)),
    ]

    assert [one.status_code for one in refused] == [409] * 4
    assert {one.json()["errorCode"] for one in refused} == {"Conflict"}
    assert all(holder.member.entity_id not in one.text for one in refused[1:])


def test_a_handle_that_another_took_for_a_moment_can_be_approved(service_of_two: Service):
    holder, payload = live_entry(service_of_two, "AA")
    other = Registry(new_member(service_of_two, "AA"))
    wanted = payload_of(other.member)
    own, handle = payload["entityinfo"]["entityhandle"], wanted["entityinfo"]["entityhandle"]
    assert other.submit(wanted).json()["status"] == "submitted"

    taken = []
    for one in (handle, own):
        payload["entityinfo"]["entityhandle"] = one
        taken.append(holder.update(payload | {"txnid": str(uuid.uuid4())}).json()["status"])
    approve(other.member)

    assert taken == ["live", "live"]
    path = f"/entityInfo/AA/{other.member.entity_id}"
    assert other.get(path).json()["entityinfo"]["entityhandle"] == handle
