"""What `mudra doctor` says of an installation without the files that git does not have."""

from pathlib import Path

from mudra.bootstrap.diagnosis.installation import installation
from mudra.console.framework.static_assets import AssetStore


def stores(folder: Path, *files: str) -> tuple[AssetStore, AssetStore]:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("built")
    return AssetStore(folder / "site"), AssetStore(folder / "static")


def test_an_installation_from_git_says_what_was_not_built(tmp_path: Path) -> None:
    found = installation(*stores(tmp_path))

    assert found.passed
    assert "no documentation: /docs and the runbooks of alerts answer 404" in found.text
    assert "no charts" in found.text
    assert "make assets site" in found.text


def test_only_what_is_missing_is_named(tmp_path: Path) -> None:
    found = installation(*stores(tmp_path, "static/built/charts.min.js"))

    assert "no documentation" in found.text
    assert "charts" not in found.text


def test_a_whole_installation_is_whole(tmp_path: Path) -> None:
    found = installation(*stores(tmp_path, "site/index.html", "static/built/charts.min.js"))

    assert (found.passed, found.text) == (True, "documentation and charts are there")
