"""mudra metrics check, remake and remove: what is damaged is named, and made again where it can be."""

import uuid
from datetime import timedelta

import msgspec
import pytest
from tests.cli.metrics_commands import Opened, opened
from tests.storage.metrics.summed_store import DAY, HOUR, Truth, summed
from tests.support.depth import with_every_change
from tests.support.metrics.metrics_payloads import (
    notification_metrics,
    of_few_calls,
    request_metrics,
)

from mudra.jobs.metrics_jobs import settle_sums
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.ingest_rule import IngestStatus
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.damage import BlockDamaged

LONGEST_MS = 604_800_000

WHOLE = TimeRange(DAY, DAY + timedelta(days=1))
AAS = ("aa-one", "aa-two")
FEW, MANY = 5, 120
"""Of many there are several buckets of each AA."""
TIME, AT = "2026-03-04T00:00:00Z", "2026-03-04T00:00:00.000Z"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with opened(tmp_path_factory) as found:
        yield found


async def filled(store, *, settled=False, fips=FEW):
    """Two AAs that reported three windows of a day, with sums; returns what a recount finds."""
    now = DAY + timedelta(days=40 if settled else 2)

    async def make():
        payloads = [
            of_few_calls(
                request_metrics(fips, aa_id, str(uuid.uuid4()), DAY + place * WINDOW, place + 1)
            )
            for aa_id in AAS
            for place in (0, 1, 50)
        ]
        for payload in payloads:
            await store.push(payload)
        await store.push(notification_metrics(3, "aa-one", str(uuid.uuid4()), DAY))
        store.now = now
        await store.make_sums()
        if settled:
            await settle_sums(store.maintenance)
        return Truth(payloads, WHOLE).by("aa", "fip", "type")

    truth = await store.once((settled, fips), make)
    store.now = now
    return truth


async def requests_of_day(store, within=WHOLE):
    return summed((await store.totals(within)).only(Tag.REQUESTS))


async def sums_and_differing(store):
    return await requests_of_day(store), await store.differing(DAY)


def test_what_is_intact_is_said_to_be(store: Opened) -> None:
    store.act(filled)

    done = store.run("check")

    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith(" blocks read, 0 damaged\n")
    ok, text = store.doctor()
    assert ok
    assert text.startswith("the latest are intact; all were last checked at ")
    assert store.run("remake", "--damaged").stdout == "Nothing is damaged.\n"


@pytest.mark.parametrize(
    ("grain", "aa_id", "tag", "settled", "fips"),
    with_every_change(
        [("hour", "aa-one", "req", False, FEW)],
        [
            ("hour", "aa-one", "req", False, FEW),
            ("hour", "aa-one", "req", True, MANY),
            ("hour", "", "req", False, FEW),
            ("day", "", "req", True, FEW),
            ("day", "aa-one", "all", True, FEW),
        ],
    ),
)
def test_damaged_sums_are_named_and_made_again(
    store: Opened, grain, aa_id, tag, settled, fips
) -> None:
    truth = store.act(lambda opened: filled(opened, settled=settled, fips=fips))
    number = store.damage(grain=grain, aa_id=aa_id, tag=tag)

    found = store.shown("check", code=1)["damaged"]
    done = store.run("remake", "--damaged")

    assert len(found) == number
    assert {(one["aaId"], one["grain"], one["tag"]) for one in found} == {
        (aa_id or "all", grain, tag)
    }
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "made again" in done.stdout
    assert store.shown("check")["damaged"] == []
    assert store.act(sums_and_differing) == (truth, {})


def test_the_doctor_names_what_is_damaged_until_it_is_made_again(store: Opened) -> None:
    store.act(filled)
    store.damage(grain="day", aa_id="", tag="req")

    ok, shown = store.doctor()
    done = store.run("remake", "--aa", "all", "--grain", "day", "--at", TIME)

    assert not ok
    assert "day block of all AAs at 2026-03-04T00:00:00+00:00, bucket " in shown
    assert done.stdout == "day of all AAs at 2026-03-04T00:00:00+00:00: made again\n"
    assert store.doctor()[0]


def test_sums_that_are_named_are_made_again(store: Opened) -> None:
    truth = store.act(filled)
    store.damage(grain="hour", aa_id="aa-one", tag="req", at=DAY)

    done = store.run("remake", "--aa", "aa-one", "--grain", "hour", "--at", TIME)

    assert done.stdout == "hour of aa-one at 2026-03-04T00:00:00+00:00: made again\n"
    assert store.act(requests_of_day) == truth


def test_what_has_nothing_finer_is_left_and_never_taken_for_zero(store: Opened) -> None:
    store.act(filled)
    store.connection.execute("DELETE FROM metrics_block WHERE grain = 'window' AND aa_id <> ''")
    store.damage(grain="hour", aa_id="aa-one", tag="req", at=DAY)

    done = store.run("remake", "--damaged")

    assert done.exit_code == 1
    assert "what they are made of is kept no more: restore them from a backup" in done.stdout
    with pytest.raises(BlockDamaged):
        store.act(lambda opened: requests_of_day(opened, TimeRange(DAY, DAY + HOUR)))


