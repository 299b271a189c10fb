"""PostgreSQL's programs that say another version, or do something else besides."""

from pathlib import Path

from mudra.storage.database.embedded.programs import of_the_wheel


def wrapped(folder: Path, version: str) -> Path:
    """The wheel's programs behind scripts that say another version and note their use."""
    real = of_the_wheel()
    assert real is not None
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "used").touch()
    (folder / "used").chmod(0o666)
    for name in ("postgres", "initdb", "pg_dump", "pg_restore", "psql"):
        (folder / name).write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo "{name} (PostgreSQL) {version}" && exit\n'
            f'echo {name} >>{folder}/used\nexec {real}/{name} "$@"\n'
        )
        (folder / name).chmod(0o755)
    return folder
