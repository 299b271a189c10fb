"""The worst step of a member: the one that loses most above the network, beyond chance."""

from datetime import UTC, datetime

from mudra.comparison.funnel import Above, Funnel, Stage, StepOfFunnel, furthest
from mudra.metrics.health.health import NO_OUTCOMES
from mudra.metrics.rollup.coverage import Proof

AT = datetime(2026, 11, 30, tzinfo=UTC)


def funnel(**lost: tuple[int, int]) -> Funnel:
    """Returns a funnel by the calls of each step and how many of them were lost."""
    steps = [
        StepOfFunnel(stage, begun, begun - failed, 0, 0, failed, 0)
        for stage in Stage
        for begun, failed in [lost.get(stage.value, (0, 0))]
    ]
    return Funnel("", "", AT, AT, tuple(steps), NO_OUTCOMES, Proof(1, 1, 2, 2))


NETWORK = funnel(data_ready=(100_000, 4_200), fi_fetch=(100_000, 800), consent=(10_000, 100))


def test_a_step_that_loses_much_everywhere_is_not_the_worst() -> None:
    found = furthest(funnel(data_ready=(9_000, 370), fi_fetch=(9_000, 180)), NETWORK)

    assert found == Above(Stage.FI_FETCH, 1.2)


def test_few_calls_and_chance_name_no_step() -> None:
    assert furthest(funnel(fi_fetch=(99, 40)), NETWORK) is None
    assert furthest(funnel(data_ready=(500, 30)), NETWORK) is None
    assert furthest(funnel(data_ready=(50_000, 2_100)), NETWORK) is None
    assert furthest(funnel(discovery=(500, 30)), NETWORK) is None


def test_one_that_loses_where_the_network_loses_none_is_named() -> None:
    network = funnel(linking=(1_000, 0))

    assert furthest(funnel(linking=(200, 3)), network) == Above(Stage.LINKING, 1.5)
