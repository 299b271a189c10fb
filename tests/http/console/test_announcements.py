"""Announcements: on the public status, in its feeds and data, sent once, changed and ended."""

import json
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
import sqlalchemy as sa
from tests.http.console.test_status_subscription import ASK, link_to, someone, subscribed
from tests.http.console.test_status_webhook import KEY, a_sink, challenged, confirmed, rightly
from tests.http.public_status import open_data, until_shown
from tests.support.alarm_network import emails_to
from tests.support.members import new_member, onboard
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, active_operator, new_operator
from tests.support.registry.registry_members import Registry, approve, payload_of
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.tables.announcements import status_announcement

PAGE = "/console/operator/announcements"
HOUR = timedelta(hours=1)
MARKUP = "<script>alert(1)</script> & <a href='https://evil.example'>here</a>"


@pytest.fixture(scope="module")
def noc(service: Service) -> Operator:
    return new_operator(service, "health")


@pytest.fixture(scope="module")
def boss(service: Service) -> Reader:
    browser = reader(service)
    assert browser.sign_in(active_operator(service, "health")).status_code == 303
    return browser


@pytest.fixture(scope="module")
def bank(service: Service) -> str:
    return onboard(service, "FIP", name="Tapti Bank")[0]


@pytest.fixture(autouse=True)
def _ended(service: Service) -> Iterator[None]:
    """What a test announces ends with it, sent or not: 20 at most are shown at once."""
    yield

    async def end_all(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            now, over_at = await transaction.now(), status_announcement.c.over_at
            await transaction.connection.execute(
                sa.update(status_announcement)
                .where(sa.or_(over_at.is_(None), over_at > now))
                .values(ended_at=now, over_at=now, done=True)
            )

    service.in_store(end_all)


def title() -> str:
    return f"Notice {uuid.uuid4().hex[:8]}"


def publish(noc: Operator, **said: object) -> str:
    answer = noc.post("/announcements", **{"title": title(), "text": "Soon.", **said})
    assert answer.status_code == 200, answer.text
    return answer.json()["announcement"]["announcementId"]


def sent_with(service: Service, email: str, words: str) -> int:
    """How many emails to an address have these words.

    The service is that of other tests: incidents of theirs write to each subscriber too.
    """
    return sum(words in one for one in emails_to(service, email))


def read_by(service: Service, email: str) -> Callable[[], object]:
    return lambda: emails_to(service, email)


def read(service: Service, path: str) -> httpx2.Response:
    return service.client().get(service.root + path)


def shown(service: Service, words: str, path: str = "/status") -> str:
    """A public page once it has these words."""
    found = [""]

    def has_them() -> bool:
        found.append(read(service, path).text)
        return words in found[-1]

    until_shown(service, has_them)
    return found[-1]


def test_it_is_on_top_of_the_status_in_its_feeds_and_its_data_as_plain_text(
    service: Service, noc: Operator, bank: str
) -> None:
    name, later, other = title(), title(), onboard(service, "FIP", name="Sone Bank")[0]
    hindi = {"language": "hi", "title": f"सूचना {name}", "text": "कल।"}
    at = datetime.fromtimestamp(service.wall(), UTC) + timedelta(hours=1)
    publish(noc, title=later, publishAt=at.isoformat())
    made = publish(noc, title=name, text=MARKUP, translations=[hindi], fipIds=[bank])

    page = shown(service, name)
    assert page.index(name) < page.index('id="institutions"')
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<a href='https://evil.example'" not in page
    assert later not in page
    assert name in read(service, f"/status/fip/{bank}").text
    assert name not in read(service, f"/status/fip/{other}").text
    assert f"सूचना {name}" in read(service, "/status?lang=hi").text
    for path in ("feed.atom", "feed.rss", f"fip/{bank}/feed.atom", f"fip/{bank}/feed.rss"):
        feed = read(service, f"/status/{path}").text
        assert f"<title>{name}</title>" in feed
        assert "&lt;script&gt;" in feed
    assert name not in read(service, f"/status/fip/{other}/feed.rss").text
    found = open_data(service)["announcements"]
    (one,) = [each for each in found if each["announcement_id"] == made]
    assert (one["text"], one["translations"], one["fip_ids"]) == (MARKUP, [hindi], [bank])
    assert "operator" not in json.dumps(one)


def test_what_was_changed_ended_and_scheduled_is_shown_so(service: Service, noc: Operator) -> None:
    names = {what: title() for what in ("before", "after", "ended", "withdrawn", "later")}
    at = datetime.fromtimestamp(service.wall(), UTC) + timedelta(hours=1)
    made = {what: publish(noc, title=names[what]) for what in ("before", "ended")}
    for what in ("withdrawn", "later"):
        made[what] = publish(noc, title=names[what], publishAt=at.isoformat())
    which = made["before"]

    changed = noc.post(f"/announcements/{which}", title=names["after"], text="Longer.")
    ended = [noc.post(f"/announcements/{made[what]}/end") for what in ("ended", "withdrawn")]
    service.advance("PT61M")
    page = shown(service, names["later"])
    top, history = page.index('id="institutions"'), page.index('id="past-announcements"')

    assert changed.json()["announcement"]["state"] == "current"
    assert [one.json()["announcement"]["state"] for one in ended] == ["over"] * 2
    assert page.index(names["after"]) < top
    assert page.index(names["later"]) < top
    assert page.index(names["ended"]) > history
    assert names["before"] not in page
    assert names["withdrawn"] not in page
    listed = [noc.get("/announcements", past=past).text for past in ("false", "true")]
    assert [made["ended"] in text for text in listed] == [False, True]
    assert noc.post(f"/announcements/{made['ended']}", title="A", text="B").status_code == 404
    assert noc.post(f"/announcements/{made['ended']}/end").status_code == 404


def test_a_scheduled_one_is_sent_when_its_time_has_come(service: Service, noc: Operator) -> None:
    name, first, email = title(), title(), someone()
    subscribed(service, reader(service), email)
    at = datetime.fromtimestamp(service.wall(), UTC) + timedelta(hours=1)
    publish(noc, title=name, publishAt=at.isoformat())
    publish(noc, title=first)

    service.wait_until(lambda: sent_with(service, email, first) == 1, show=read_by(service, email))
    assert sent_with(service, email, name) == 0
    service.advance("PT61M")
    service.wait_until(lambda: sent_with(service, email, name) == 1, show=read_by(service, email))
    assert sent_with(service, email, first) == 1


def test_one_that_cannot_be_written_keeps_no_other_from_its_readers(
    service: Service, noc: Operator
) -> None:
    name, email = title(), someone()
    subscribed(service, reader(service), email)
    at = datetime.fromtimestamp(service.wall(), UTC) + timedelta(hours=1)
    first = publish(noc, publishAt=at.isoformat())
    publish(noc, title=name, publishAt=(at + timedelta(seconds=1)).isoformat())

    def end(ends: datetime) -> None:
        async def store(dependencies: Dependencies) -> None:
            async with dependencies.database.transaction() as transaction:
                await transaction.connection.execute(
                    sa.update(status_announcement)
                    .where(status_announcement.c.announcement_id == first)
                    .values(ends=ends, over_at=ends)
                )

        service.in_store(store)

    end(datetime(9999, 12, 31, 23, tzinfo=UTC))  # a calendar of India does not have it
    service.advance("PT61M")

    service.wait_until(lambda: sent_with(service, email, name) == 1, show=read_by(service, email))
    end(at + timedelta(hours=2))  # other tests read pages of this service


@pytest.mark.parametrize(
    ("field", "at"),
    [("ends", "9999-12-31T23:59:59Z"), ("begins", "0001-01-01T00:00:00+05:30")],
)
def test_a_year_that_no_calendar_has_is_refused_by_its_field(
    noc: Operator, field: str, at: str
) -> None:
    answer = noc.post("/announcements", title=title(), text="Soon.", **{field: at})

    assert (answer.status_code, answer.json()["errorCode"]) == (400, "InvalidRequest")
    assert field in answer.json()["errorMsg"]


def test_each_act_is_in_the_audit_with_its_text(service: Service, noc: Operator) -> None:
    name = title()
    made = publish(noc, title=name, text="As it was.")
    noc.post(f"/announcements/{made}", title=name, text="As it is.")
    noc.post(f"/announcements/{made}/end")

    auditor = new_operator(service, "audit")
    texts = []
    for act in ("publish", "change", "end"):
        event = auditor.get("/audit", event=f"metrics:announcement:{act}", limit="1")
        detail = event.json()["events"][0]["detail"]
        texts.append((detail["announcementId"], detail.get("text")))

    assert texts == [(made, "As it was."), (made, "As it is."), (made, None)]


def test_it_is_sent_once_to_each_address_that_it_concerns(
    service: Service, noc: Operator, bank: str
) -> None:
    browser, both, elsewhere = reader(service), someone(), someone()
    other = onboard(service, "FIP", name="Betwa Bank")[0]
    until_shown(service, lambda: read(service, f"/status/fip/{other}").is_success)
    for fip_id, email in ((bank, both), (other, elsewhere)):
        assert browser.post(ASK, {"email": email, "fip": fip_id}).status_code == 202
        browser.post(f"{link_to(service, email)}/confirm", {})
    name, network = title(), title()
    with a_sink() as sink:
        sink.answer, sink.answers = rightly, [200]
        subscriber, link, key = confirmed(service, sink.url)
        challenged(service, subscriber, link, sink)
        service.wait_until(lambda: "You are subscribed" in subscriber.get(link).text)

        publish(noc, title=name, text="Of one bank.", kind="maintenance", fipIds=[bank])
        service.wait_until(lambda: len(sink.posted) == 2)
        publish(noc, title=network, text="Of all.")
        service.wait_until(lambda: len(sink.posted) == 3)
        service.wait_until(lambda: network in "".join(emails_to(service, elsewhere)))

    message = sink.posted[1].data
    assert message["type"] == "status.announcement"
    assert message["data"]["title"] == name
    assert message["data"]["link"].endswith(f"/status/fip/{bank}")
    assert sink.posted[1].is_signed_by(key)
    of_both = "".join(emails_to(service, both))
    assert (of_both.count("Of one bank."), of_both.count("Of all.")) == (1, 1)
    assert "Of one bank." not in "".join(emails_to(service, elsewhere))
    assert KEY.search(of_both) is None


def test_a_page_publishes_changes_and_ends_it_and_gives_a_wrong_form_back(
    service: Service, boss: Reader, noc: Operator, bank: str
) -> None:
    name, text = title(), "Kept <b>as typed</b>."
    sent = {"title": name, "text": text, "institutions": f"{bank}, NO-BANK"}
    hindi = {"title_hi": "शीर्षक", "text_hi": "पाठ"}
    wrong = boss.act(PAGE, PAGE, kind="incident", begins="no time", **sent, **hindi)
    unknown = boss.act(PAGE, PAGE, kind="incident", **sent)
    no_time = boss.act(PAGE, PAGE, kind="maintenance", **sent)
    published = boss.act(
        PAGE, PAGE, kind="incident", title=name, text=text, institutions=bank,
        title_hi="शीर्षक", text_hi="पाठ", ends="2099-01-01T00:00", zone="Asia/Kolkata",
    )  # fmt: skip
    (one,) = noc.get("/announcements").json()["announcements"]
    own = f"{PAGE}/{one['announcementId']}"
    form = boss.get(own).text
    refused = boss.act(own, own, kind="incident", title="", text=text)
    changed = boss.act(own, own, kind="information", title=f"{name} again", text=text)
    ended = boss.act(PAGE, f"{own}/end")

    assert "a maintenance needs both" in no_time.text
    for page in (wrong, unknown, no_time):
        assert page.status_code == 400
        assert name in page.text
        assert "Kept &lt;b&gt;as typed&lt;/b&gt;." in page.text
        assert f'value="{bank}, NO-BANK"' in page.text
    assert 'value="शीर्षक"' in wrong.text
    assert "Begin must be a date and time" in wrong.text
    assert "NO-BANK&#34; is no FIP" in unknown.text
    assert published.headers["location"] == f"{PAGE}?told=published"
    assert (one["ends"], one["fipIds"]) == ("2098-12-31T18:30:00.000Z", [bank])
    assert 'value="शीर्षक"' in form
    shown = form[form.index('id="as-shown"') :].partition("</section>")[0]
    assert all(one in shown for one in (name, "&lt;b&gt;as typed&lt;/b&gt;", "01 Jan 2099", bank))
    assert refused.status_code == 400
    assert changed.headers["location"] == f"{PAGE}?told=changed"
    assert ended.headers["location"] == f"{PAGE}?told=ended"
    assert boss.get(own).status_code == 404
    assert f"{name} again" in boss.get(PAGE).text


def test_twenty_are_shown_or_scheduled_at_most(service: Service, noc: Operator) -> None:
    service.advance("P1D")  # what was made before counts no more
    answers = [noc.post("/announcements", title=title(), text="Soon.") for _ in range(21)]

    assert [one.status_code for one in answers] == [200] * 20 + [409]
    service.advance("P1D")
    made = answers[0].json()["announcement"]["announcementId"]
    assert noc.post("/announcements", title=title(), text="Soon.").status_code == 409
    noc.post(f"/announcements/{made}/end")
    assert noc.post("/announcements", title=title(), text="Soon.").status_code == 200


def test_a_current_one_stays_however_many_others_were_published_since(
    service: Service, noc: Operator
) -> None:
    service.advance("P1D")  # what was made before counts no more
    name = title()
    kept = publish(noc, title=name)
    service.advance("P6D")
    store_past_ones(service, 100)
    latest = publish(noc)

    def published() -> list[str]:
        found = open_data(service)["announcements"]
        return [one["announcement_id"] for one in found]

    until_shown(service, lambda: latest in published())
    assert published()[0] == latest
    assert published()[-1] == kept
    assert len(published()) == 100
    assert name in read(service, "/status").text


def store_past_ones(service: Service, number: int) -> None:
    """Store announcements of the last days, one an hour until a day ago, which are over."""

    async def store(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            latest = await transaction.now() - timedelta(days=1)
            published = [latest - timedelta(hours=n) for n in range(number)]
            rows = [
                {
                    "announcement_id": uuid.uuid4(),
                    "kind": "information",
                    "title": title(),
                    "text": "Soon.",
                    "publish_at": at,
                    "made_by": "operator:tests",
                    "made_at": at,
                    "ended_at": at + HOUR,
                    "over_at": at + HOUR,
                    "done": True,
                }
                for at in published
            ]
            await transaction.connection.execute(sa.insert(status_announcement), rows)

    service.in_store(store)


def test_institutions_are_grouped_by_the_fi_types_of_their_live_entries(service: Service) -> None:
    service.cli("registry", "vocabulary", "add", "fitype", "TEA_LOAN", "--group", "tea-loans")
    registry = Registry(new_member(service))
    payload = payload_of(registry.member, fitypes=["TERM_DEPOSIT", "TEA_LOAN", "ETF"])
    assert registry.submit(payload).status_code == 200
    approve(registry.member)

    own = f"/status/fip/{registry.member.entity_id}"
    shown(service, "Banking deposits, Funds, Tea loans", own)  # entries are read once a minute
    page = read(service, "/status?group=tea-loans").text

    fips = {one["fip_id"]: one for one in open_data(service)["fips"]}
    assert fips[registry.member.entity_id]["groups"] == ["deposits", "funds", "tea-loans"]
    assert page.count('<article class="institution">') == 1
    assert f'href="{own}/feed.rss"' in read(service, own).text


def test_commands_do_the_same(service: Service, bank: str) -> None:
    def command(*words: str) -> dict[str, object]:
        return json.loads(service.cli("announcement", *words, "--json").stdout)

    service.advance("P1D")
    name, ends = title(), datetime.fromtimestamp(service.wall(), UTC) + HOUR
    made = command(
        "publish", "--title", name, "--text", "Soon.", "--kind", "maintenance",
        "--institution", bank, "--translation", "hi|शीर्षक|पाठ", "--ends", ends.isoformat(),
    )  # fmt: skip
    which = str(made["announcementId"])
    changed = command("change", which, "--title", f"{name} 2")
    removed = command("change", which, "--institution", "", "--translation", "", "--ends", "")
    listed = service.cli("announcement", "list").stdout
    ended = command("end", which)
    refused = service.cli("announcement", "end", which, check=False)

    assert made["translations"] == [{"language": "hi", "title": "शीर्षक", "text": "पाठ"}]
    assert changed == {**made, "title": f"{name} 2", "changedAt": changed["changedAt"]}
    assert (removed["fipIds"], removed["translations"], removed["ends"]) == ([], [], None)
    assert which in listed
    assert ended["state"] == "over"
    assert "no current or scheduled announcement" in refused.stderr
