"""mudra doctor: check that everything works, and say what to do when it does not."""

import typer

from mudra.cli.local.program import program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, show_json
from mudra.overview.administration import Diagnosis


def doctor(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Check settings, disk, master key, database, clock, signing keys, email and invariants.

    Exits with 1 when a check fails, and says what to do about it. A warning ends with 0.
    """
    found = program().diagnose(data_dir)
    if as_json:
        show_json(
            [
                {"check": one.name, "ok": one.passed, "warning": one.warns, "text": one.text}
                for one in found
            ]
        )
    else:
        for one in found:
            typer.echo(f"{_mark(one)}  {one.name}: {one.text}")
    if not all(one.passed for one in found):
        raise typer.Exit(int(Exit.FAILED))


def _mark(one: Diagnosis) -> str:
    if not one.passed:
        return "FAIL"
    return "warn" if one.warns else "ok  "
