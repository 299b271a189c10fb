"""Grafana's dashboards have the types of Grafana's own schema: names, kinds and options."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from tests.support.programs import needs
from tests.support.until import PATIENCE_S

HERE = Path(__file__).parent / "node"
NODE = Path(sys.executable).with_name("node")
DASHBOARDS: Final = sorted(Path("deploy/grafana").glob("*.json"))
OPTIONS: Final = {
    "stat": "StatPanelCfg",
    "table": "TablePanelCfg",
    "timeseries": "TimeSeriesPanelCfg",
}
STRICT: Final = (
    *("--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"),
    *("--module", "nodenext", "--moduleResolution", "nodenext"),
)
"""Fields that a type does not have are errors: what is compiled are literals."""

pytestmark = needs("node-packages")


def compiled(folder: Path, dashboards: dict[str, Any]) -> str:
    """What the compiler of TypeScript says of dashboards, each as Grafana's type of it."""
    (folder / "node_modules").symlink_to((HERE / "node_modules").absolute())
    files = []
    for name, shown in dashboards.items():
        lines = ["import type { Dashboard, Panel } from '@grafana/schema';"]
        lines += [
            f"import type {{ Options as {kind} }} from '@grafana/schema/dist/esm/raw/composable/"
            f"{kind}/panelcfg/x/{module}_types.gen';"
            for kind, module in OPTIONS.items()
        ]
        lines.append(f"export const dashboard: Dashboard = {json.dumps(shown)};")
        for panel in shown["panels"]:
            # In a union of panels and rows fields of either are taken: so each by itself, too.
            lines.append(f"export const panel{panel['id']}: Panel = {json.dumps(panel)};")
            options = json.dumps(panel.get("options", {}))
            kind = panel["type"]
            lines.append(f"export const options{panel['id']}: Partial<{kind}> = {options};")
        files.append(folder / f"{name}.mts")
        files[-1].write_text("\n".join(lines))
    compiler = HERE / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        [NODE, compiler, *STRICT, *files],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return done.stdout + done.stderr


def test_dashboards_are_what_grafana_reads(tmp_path: Path) -> None:
    assert len(DASHBOARDS) == 3
    assert compiled(tmp_path, {one.stem: json.loads(one.read_text()) for one in DASHBOARDS}) == ""


def test_what_grafana_does_not_know_is_found(tmp_path: Path) -> None:
    """The compiler looks: else a dashboard that cannot be read would pass, too."""
    shown = json.loads(Path("deploy/grafana/network-health.json").read_text())
    first, second, third = shown["panels"][:3]
    first["fieldconfig"] = first.pop("fieldConfig")
    second["gridPos"]["x"] = "0"
    third["options"] = {"invented": True}

    said = compiled(tmp_path, {"wrong": shown})

    assert "fieldconfig" in said
    assert "'string' is not assignable to type 'number'" in said
    assert "invented" in said
