"""The worst API of two parties is the same one in the matrix and in the lists."""

import pytest

from mudra.console.health.heatmap import worst_of
from mudra.console.pages.member.health.health_lines import lines_of, lines_table
from mudra.metrics.health.health import ErrorDetails, Health, Status
from mudra.metrics.health.picture import ApiPicture, Row, Subject, worst_api
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import Coverage
from mudra.shared.entity_type import EntityType


def api(code: str, calls: int, percent: int, status: Status = Status.BAD) -> ApiPicture:
    succeeded = calls * percent // 100
    errors = ErrorDetails(0, 0, calls - succeeded, 0)
    share = succeeded / calls if calls else None
    health = Health(calls, succeeded, calls, share, errors, status, certain=True, time=None)
    return ApiPicture(Tag.REQUESTS, code, health, None, None, None)


CASES = {
    "a bad one, though a good one has more failed calls": (
        [api("fif", 100_000, 97, Status.GOOD), api("cns", 100, 50)],
        "cns",
    ),
    "the least successful, though another has more failed calls": (
        [api("fif", 1000, 60), api("cns", 100, 20)],
        "cns",
    ),
    "of those that fail alike the one with the most failed calls": (
        [api("hbt", 25, 8), api("fif", 1000, 12)],
        "fif",
    ),
    "without a bad one the least successful by the same rule": (
        [api("hbt", 25, 96, Status.GOOD), api("fif", 1000, 99, Status.GOOD)],
        "fif",
    ),
    "a single call that failed is no share of a bad path either": (
        [api("adelink", 1, 0), api("fif", 50, 20), api("cns", 10, 30)],
        "fif",
    ),
    "a single call that failed is no share": (
        [api("adelink", 1, 0, Status.UNSURE), api("fif", 50, 40, Status.UNSURE)],
        "fif",
    ),
}


@pytest.mark.parametrize("why", CASES)
def test_a_cell_and_a_row_name_the_same_api(why: str) -> None:
    apis, worst = CASES[why]
    row = Row(Subject("A", "B"), tuple(apis), Coverage({}, {}).proof())

    chosen = worst_api(apis)
    (cell,) = worst_of({"B": [row]}).values()
    (line,) = lines_of([row], EntityType.FIP, "", frozenset(), {}, every=False)

    assert chosen is not None
    assert (chosen.type, cell[0], line.code) == (worst, worst, worst)
    assert [one.code for one in line.rest] == [one.type for one in apis if one.type != worst]


def test_what_is_bad_now_comes_before_what_recovered() -> None:
    now, over = api("cns", 100, 80), api("fif", 1000, 10)

    chosen = worst_api([now, over], recovered={(Tag.REQUESTS, "fif")})

    assert chosen is now


def test_without_calls_there_is_none() -> None:
    assert worst_api([api("fif", 0, 0, Status.UNSURE)]) is None


def test_what_one_aa_alone_sees_comes_after_what_all_see_and_before_what_recovered() -> None:
    row = Row(Subject("A", "B"), (api("fif", 100, 50),), Coverage({}, {}).proof())
    table = lines_table("FIP", every=False, one_api=False)

    def state(*, good_now: bool = False, alone: bool = False) -> tuple[int, str, str]:
        good = frozenset({("A", "B", Tag.REQUESTS, "fif")}) if good_now else frozenset()
        of_one_aa = frozenset({"B"} if alone else ())
        (line,) = lines_of(
            [row], EntityType.FIU, "", good, {}, every=False, of_one_aa=of_one_aa
        )  # fmt: skip
        (cell,) = (one for one in table.view([line], {}).rows[0] if one.kind == "tag")
        return line.rank, str(cell.value), cell.tone

    assert [state(), state(alone=True), state(good_now=True, alone=True)] == [
        (0, "bad", "bad"),
        (1, "one AA only", "warn"),
        (2, "bad earlier", "quiet"),
    ]
