"""What a service prints when it answers: addresses that are there."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.support.database.template_database import prepare
from tests.support.depth import with_every_change
from tests.support.http_clients import NO_TLS
from tests.support.until import PATIENCE_S

ROOT = Path(__file__).parents[2]
MUDRA = Path(sys.executable).with_name("mudra")
PAGE = "docs/reference/api.html"


@pytest.mark.parametrize(
    "built", with_every_change([True], [True, False]), ids=["with the site", "without it"]
)
def test_the_address_of_the_documentation_is_printed_where_it_is(
    tmp_path: Path, built: bool
) -> None:
    source, site = tmp_path / "src", tmp_path / "src" / "mudra" / "console" / "site"
    shutil.copytree(ROOT / "src", source, ignore=lambda *_: {"site", "node_modules"})
    if built:
        (site / "reference").mkdir(parents=True)
        (site / "reference" / "api.html").write_text("<!doctype html><title>API</title>")

    with served(source, tmp_path / "data") as banner:
        (line,) = re.findall(r"^  API +(.+)$", banner, re.MULTILINE)
        found = [httpx2.get(one, verify=NO_TLS).status_code for one in line.split(", ")]

    assert (PAGE in banner) is built
    assert found == [200] * (2 if built else 1)


@contextmanager
def served(source: Path, data_dir: Path) -> Iterator[str]:
    """Run a service of this code; gives what it printed once it answered."""
    prepare(data_dir)
    own = {name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")}
    with subprocess.Popen(
        [MUDRA, "serve", "--sandbox", "--port", "0", "--data-dir", data_dir],
        env=own | {"PYTHONPATH": str(source), "MUDRA_TELEMETRY_PORT": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            lines: list[str] = []
            while not (lines and lines[-1].startswith("  log ")):
                lines.append(process.stdout.readline())
                assert lines[-1], "".join(lines)
            yield "".join(lines)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
