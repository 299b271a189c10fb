"""The list of commands loads none of them, and says of each what its own help begins with."""

import subprocess
import sys

import typer.main
from tests.support.until import PATIENCE_S

from mudra.bootstrap.command_line import app

LIST = """
import sys
from mudra.bootstrap.entry_point import run
sys.argv = ["mudra", "--help"]
try:
    run()
except SystemExit as end:
    assert end.code == 0
assert not [name for name in sys.modules if name.startswith("mudra.cli.commands.")]
import mudra.cli.commands.network.health
assert "litestar" not in sys.modules
"""


def test_the_list_loads_no_command_and_none_of_the_command_line_loads_litestar() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIST],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    assert done.returncode == 0, done.stderr
    assert "serve" in done.stdout


def test_the_list_says_of_each_what_its_own_help_begins_with() -> None:
    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)
    context = root.make_context("mudra", [], resilient_parsing=True)
    listed = {name: root.get_command(context, name) for name in root.list_commands(context)}

    assert len(listed) > 20
    for name, shown in listed.items():
        assert shown is not None
        assert shown.help
        assert str(root.commands[name].help).startswith(shown.help), name
