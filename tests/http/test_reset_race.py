"""100 resets at once: one succeeds, the others are told to wait (quality S2)."""

import collections

from tests.support.at_once import at_once
from tests.support.service import Service, new_member

ROUNDS = 20
AT_ONCE = 100


def test_of_100_resets_at_once_exactly_one_succeeds_in_each_of_20_rounds(
    service_of_two: Service,
) -> None:
    for number in range(ROUNDS):
        if number % 5 == 0:
            member = new_member(service_of_two)
            headers = member.bearer()
        before = member.read(headers).json()

        answers = at_once(
            service_of_two,
            AT_ONCE,
            lambda client, _, m=member, h=headers: client.post(
                "/v1/entity/secret/reset", json={"entityId": m.entity_id}, headers=h
            ),
        )

        assert collections.Counter(a.status_code for a in answers) == {200: 1, 429: AT_ONCE - 1}
        won = next(a for a in answers if a.status_code == 200).json()
        for refused in (a for a in answers if a.status_code == 429):
            assert refused.json()["errorCode"] in {"ResetTooSoon", "ResetLimitReached"}
            assert int(refused.headers["Retry-After"]) >= 290
        after = member.read(headers).json()
        assert after["secret"] == won["secret"] != before["secret"]
        service_of_two.advance("PT5M1S")
