"""What has labels of members, between the process that writes them and the scrape that shows them."""

import os
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from mudra.jobs.network_figures import (
    NetworkFigures,
    NetworkFiguresCollector,
    forget_figures,
    write_figures,
)
from mudra.metrics.health.judging import FipFigures

ALL_KNOWN = FipFigures("BANK-1", "adisc", 200, 0.75, 0.09)
ONLY_4XX = FipFigures("BANK-2", "cns", 3, None, None)


def scraped(folder: Path) -> list[str]:
    registry = CollectorRegistry()
    registry.register(NetworkFiguresCollector(folder))
    return [
        line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")
    ]


def test_each_metric_has_a_sample_where_its_value_is_known(tmp_path: Path) -> None:
    write_figures(tmp_path, NetworkFigures([ALL_KNOWN, ONLY_4XX]))

    assert scraped(tmp_path) == [
        'mudra_fip_api_requests{api="adisc",fip="BANK-1"} 200.0',
        'mudra_fip_api_requests{api="cns",fip="BANK-2"} 3.0',
        'mudra_fip_api_success_ratio{api="adisc",fip="BANK-1"} 0.75',
        'mudra_fip_api_p50_seconds{api="adisc",fip="BANK-1"} 0.09',
    ]


def test_a_label_that_is_not_of_the_last_window_is_not_shown(tmp_path: Path) -> None:
    write_figures(tmp_path, NetworkFigures([ALL_KNOWN, ONLY_4XX]))
    write_figures(tmp_path, NetworkFigures([ONLY_4XX]))

    assert scraped(tmp_path) == ['mudra_fip_api_requests{api="cns",fip="BANK-2"} 3.0']


def test_a_cause_and_a_maintenance_are_shown_while_they_last(tmp_path: Path) -> None:
    cause = ("path", "AA-1", "BANK-1", "")
    write_figures(tmp_path, NetworkFigures([], [cause], ["BANK-2"]))

    assert scraped(tmp_path) == [
        'mudra_health_cause{api="",entity="AA-1",kind="path",peer="BANK-1"} 1.0',
        'mudra_health_maintenance{entity="BANK-2"} 1.0',
    ]
    write_figures(tmp_path, NetworkFigures())
    assert scraped(tmp_path) == []


def test_the_figures_of_an_ended_process_are_dropped_and_those_of_others_stay(
    tmp_path: Path,
) -> None:
    write_figures(tmp_path, NetworkFigures([ALL_KNOWN]))

    forget_figures(tmp_path, os.getpid() + 1)
    assert scraped(tmp_path)

    forget_figures(tmp_path, os.getpid())
    assert scraped(tmp_path) == []


def test_a_full_disk_leaves_neither_old_figures_nor_half_of_new_ones(tmp_path: Path) -> None:
    write_figures(tmp_path, NetworkFigures([ALL_KNOWN]))
    (tmp_path / f"network_figures_{os.getpid()}.new").symlink_to("/dev/full")

    with pytest.raises(OSError, match="No space left"):
        write_figures(tmp_path, NetworkFigures([ONLY_4XX]))

    assert list(tmp_path.iterdir()) == []


def test_before_the_first_window_nothing_is_shown(tmp_path: Path) -> None:
    assert scraped(tmp_path) == []
