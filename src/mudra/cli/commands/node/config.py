"""mudra config: the settings as this command reads them, each with its source."""

import typer

from mudra.cli.local.program import program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import show_json, show_table

app = typer.Typer(no_args_is_help=True)


@app.callback()
def config() -> None:
    """The settings in force."""


@app.command(epilog="Example: MUDRA_PORT=8443 mudra config show --json")
def show(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show every setting with its source; secrets show only whether they are set."""
    shown = program().shown_settings({"data_dir": data_dir})
    if as_json:
        show_json(
            [{"name": one.env, "value": one.value, "source": one.source.value} for one in shown]
        )
        return
    show_table(
        ["SETTING", "VALUE", "SOURCE"], [[one.env, one.value, one.source.value] for one in shown]
    )
