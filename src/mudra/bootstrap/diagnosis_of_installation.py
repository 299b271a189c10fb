"""The check of `mudra doctor` of what git does not have, and a package has only if it was built."""

from typing import Final

from mudra.console.framework.static_assets import ASSETS, DOCUMENTATION, AssetStore
from mudra.overview.administration import Diagnosis

_BUILT: Final = "run make assets site before the package is built (docs/operations/running.md)"


def installation(
    documentation: AssetStore = DOCUMENTATION, assets: AssetStore = ASSETS
) -> Diagnosis:
    """Say what was not built: everything else works without, so it is no fault of the service."""
    lacking = []
    if documentation.find("index.html") is None:
        lacking.append("no documentation: /docs and the runbooks of alerts answer 404")
    if assets.find("built/charts.min.js") is None:
        lacking.append("no charts: pages show tables in their place")
    text = f"{'; '.join(lacking)}; {_BUILT}" if lacking else "documentation and charts are there"
    return Diagnosis("installation", passed=True, text=text)
