"""What members and the public see."""

import csv
import io
from datetime import timedelta

import msgspec
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident
from tests.support.metrics.metrics_payloads import WINDOW_START
from tests.support.metrics.totals import reported_by, totals_of

from mudra.metrics.health.feed import FeedFacts, Planned, health_feed
from mudra.metrics.health.fip_health import published
from mudra.metrics.health.fip_state import NOTHING_KNOWN, ApiState, FipStates, Reason
from mudra.metrics.health.health import (
    Status,
)
from mudra.metrics.health.level_change import LevelChange
from mudra.metrics.health.picturing import health_of_fips
from mudra.metrics.incidents.incident import Fip, FipApi, Path, Symptom
from mudra.metrics.incidents.subject import SubjectKind
from mudra.metrics.payload.catalogue import FEED_APIS, RequestType
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.public_status.public_rows import (
    PublicFloor,
    is_current,
    public_csv,
    public_status,
    unsure,
)
from mudra.metrics.rollup.coverage import Proof, TimeRange

PROOF = Proof(4, 5, 23, 30)


def row(code, total, ok, pxx=(100, 200, 300, 400), not_found=0):
    counts = (total, ok, 0, 0, 0, not_found, *[0] * 9)
    return RequestBlock(code.value, pxx, counts)


def outcomes(*statuses):
    return NotificationBlock("finot", (100, 100, *[0] * 13), statuses)


GOOD = ApiState(Status.GOOD, 0.97, 300, 2, 4, 1, int(WINDOW_START.timestamp()))
BAD = ApiState(Status.BAD, 0.9999, 40, 20, 3, 2, int(WINDOW_START.timestamp()))
LAST = WINDOW_START + timedelta(minutes=50)


def health_of(*rows):
    totals = totals_of(reported_by("AA-1", "BANK-1", block) for block in rows)
    return published(health_of_fips(totals), ["BANK-1"], {"BANK-1"})


SLOW = ApiState(Status.DEGRADED, 0.9999, 90, 0, 3, 1, 0, (Reason.SLOW,))


def feed_of(*rows, window=LAST, causes=(), facts=None, **states):
    end = WINDOW_START + timedelta(minutes=60)
    known = tuple(states.get(name, NOTHING_KNOWN) for name in FEED_APIS)
    return health_feed(
        health_of(*rows),
        TimeRange(WINDOW_START, end),
        PROOF,
        FipStates(window, {"BANK-1": known}),
        causes,
        facts,
    )


