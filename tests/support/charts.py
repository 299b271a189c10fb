"""The Helm charts, rendered by Helm's own library, and what Kubernetes makes of them."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests.support.documents.blocks import blocks_of

Manifest = dict[str, Any]
HELM: Final = Path("deploy/helm")
ENVIRONMENT: Final = Path(".build/charts-env").absolute()
IMAGE: Final = {"repository": "registry.example/mudra", "digest": "sha256:" + "a" * 64}
GUIDE: Final = blocks_of("docs/how-to/run-on-kubernetes.md")
_PROGRAM: Final = Path("tests/unit/deploy/chart_program.py")


def values_of_the_guide() -> Manifest:
    """The file values.yaml that the guide shows, with a digest."""
    (text,) = (block.body for block in GUIDE if block.body.startswith("image:"))
    found = yaml.safe_load(text.replace("sha256:…", IMAGE["digest"]))
    assert isinstance(found, dict)
    return found


@cache
def python() -> str:
    """An environment that has Helm's library: 100 MB, of which nothing else needs a part."""
    made = subprocess.run(
        [".venv/bin/uv", "sync", "--quiet", "--frozen", "--only-group=charts",
         "--no-install-project"],
        env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(ENVIRONMENT)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"Helm's library cannot be had: {made.stderr[-300:]}")
    return str(ENVIRONMENT / "bin" / "python")


def said_of(chart: str, values: object) -> dict[str, Any]:
    """What Helm and the schemas say of a chart with these values."""
    done = subprocess.run(
        [python(), str(_PROGRAM), str(HELM / chart)],
        input=json.dumps(values), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def resolved(env: list[Manifest], secret: dict[str, str]) -> dict[str, str]:
    """What Kubernetes makes of the list; a key that is needed and not there fails the pod."""
    found = {one["name"]: one["value"] for one in env if "value" in one}
    for one in env:
        if "valueFrom" in one:
            key = one["valueFrom"]["secretKeyRef"]
            if key["key"] in secret:
                found[one["name"]] = secret[key["key"]]
            else:
                assert key["optional"], key
    return found
