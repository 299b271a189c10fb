"""What a recount and an admitted report need is kept, whatever the settings are."""

import pytest

from mudra.bootstrap.config import ConfigError, load_settings
from mudra.metrics.rollup.retention import RetentionPolicy

RECOUNTED_DAYS = 8


def test_sums_by_hour_are_kept_as_long_as_raw_rows() -> None:
    assert RetentionPolicy(raw_days=90, hour_days=8).kept_hour_days == 90
    assert RetentionPolicy(raw_days=8, hour_days=400).kept_hour_days == 400


def test_no_setting_drops_the_raw_rows_of_a_day_that_is_counted_again() -> None:
    raw_days = {"MUDRA_METRICS_RAW_DAYS": str(RECOUNTED_DAYS)}

    assert load_settings(raw_days, {}).metrics_raw_days == RECOUNTED_DAYS
    with pytest.raises(ConfigError, match="MUDRA_METRICS_RAW_DAYS"):
        load_settings({"MUDRA_METRICS_RAW_DAYS": str(RECOUNTED_DAYS - 1)}, {})
