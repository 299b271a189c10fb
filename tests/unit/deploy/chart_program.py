"""Lint, render and validate a chart, in an environment of its own that has Helm's library.

    python chart_program.py CHART < VALUES.json

Writes JSON: what Helm's linter says, each rendered manifest by its template, and what the
JSON schemas of Kubernetes say against it. Those have no custom resources.
"""

import json
import sys

import helm_python as helm  # type: ignore[import-not-found]
import kubernetes_validate  # type: ignore[import-not-found]
import yaml

VERSIONS = ("1.27", "1.31", "1.37")
CUSTOM = "monitoring.coreos.com/"


def main() -> None:
    """Print the three as one object."""
    chart, values = sys.argv[1], json.load(sys.stdin)
    linted = helm.lint(chart, values, strict=True, namespace="network")
    answer: dict[str, object] = {"lint": linted, "error": "", "manifests": {}, "invalid": []}
    try:
        with helm.Chart.load(chart) as loaded:
            rendered = loaded.render(values, name="prod", namespace="network", is_install=True)
    except helm.HelmError as error:
        answer["error"] = str(error)
    else:
        manifests = {
            name: [one for one in yaml.safe_load_all(text) if one]
            for name, text in rendered.items()
            if name.endswith(".yaml")
        }
        answer["manifests"] = manifests
        answer["notes"] = [text for name, text in rendered.items() if name.endswith(".txt")]
        answer["invalid"] = [
            f"{version} {one['kind']}: {wrong}"
            for version in VERSIONS
            for found in manifests.values()
            for one in found
            for wrong in invalid(one, version)
        ]
    json.dump(answer, sys.stdout)


def invalid(manifest: dict[str, object], version: str) -> list[str]:
    """What a release of Kubernetes would not take, unknown fields included."""
    if str(manifest["apiVersion"]).startswith(CUSTOM):
        return []
    try:
        kubernetes_validate.validate(manifest, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [str(error)]
    return []


if __name__ == "__main__":
    main()