def test_a_fip_without_data_is_unsure_throughout_and_never_100_percent():
    value = msgspec.to_builtins(feed_of())

    for api in value["data"]["fips"]["BANK-1"].values():
        assert api == {
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
    assert set(value["summary"]["BANK-1"].values()) == {"UNSURE"}


def test_the_feed_has_the_names_that_its_readers_know():
    value = msgspec.to_builtins(feed_of(row(RequestType.CONSENT, 1000, 990), consent=GOOD))

    assert list(value["data"]["fips"]["BANK-1"]) == [
        "discovery",
        "linking",
        "confirm_linking",
        "consent",
        "fi_request",
        "fi_fetch",
        "fi_notification",
    ]
    assert value["data"]["fips"]["BANK-1"]["consent"] == {
        "status": "GOOD",
        "reasons": [],
        "p50_response_time": 100,
        "success_percentage": 99.0,
        "causes": [],
        "confidence": 0.97,
        "calls": 300,
        "failed": 2,
        "reporters": 4,
        "evidence_from": "2026-03-04T11:10:00Z",
        "since": "2026-03-04T10:20:00Z",
    }
    assert value["time_range"] == {
        "start_time": "2026-03-04T10:20:00Z",
        "end_time": "2026-03-04T11:20:00Z",
    }
    assert value["proof"]["windows_heard"] == 23


def test_one_bad_api_makes_its_stage_bad():
    summary = feed_of(discovery=GOOD, linking=BAD).summary["BANK-1"]

    assert summary.discovery_and_linking is Status.BAD
    assert summary.data_flow is Status.UNSURE


def test_fi_notification_shows_how_requests_ended_and_how_long_data_took():
    ready = row(RequestType.FI_READY_TIME, 40, 40, (45_000, 50_000, 60_000, 90_000))
    fip = feed_of(ready, outcomes(97, 3, 97, 1, 0, 2, 9)).data.fips["BANK-1"]

    assert fip.fi_notification.success_percentage == 97.0
    assert fip.fi_notification.p50_response_time == 45_000


def test_the_feed_says_which_rule_makes_a_status_good_and_that_notifications_have_none_on_time():
    rules = msgspec.to_builtins(feed_of())["rules"]

    assert "above 95 % of the calls" in rules["calls"]
    assert "less than 5000 ms" in rules["calls"]
    assert "no rule on the time" in rules["fi_notification"]
    assert "may take minutes to prepare data" in rules["fi_notification"]


def test_without_a_judged_window_in_an_hour_no_status_is_known():
    late = feed_of(window=WINDOW_START - timedelta(minutes=20), consent=GOOD).data.fips["BANK-1"]
    known = feed_of(window=WINDOW_START - timedelta(minutes=10), consent=GOOD).data.fips["BANK-1"]

    assert late.consent.status is Status.UNSURE
    assert known.consent.status is Status.GOOD


def test_causes_of_the_fip_come_before_those_of_aas_and_name_what_fits_equally():
    path, both = Path("AA-1", "BANK-1"), Fip("BANK-1")
    causes = [
        an_incident(path, WINDOW_START),
        an_incident(both, LAST, affected_aas=("AA-1",), ambiguous_with=(path,)),
        an_incident(Fip("BANK-2"), LAST),
    ]

    consent = feed_of(causes=causes).data.fips["BANK-1"].consent

    assert [one.kind for one in consent.causes] == [SubjectKind.FIP, SubjectKind.PATH]
    assert consent.causes[0].text == "FIP BANK-1 or the path between AA-1 and BANK-1"


def test_doubt_about_a_cause_is_in_the_feed_as_places():
    path = Path("AA-1", "BANK-1")
    causes = [an_incident(Fip("BANK-1"), LAST, affected_aas=("AA-1",), ambiguous_with=(path,))]

    (cause,) = feed_of(causes=causes).data.fips["BANK-1"].consent.causes

    assert msgspec.to_builtins(cause.ambiguous_with) == [
        {"kind": "path", "entity_id": "AA-1", "peer_id": "BANK-1", "type": ""}
    ]


def test_a_fip_in_maintenance_is_never_good_and_its_times_are_shown():
    later = WINDOW_START + timedelta(hours=3)
    planned = [
        Planned("BANK-1", later, later + timedelta(hours=1), is_on=False),
        Planned("BANK-1", WINDOW_START, LAST, is_on=True),
    ]

    feed = feed_of(consent=GOOD, linking=BAD, facts=FeedFacts(maintenance=planned))
    fip = feed.data.fips["BANK-1"]

    assert {fip.consent.status, fip.linking.status} == {Status.UNSURE}
    assert fip.consent.reasons == [Reason.MAINTENANCE]
    assert msgspec.to_builtins(feed.maintenance) == {
        "BANK-1": {"begins": "2026-03-04T10:20:00Z", "ends": "2026-03-04T11:10:00Z"}
    }
    ahead = feed_of(consent=GOOD, facts=FeedFacts(maintenance=planned[:1]))
    assert ahead.data.fips["BANK-1"].consent.status is Status.GOOD
    assert ahead.maintenance["BANK-1"].begins == "2026-03-04T13:20:00Z"


def test_a_rate_that_changed_for_good_is_shown_with_its_time():
    change = LevelChange("BANK-1", "cns", WINDOW_START, 0.018, 0.061)
    other = LevelChange("BANK-2", "", WINDOW_START, 0.018, 0.061)

    feed = feed_of(facts=FeedFacts(changed=[change, other]))

    assert msgspec.to_builtins(feed.changed) == {
        "BANK-1": [
            {
                "type": "cns",
                "since": "2026-03-04T10:20:00Z",
                "failing_before_percentage": 1.8,
                "failing_percentage": 6.1,
            }
        ]
    }


def test_what_is_slow_within_the_rule_is_degraded_unless_readers_do_not_know_it():
    shown, hidden = (
        feed_of(consent=SLOW, linking=GOOD, facts=FeedFacts(degraded=known))
        for known in (True, False)
    )

    assert shown.data.fips["BANK-1"].consent.status is Status.DEGRADED
    assert shown.summary["BANK-1"].consent_and_notification is Status.DEGRADED
    assert hidden.data.fips["BANK-1"].consent.status is Status.UNSURE
    assert hidden.data.fips["BANK-1"].consent.reasons == [Reason.SLOW]


def test_a_share_just_below_everything_is_not_shown_as_100_percent():
    fip = feed_of(row(RequestType.CONSENT, 10**6, 10**6 - 1)).data.fips["BANK-1"]

    assert fip.consent.success_percentage == 99.99


def test_the_public_sees_nothing_of_small_counts():
    seen = health_of(
        row(RequestType.CONSENT, 99, 99), row(RequestType.FI_FETCH, 100, 80, not_found=10)
    )

    shown = {status.api: status for status in public_status(seen)}

    assert shown["consent"].status is Status.UNSURE
    assert shown["consent"].requests is None
    assert (shown["fi_fetch"].requests, shown["fi_fetch"].success_percentage) == (100, 88.89)
    assert (shown["fi_fetch"].timeout_percentage, shown["fi_fetch"].not_found_percentage) == (
        10,
        10,
    )
    assert shown["discovery"].status is Status.UNSURE
    assert (shown["consent"].too_few_calls, shown["discovery"].too_few_calls) == (True, False)


def test_after_an_hour_without_a_report_no_status_is_known():
    assert is_current(WINDOW_START, WINDOW_START + timedelta(hours=1))
    assert not is_current(WINDOW_START, WINDOW_START + timedelta(hours=1, seconds=1))
    assert not is_current(None, WINDOW_START)


def test_rows_without_a_status_keep_their_counts():
    rows = public_status(health_of(row(RequestType.CONSENT, 200, 200)))

    (known,) = [one for one in unsure(rows) if one.api == "consent"]

    assert (known.status, known.requests, known.success_percentage) == (Status.UNSURE, 200, 100.0)


def test_the_csv_says_the_same_as_the_rows():
    shown = public_status(
        health_of(row(RequestType.CONSENT, 50, 50)), floor=PublicFloor(min_calls=10)
    )

    read = list(csv.DictReader(io.StringIO(public_csv(shown))))

    assert len(read) == len(shown) == 6
    assert (read[3]["api"], read[3]["status"], read[3]["p95"]) == ("consent", "GOOD", "200")
    assert (read[0]["status"], read[0]["success_percentage"]) == ("UNSURE", "")


def api_of(feed, name):
    return msgspec.to_builtins(feed)["data"]["fips"]["BANK-1"][name]


def test_what_opened_at_the_fip_before_all_reports_came_is_not_good_meanwhile():
    """The states follow from judged windows: the incident is of the next one."""
    down = an_incident(
        FipApi("BANK-1", "cns"), LAST, eligible=200, succeeded=0, affected_aas=("A",)
    )
    feed = feed_of(consent=GOOD, fi_request=GOOD, causes=[down])

    consent = api_of(feed, "consent")
    assert (consent["status"], consent["reasons"]) == ("BAD", ["failing"])
    assert (consent["calls"], consent["failed"], consent["reporters"]) == (100, 100, 1)
    assert consent["evidence_from"] == consent["since"] == "2026-03-04T11:20:00Z"
    assert api_of(feed, "fi_request")["status"] == "GOOD"
    assert feed.summary["BANK-1"].consent_and_notification is Status.BAD


def test_of_a_whole_fip_that_just_fell_no_api_is_good():
    down = an_incident(Fip("BANK-1"), LAST, eligible=200, succeeded=0)
    down = replace(down, cause=replace(down.cause, affected_apis=("cns",)))
    feed = feed_of(consent=GOOD, fi_request=GOOD, fi_notification=GOOD, causes=[down])

    states = {name: api_of(feed, name)["status"] for name in FEED_APIS}
    assert states.pop("consent") == "BAD"
    assert set(states.values()) == {"UNSURE"}


def test_heartbeats_that_just_failed_leave_a_doubt_and_slow_calls_degrade():
    silent = an_incident(Fip("BANK-1"), LAST, eligible=200, succeeded=200)
    slow = an_incident(FipApi("BANK-1", "cns"), LAST, symptoms=(Symptom.SLOW,))

    in_doubt = api_of(feed_of(consent=GOOD, causes=[silent]), "consent")
    degraded = api_of(feed_of(consent=GOOD, causes=[slow]), "consent")

    assert (in_doubt["status"], in_doubt["reasons"]) == ("UNSURE", ["heartbeats"])
    assert (degraded["status"], degraded["reasons"]) == ("DEGRADED", ["slow"])


def test_an_incident_of_judged_windows_leaves_the_states_that_follow_from_them():
    known = an_incident(FipApi("BANK-1", "cns"), LAST - timedelta(minutes=10), succeeded=0)
    elsewhere = an_incident(Path("A", "BANK-1"), LAST, succeeded=0)

    assert api_of(feed_of(consent=GOOD, causes=[known, elsewhere]), "consent")["status"] == "GOOD"
    assert api_of(feed_of(causes=[known]), "consent")["status"] == "UNSURE"
