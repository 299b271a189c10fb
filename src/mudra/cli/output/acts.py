"""Acts that a restore took back, for people and for programs."""

from collections.abc import Sequence

from mudra.audit.acts import Act
from mudra.cli.output.output import show_table
from mudra.shared.time_text import iso_ms


def act_document(act: Act) -> dict[str, object]:
    """Return an act as JSON has it."""
    return {
        "at": iso_ms(act.at),
        "event": act.event,
        "entityId": act.entity_id,
        "actor": act.actor,
        "about": act.about,
    }


def show_acts(acts: Sequence[Act]) -> None:
    """Print acts as a table; nothing when there is none."""
    if acts:
        rows = [[iso_ms(a.at), a.event, a.entity_id, a.actor, a.about] for a in acts]
        show_table(["AT", "EVENT", "ENTITY", "ACTOR", "ABOUT"], rows)
