"""The Helm charts, rendered by Helm's own library, and what Kubernetes makes of them."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import yaml
from tests.support.documents.blocks import blocks_of
from tests.support.programs import program
from tests.support.until import PATIENCE_S

Manifest = dict[str, Any]
HELM: Final = Path("deploy/helm")
IMAGE: Final = {"repository": "registry.example/mudra", "digest": "sha256:" + "a" * 64}
GUIDE: Final = blocks_of("docs/how-to/run-on-kubernetes.md")
_PROGRAM: Final = Path("tests/unit/deploy/chart_program.py")


def values_of_the_guide() -> Manifest:
    """The file values.yaml that the guide shows, with a digest."""
    (text,) = (block.body for block in GUIDE if block.body.startswith("image:"))
    found = yaml.safe_load(text.replace("sha256:…", IMAGE["digest"]))
    assert isinstance(found, dict)
    return found


def python() -> str:
    """An environment that has Helm's library: 100 MB, of which nothing else needs a part."""
    return program("charts")


def said_of(chart: str, values: object) -> dict[str, Any]:
    """What Helm and the schemas say of a chart with these values."""
    done = subprocess.run(
        [python(), str(_PROGRAM), str(HELM / chart)],
        input=json.dumps(values), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
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


def set_in_the_guide() -> Manifest:
    """What the guide's installation of the agent sets, with a digest."""
    (text,) = (block.body for block in GUIDE if "--set aaId" in block.body)
    words = shlex.split(text.replace("\\\n", " ").replace("sha256:…", IMAGE["digest"]))
    found: Manifest = {}
    for name, value in (
        word.split("=", 1) for option, word in pairwise(words) if option == "--set"
    ):
        *folders, last = name.split(".")
        place = found
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return found


NODES: Final = {
    **values_of_the_guide(),
    "monitoring": {"serviceMonitor": True, "rules": True, "labels": {"release": "prometheus"}},
    "backup": {"enabled": True, "recipients": ["age1" + "q" * 58], "pod": True},
}
AGENT: Final = {
    **set_in_the_guide(),
    "intakeToken": True,
    "boundTokens": True,
    "more": '[fips]\n"fip.example" = "FIP-1"',
    "serviceMonitor": {"enabled": True},
}
VALUES: Final = {"mudra": NODES, "mudra-agent": AGENT}


@cache
def rendered(chart: str) -> list[Manifest]:
    """All manifests with the values above."""
    return [one for found in said_of(chart, VALUES[chart])["manifests"].values() for one in found]


def one_of(chart: str, kind: str) -> Manifest:
    """The only manifest of a kind."""
    (found,) = (one for one in rendered(chart) if one["kind"] == kind)
    return found


def pods(chart: str) -> Iterator[Manifest]:
    """What each pod is made of."""
    for one in rendered(chart):
        if one["kind"] in {"StatefulSet", "Job"}:
            yield one["spec"]["template"]["spec"]
        elif one["kind"] == "CronJob":
            yield one["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        elif one["kind"] == "Pod":
            yield one["spec"]