def test_a_damaged_report_is_removed_and_sent_again(store: Opened) -> None:
    truth = store.act(filled)
    store.damage(grain="window", aa_id="aa-one", tag="req", at=DAY)
    asked = ("remove", "--aa", "aa-one", "--at", TIME, "--tag", "requests")

    left = store.run("remake", "--damaged")
    removed, again = store.run(*asked), store.run(*asked)

    assert left.exit_code == 1
    assert (
        "mudra metrics remove --aa aa-one --at 2026-03-04T00:00:00Z --tag requests" in left.stdout
    )
    assert removed.exit_code == 0, removed.stderr
    assert again.exit_code == 1
    assert "has no damaged report of requests at 2026-03-04T00:00:00.000Z" in again.stderr

    async def sent_again(opened):
        await opened.make_sums()
        without = await requests_of_day(opened)
        payload = of_few_calls(request_metrics(FEW, "aa-one", str(uuid.uuid4()), DAY, 1))
        done = await opened.push(payload)
        await opened.make_sums()
        return without, done.status, await requests_of_day(opened), await opened.differing(DAY)

    without, status, found, differing = store.act(sent_again)
    assert without != truth
    assert status is IngestStatus.ACCEPTED
    assert found == truth
    assert differing == {}
    events = store.connection.execute(
        "SELECT event FROM audit_event WHERE event = 'metrics:report:remove'"
    ).fetchall()
    assert len(events) == 1


def implausible(payload):
    """The same with a call that took over a week: it is held."""
    first, *others = payload.fips
    slow, *blocks = first.metrics
    slow = msgspec.structs.replace(slow, pxx=(*slow.pxx[:3], LONGEST_MS + 1))
    first = msgspec.structs.replace(first, metrics=(slow, *blocks))
    return msgspec.structs.replace(payload, fips=(first, *others))


@pytest.mark.parametrize(
    "place", with_every_change([2], [0, 2, 40]), ids=["blocks", "bucket", "numbers"]
)
def test_a_damaged_held_report_is_named_and_sent_again(store: Opened, place) -> None:
    truth = store.act(filled)

    def sent():
        payload = request_metrics(FEW, "aa-one", str(uuid.uuid4()), DAY, 2)
        return store.act(lambda opened: opened.push(implausible(of_few_calls(payload)))).status

    first, intact = sent(), store.shown("check")["damaged"]
    store.connection.execute(
        "UPDATE metrics_held SET buckets = set_byte(buckets, %(at)s, 255 - get_byte(buckets, %(at)s))",
        {"at": place},
    )

    found, (ok, said) = store.shown("check", code=1)["damaged"], store.doctor()
    left = store.run("remake", "--damaged")
    again = sent()
    removed = store.run("remove", "--aa", "aa-one", "--at", TIME, "--tag", "requests")

    assert (first, again) == (IngestStatus.REPLACED, IngestStatus.DUPLICATE)
    assert intact == []
    problem = found[0].pop("problem")
    assert found == [{"aaId": "aa-one", "grain": "held", "at": AT, "bucket": 0, "tag": "req"}], (
        problem
    )
    assert not ok
    assert "held report of aa-one at 2026-03-04T00:00:00+00:00, tag req" in said
    assert left.exit_code == 1
    assert (
        "mudra metrics remove --aa aa-one --at 2026-03-04T00:00:00Z --tag requests" in left.stdout
    )
    assert removed.exit_code == 0, removed.stderr
    assert store.doctor()[0]
    store.act(lambda opened: opened.make_sums())
    assert store.act(sums_and_differing) == (truth, {})  # what it was to replace counts still
    assert sent() is IngestStatus.REPLACED
    assert store.shown("check")["damaged"] == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("remake",), "name --aa, --grain and --at, or --damaged"),
        (("remake", "--aa", "all", "--grain", "week", "--at", TIME), "must be hour or day"),
        (
            ("remake", "--aa", "all", "--grain", "day", "--at", "2026-03-04T01:00:00Z"),
            "--at must be the beginning of the day",
        ),
        (("remake", "--damaged", "--aa", "all"), "--damaged takes no --aa"),
        (
            ("remove", "--aa", "aa-one", "--at", "2026-03-04T00:01:00Z", "--tag", "requests"),
            "--at must be the beginning of a window of ten minutes",
        ),
        (("remove", "--aa", "aa-one", "--at", TIME, "--tag", "req"), "--tag must be requests or"),
    ],
)
def test_a_wrong_option_is_named(store: Opened, words, says) -> None:
    done = store.run(*words)

    assert done.exit_code == 2
    assert says in done.stderr
