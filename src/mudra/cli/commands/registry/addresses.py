"""mudra registry addresses: who gets tokens from where its entry does not say."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer
from msgspec import Struct

from mudra.cli.command import store_command
from mudra.cli.local.program import Dependencies
from mudra.cli.output.output import show_facts, show_table
from mudra.cli.output.shown import Shown
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.address_binding import AddressBinding, ChosenBinding, is_enforced
from mudra.tokens.secrets.foreign_addresses import AddressReport, report_addresses


def add_to(app: typer.Typer) -> None:
    """Add the command of this file."""
    store_command(app, "mudra registry addresses --days 30 --json")(addresses)


async def addresses(
    dependencies: Dependencies,
    days: Annotated[int, typer.Option(min=1, max=400, help="Uses of the last days.")] = 30,
) -> Shown:
    """Show which addresses got tokens for an entity whose live entry does not list them.

    It is what a binding would refuse, by `mudra registry binding` or MUDRA_ADDRESS_BINDING. An
    entity without a live entry, or whose entry lists no `ips`, is named apart.
    """
    seen = await _seen(dependencies, days=days)
    report = seen.report
    document = {
        "foreign": [
            {
                "entityId": one.entity_id,
                "address": one.address,
                "tokens": one.count,
                "lastUsedAt": iso_ms(one.last_used_at),
            }
            for one in report.foreign
        ],
        "listed": report.listed,
        "unbound": list(report.unbound),
        "network": "enforce" if seen.network else "watch",
        "enforced": seen.enforced,
        "exempt": seen.exempt,
    }

    def show() -> None:
        if report.foreign:
            show_table(
                ["ENTITY", "ADDRESS", "TOKENS", "LAST USED"],
                [
                    [one.entity_id, one.address, str(one.count), iso_ms(one.last_used_at)]
                    for one in report.foreign
                ],
            )
        show_facts(
            {
                "addresses not listed": len(report.foreign),
                "addresses listed": report.listed,
                "entities without listed addresses": ", ".join(report.unbound) or "none",
                "entities bound to their addresses": ", ".join(seen.enforced) or "none",
            }
        )

    return Shown(document, show)


class _Seen(Struct, frozen=True):
    """The report, and who is bound: the network by its setting, entities by their own."""

    report: AddressReport
    network: bool
    enforced: Sequence[str]
    exempt: Sequence[str]


async def _seen(dependencies: Dependencies, *, days: int) -> _Seen:
    from mudra.identity.accounts.people_store import People  # noqa: PLC0415  # loads the database
    from mudra.tokens.secrets.address_binding_store import (  # noqa: PLC0415  # loads the database
        AddressBindings,
    )
    from mudra.tokens.secrets.binding_service import (  # noqa: PLC0415  # loads the database
        BindingService,
    )
    from mudra.tokens.secrets.registered_key_store import (  # noqa: PLC0415  # loads the database
        RegisteredKeys,
    )
    from mudra.tokens.secrets.secret_use_store import (  # noqa: PLC0415  # loads the database
        SecretUses,
    )

    async with dependencies.transaction() as tx:
        since = await People(tx).now() - timedelta(days=days)
        listed = await RegisteredKeys(tx).live_addresses()
        report = report_addresses(await SecretUses(tx).since(since), listed)
        network = tx.service(BindingService).network_enforces
        chosen = await AddressBindings(tx).chosen()
    enforced = [
        entity_id
        for entity_id in sorted(listed.keys() | chosen.keys())
        if is_enforced(
            chosen.get(entity_id, ChosenBinding(AddressBinding.NETWORK)).binding,
            listed.get(entity_id, ()),
            network_enforces=network,
        )
    ]
    exempt = [one for one, how in chosen.items() if how.exempt]
    return _Seen(report, network, enforced, exempt)
