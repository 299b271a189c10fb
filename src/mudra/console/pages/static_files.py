"""Style and scripts, from the package itself: no request leaves the host."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from litestar import Router
from litestar.static_files import create_static_files_router

_HERE: Final = Path(str(files("mudra.console").joinpath("static")))


def static_files(prefix: str) -> Router:
    """Serve the package's static files under `prefix`/static."""
    return create_static_files_router(
        path=f"{prefix}/static",
        directories=[_HERE],
        include_in_schema=False,
        cache_control=None,
    )
