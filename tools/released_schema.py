"""Writes the schema of this release for the tests of later ones: tests/upgrade/released.

    python -m tools.released_schema

Run once, when a version is released. It never replaces a file: what was released stays.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from mudra.shared.build_version import RELEASE
from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import migrate

FOLDER: Final = Path(__file__).parents[1] / "tests" / "upgrade" / "released"
_OPTIONS: Final = ("--no-owner", "--no-privileges", "--no-comments")
_OF_PSQL: Final = re.compile(
    r"^(?:\\.*|--.*|SET (?!check_function).*|SELECT pg_catalog\.set_config.*)?\n", re.MULTILINE
)


def schema(url: str) -> str:
    """Return the statements that make the tables of a database, and its revision."""
    parts = (
        ("--schema-only",),
        ("--data-only", "--inserts", "--table=alembic_version", "--table=schema_version"),
    )
    dumped = (
        subprocess.run(
            [programs() / "pg_dump", *_OPTIONS, *part, f"--dbname={url}"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for part in parts
    )
    return "".join(_OF_PSQL.sub("", text) for text in dumped)


def main() -> int:
    """Write the file; 1 when this version has one."""
    file = FOLDER / f"{RELEASE}.sql"
    if file.exists():
        print(
            f"{file.name} is there: raise RELEASE in src/mudra/shared/build_version.py first",
            file=sys.stderr,
        )
        return 1
    with tempfile.TemporaryDirectory() as folder, embedded_server(Path(folder) / "data") as url:
        migrate(url)
        file.write_text(schema(url))
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
