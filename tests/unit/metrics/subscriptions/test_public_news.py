"""What subscribers are written to about, and how long a request may wait."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.incident import AaCalls, Ending, Fip, FipApi, StoredIncident, Subject
from mudra.metrics.subscriptions.public_news import NewsState, news_of
from mudra.metrics.subscriptions.subscription import Subscription, is_lapsed
from mudra.shared.secret_text import SecretText

CONFIRM_WITHIN = timedelta(hours=48)

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
BEGAN = NOW - timedelta(hours=1)
OPEN, OVER = NewsState.OPEN, NewsState.OVER


BANK = Fip("BANK")


def stored(subject: Subject = BANK, ending: Ending = Ending.OPEN) -> StoredIncident:
    ended = None if ending is Ending.OPEN else NOW - timedelta(minutes=10)
    return StoredIncident("1", replace(an_incident(subject, BEGAN, ended), ending=ending), None)


@pytest.mark.parametrize(
    ("ending", "announced", "expected"),
    [
        (Ending.OPEN, None, [OPEN]),
        (Ending.OPEN, OPEN, []),
        (Ending.OPEN, OVER, [OPEN]),
        (Ending.RECOVERED, OPEN, [OVER]),
        (Ending.RECOVERED, OVER, []),
        (Ending.RECOVERED, None, []),
        (Ending.WITHDRAWN, OPEN, [OVER]),
        (Ending.WITHDRAWN, None, []),
        (Ending.MERGED, OPEN, [OVER]),
    ],
)
def test_each_change_of_a_public_incident_is_announced_once(
    ending: Ending, announced: NewsState | None, expected: list[NewsState]
) -> None:
    before = {} if announced is None else {"1": announced}

    assert [
        one.state for one in news_of([stored(ending=ending)], before, {"BANK"}, NOW)
    ] == expected


def test_only_what_the_status_page_shows_is_announced() -> None:
    incidents = [stored(AaCalls("AA")), stored(Fip("ELSEWHERE")), stored(FipApi("BANK", "cns"))]

    (news,) = news_of(incidents, {}, {"BANK"}, NOW)

    assert (news.fip_id, news.codes, news.began, news.at) == ("BANK", "cns", BEGAN, NOW)


@pytest.mark.parametrize(("confirmed", "lapsed"), [(None, True), (NOW, False)])
def test_a_request_that_is_not_confirmed_in_time_lapses(
    confirmed: datetime | None, lapsed: bool
) -> None:
    one = Subscription("1", "a@b.example", "", "en", SecretText("token"), NOW, confirmed)

    assert not is_lapsed(one, NOW + CONFIRM_WITHIN)
    assert is_lapsed(one, NOW + CONFIRM_WITHIN + timedelta(seconds=1)) is lapsed
