"""A start that would expose what it has: plain http for others, settings for programs."""

from pathlib import Path

import pytest
from tests.faults.postgres.embedded_holder import postmaster
from tests.support.database.backup_under_way import backup_under_way, dump_of
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.process import running_service
from tests.support.processes import children, command_of, environment_of

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


def test_no_program_that_is_started_has_the_settings_of_the_service(tmp_path: Path) -> None:
    """Master key and passwords are among them; what parses strangers' bodies needs none."""
    data_dir = tmp_path / "data"
    with running_service(data_dir) as service:
        aa = pushing_aa(service)
        pushed = aa.push(aa.requests(fips=300))
        started = [one for worker in children(service.process.pid) for one in children(worker)]
        known = {"postgres": environment_of(postmaster(data_dir))}
        with backup_under_way(data_dir, tmp_path / "kept") as backup:
            known["pg_dump"] = environment_of(dump_of(backup))
        (apart,) = (one for one in started if "anyio.to_process" in command_of(one))
        known["anyio.to_process"] = environment_of(apart)

    assert pushed.status_code == 200, pushed.text
    found = {name: [one for one in own if "MUDRA_" in one] for name, own in known.items()}
    assert found == {"pg_dump": [], "anyio.to_process": [], "postgres": []}
    assert all(own["PATH"] for own in known.values())
