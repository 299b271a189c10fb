"""What a bare machine is made to prove; `make test-bare` makes one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.until import PATIENCE_S
from tools.bare_machine import readme_commands
from tools.handed_on import handed_variables, sources_of


def test_it_types_what_the_readme_says_and_waits_for_what_the_readme_shows() -> None:
    typed, shown = readme_commands(Path("README.md").read_text())

    assert "mudra token verify" in typed
    assert "make run" not in typed
    assert "role       FIU" in shown


def test_a_machine_is_told_of_certificates_and_indexes_and_of_no_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handed = {
        "HTTPS_PROXY": "http://proxy.example", "PIP_INDEX_URL": "https://index.example/simple",
        "NODE_EXTRA_CA_CERTS": "/ca.pem", "npm_config_registry": "https://npm.example",
        "UV_DEFAULT_INDEX": "https://index.example/simple",
    }  # fmt: skip
    kept = {"PIP_CACHE_DIR": "/cache", "UV_PROJECT_ENVIRONMENT": "/env", "MUDRA_PORT": "1"}
    for name, value in {**handed, **kept}.items():
        monkeypatch.setenv(name, value)

    found = handed_variables()

    assert handed.items() <= found.items()
    assert not kept.keys() & found.keys()


def test_a_machine_of_another_suite_hands_on_no_sources() -> None:
    assert sources_of("no-such-suite") == []


def test_without_what_makes_machines_it_says_how_to_get_that(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.bare_machine"],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    way = "apt-get install mmdebstrap" if os.geteuid() == 0 else "sudo make test-bare"

    assert done.returncode == 1
    assert way in done.stderr
