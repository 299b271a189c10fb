"""Queries of an entity about its last days, and the options that its commands share."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api
from mudra.shared.time_text import iso_ms

EntityId = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
Prefix = Annotated[str, typer.Option("--prefix", help="Path of the network's metrics.")]


async def of_days(api: Api, entity_id: str, path: str, days: int, usual: int = 1) -> Answer:
    """Read an entity's last days, by the service's clock; `usual` is what the path has alone."""
    entity = await api.of_entity(entity_id)
    answer = await entity.get(path)
    if days == usual:
        return answer
    begin = datetime.fromisoformat(answer["to"]) - timedelta(days=days)
    return await entity.get(path, {"from": iso_ms(begin), "to": answer["to"]})
