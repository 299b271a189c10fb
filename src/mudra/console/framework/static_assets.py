"""Files that are served as they are: found once, packed once, named by their content.

A page links `asset("mudra.css")`, whose address carries a digest of the content, so that a
browser may keep it for a year. What `make assets` builds (static/built) may be missing, or come
while the service runs; pages then do without.
"""

import errno
import gzip
import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Final

from msgspec import Struct

SITE: Final = Path(str(files("mudra.console").joinpath("site")))
STATIC: Final = Path(str(files("mudra.console").joinpath("static")))
_MEDIA: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_NOT_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
_MIN_PACKED: Final = 500
"""Bytes below which packing saves nothing."""


class StaticAsset(Struct, frozen=True):
    """One file: its bytes, the same packed by gzip where that is shorter, and its digest."""

    body: bytes
    packed: bytes | None
    digest: str
    media_type: str
    changed: int


class AssetStore:
    """The files under one folder; nothing outside of it can be named."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder.resolve()
        # By the file itself: one file has any number of names (`a/../b`).
        self._kept: dict[Path, StaticAsset] = {}

    def find(self, name: str) -> StaticAsset | None:
        """Give a file by its path within the folder, read again when it has changed."""
        try:
            path = (self._folder / name).resolve()
            if not path.is_relative_to(self._folder) or path.suffix not in _MEDIA:
                return None
            changed = path.stat().st_mtime_ns
            kept = self._kept.get(path)
            if kept is None or kept.changed != changed:
                kept = self._kept[path] = _read(path, changed)
        except ValueError:
            return None  # a name that no file can have
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
            return None
        return kept

    def __len__(self) -> int:
        """Return how many files are remembered."""
        return len(self._kept)

    def address(self, name: str) -> str:
        """The file's path and digest, to stand behind `…/static/`; empty when it is not there."""
        found = self.find(name)
        return f"{name}?v={found.digest}" if found else ""


def _read(path: Path, changed: int) -> StaticAsset:
    body = path.read_bytes()
    compressed = path.with_name(path.name + ".gz")
    if compressed.exists():
        packed: bytes | None = compressed.read_bytes()  # made by the build: packing takes a while
    else:
        packed = gzip.compress(body, 9, mtime=0) if len(body) >= _MIN_PACKED else None
    digest = hashlib.sha256(body).hexdigest()[:16]
    return StaticAsset(body, packed, digest, _MEDIA[path.suffix], changed)


ASSETS: Final = AssetStore()
"""The one shelf of a process: its templates and its static routes share what was packed."""
DOCUMENTATION: Final = AssetStore(SITE)
"""The site that `make docs` builds; empty where it was not built."""
