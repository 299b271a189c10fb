"""The version of this build, said here alone for the package, the log, metrics and reports.

The build tool loads this file by itself (`pyproject.toml`, tool.hatch.version): it imports nothing
of Mudra.
"""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

RELEASE: Final = "1.1.0"
"""The release that the commits from here on lead to; the one that is tagged `v1.1.0` is it."""
_ROOT: Final = Path(__file__).parents[3]
_GIVEN: Final = "MUDRA_BUILD_VERSION"
"""For a build without git, such as that of an image: the version that its maker read elsewhere."""
_SECONDS: Final = 10


@cache
def version() -> str:
    """Returns the version of what runs, such as `1.1.0` or `1.1.0.dev1521+g0a1b2c3d`.

    A checkout asks git: what was written when it was installed is old with the next commit.
    """
    if (_ROOT / ".git").exists():
        return version_of(_ROOT)
    from importlib.metadata import version as installed  # noqa: PLC0415  # 15 ms, of no use to a checkout

    from mudra import DISTRIBUTION  # noqa: PLC0415  # the build tool has no package to import

    return installed(DISTRIBUTION)


def version_to_build() -> str:
    """Returns the version of a package that is built from these files."""
    return os.environ.get(_GIVEN) or version_of(_ROOT)


def version_of(root: Path) -> str:
    """Returns the version of a checkout.

    A development version counts the commits, so that a later one is a newer version, and names its
    commit; `.dirty` says that files differ from it. Without the whole history the count is 0, and
    without git the commit is unknown.
    """
    try:
        commit = _git(root, "rev-parse", "--short=8", "HEAD")
        dirty = bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
        if not dirty and f"v{RELEASE}" in _git(root, "tag", "--points-at", "HEAD").split():
            return RELEASE
        is_whole = _git(root, "rev-parse", "--is-shallow-repository") == "false"
        count = _git(root, "rev-list", "--count", "HEAD") if is_whole else "0"
    except (OSError, subprocess.SubprocessError):
        return f"{RELEASE}.dev0+unknown"
    return f"{RELEASE}.dev{count}+g{commit}{'.dirty' if dirty else ''}"


def _git(root: Path, *words: str) -> str:
    """Asks git about this folder alone, wherever it is called from, and changes nothing there."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(  # noqa: S603  # fixed words
        ["git", "--no-optional-locks", f"--git-dir={root / '.git'}", f"--work-tree={root}", *words],  # noqa: S607  # where a developer has it
        cwd=root,
        env=own,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    return done.stdout.strip()
