"""Counting slow calls from four percentile points."""

import numpy as np
import pytest

from mudra.metrics.attribution.evidence.latency import calls_above

RNG = np.random.default_rng(4)


def points(times: np.ndarray) -> np.ndarray:
    ordered = np.sort(times)
    ranks = [max(int(np.ceil(len(times) * share - 1e-9)), 1) - 1 for share in (0.5, 0.95, 0.99, 1)]
    return ordered[ranks].astype(np.float32)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100, 5000])
@pytest.mark.parametrize("threshold", [50, 300, 700, 1500, 10_000])
def test_the_estimate_is_near_the_true_number_of_slow_calls(count: int, threshold: float) -> None:
    errors = []
    for _ in range(40):
        times = RNG.lognormal(np.log(300), 0.6, count)
        estimate = calls_above(np.float32([count]), points(times)[None], np.float32([threshold]))[0]
        errors.append((estimate - (times > threshold).sum()) / count)

    assert abs(np.mean(errors)) < 0.13
    assert np.abs(errors).max() <= 1


def test_no_calls_are_no_slow_calls() -> None:
    zero = np.zeros(1, np.float32)

    assert calls_above(zero, np.zeros((1, 4), np.float32), np.float32([100]))[0] == 0


@pytest.mark.parametrize(("threshold", "least", "most"), [(100, 90, 100), (400, 5, 50), (900, 1, 5),
                                                        (1300, 1, 1), (2000, 0, 0)])  # fmt: skip
def test_the_estimate_keeps_the_bounds_that_the_points_set(
    threshold: float, least: float, most: float
) -> None:
    pxx = np.float32([[300, 800, 1200, 2000]])

    assert least <= calls_above(np.float32([100]), pxx, np.float32([threshold]))[0] <= most
