"""mudra entity followed, follow and unfollow: the FIPs of which a FIU gets alarms."""

from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api, in_path
from mudra.cli.command import user_command
from mudra.cli.output.shown import Shown, line, table

_Fiu = Annotated[str, typer.Argument(help="ID of a FIU that you administer.")]
_Fips = Annotated[list[str], typer.Argument(help="IDs of FIPs.")]
_Prefix = Annotated[str, typer.Option("--prefix", help="Path of the network's metrics.")]
_PREFIX = "/metrics/perf/v1"


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    user_command(app, "mudra entity followed FINSIGHT-FIU --json")(followed)
    user_command(app, "mudra entity follow FINSIGHT-FIU KAVERI-FIP")(follow)
    user_command(app, "mudra entity unfollow FINSIGHT-FIU KAVERI-FIP")(unfollow)


async def followed(api: Api, entity_id: _Fiu, prefix: _Prefix = _PREFIX) -> Shown:
    """List the FIPs that a FIU follows: it gets alarms about these."""
    fiu = await api.of_entity(entity_id)
    return _shown(await fiu.get(f"{prefix}/followed-fips"))


async def follow(api: Api, entity_id: _Fiu, fips: _Fips, prefix: _Prefix = _PREFIX) -> Shown:
    """Follow FIPs, 500 at most; ends at the first that is refused."""
    fiu = await api.of_entity(entity_id)
    return _shown([await fiu.put(f"{prefix}/followed-fips/{in_path(one)}") for one in fips][-1])


async def unfollow(api: Api, entity_id: _Fiu, fips: _Fips, prefix: _Prefix = _PREFIX) -> Shown:
    """Stop following FIPs."""
    fiu = await api.of_entity(entity_id)
    return _shown([await fiu.delete(f"{prefix}/followed-fips/{in_path(one)}") for one in fips][-1])


def _shown(answer: Answer) -> Shown:
    fips = answer["fips"]
    if not fips:
        return line("No FIP is followed: the page Health shows all, and no alarms come.", fips)
    return table(["FIP"], [[one] for one in fips], fips)
