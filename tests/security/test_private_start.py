"""A start that would expose what it has: plain http for others (O5)."""

import pytest

from mudra.bootstrap.config import ConfigError, load_settings

REFUSED = (
    {"MUDRA_BASE_URL": "http://tokens.example/iam"},
    {"MUDRA_BASE_URL": "http://10.0.0.7:8080/iam"},
    {"MUDRA_BASE_URL": "http://localhost.example/iam"},
    {"MUDRA_HOST": "0.0.0.0"},  # refused
    {"MUDRA_HOST": "::"},
    {"MUDRA_HOST": "192.0.2.7"},
)
ACCEPTED = (
    {},
    {"MUDRA_BASE_URL": "https://tokens.example/iam"},
    {"MUDRA_BASE_URL": "https://tokens.example/iam", "MUDRA_HOST": "0.0.0.0"},  # behind a proxy
    {"MUDRA_BASE_URL": "http://localhost:8080/iam"},
    {"MUDRA_HOST": "::1"},
)


@pytest.mark.parametrize("environment", REFUSED)
def test_plain_http_for_other_machines_needs_a_setting(environment: dict[str, str]) -> None:
    """O5: refused with the way out, unless the setting says so."""
    with pytest.raises(ConfigError, match="MUDRA_PLAIN_HTTP=true"):
        load_settings(environment)
    assert load_settings(environment | {"MUDRA_PLAIN_HTTP": "true"}).plain_http


@pytest.mark.parametrize("environment", ACCEPTED)
def test_this_machine_and_https_start_by_themselves(environment: dict[str, str]) -> None:
    assert not load_settings(environment).plain_http
