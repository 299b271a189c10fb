"""mudra registry vocabulary: the words that entries may use."""

from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command, store_command
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import CommandFailed, Dependencies
from mudra.cli.output.shown import Shown, facts, table
from mudra.registry.payload.refusals import PayloadRefused
from mudra.registry.payload.vocabulary import Addition, VocabularyKind

app = typer.Typer(no_args_is_help=True, help="FI types and identifier types.")


@owner_command(app, "mudra registry vocabulary list --json", "list")
async def list_words(api: Api) -> Shown:
    """List the words that entries may use."""
    words = (await api.get("/operator/v1/registry/vocabulary")).content
    rows = [[kind, one] for kind, listed in words.items() for one in listed]
    return table(["LIST", "WORD"], rows, words)


@store_command(app, "mudra registry vocabulary add fitype GOLD_LOAN --variant GOLD-LOANS")
async def add(
    dependencies: Dependencies,
    kind: Annotated[VocabularyKind, typer.Argument(help="The list to extend.")],
    word: Annotated[str, typer.Argument(help="Capital letters, digits and _.")],
    variant: Annotated[list[str] | None, typer.Option(help="A spelling read as the word.")] = None,
    group: Annotated[
        str,
        typer.Option(help="Of the public status, for a FI type: deposits, gold-loans; else other."),
    ] = "",
) -> Shown:
    """Add a word without a new release; again, to give it a variant or another group."""
    from mudra.registry.payload.extend_vocabulary import (  # noqa: PLC0415  # loads the database
        extend_vocabulary,
    )
    from mudra.registry.payload.vocabulary_store import (  # noqa: PLC0415  # loads the database
        VocabularyStore,
    )

    variants = [*(variant or ())]
    addition = Addition(kind, word, tuple(variants), group)
    async with dependencies.transaction() as tx:
        outcome = await extend_vocabulary(VocabularyStore(tx), addition, operator_name())
    if isinstance(outcome, PayloadRefused):
        raise CommandFailed("; ".join(one.sentence() for one in outcome.findings))
    shown = {"kind": kind.value, "word": word, "variants": variants, "group": group}
    return facts(shown | {"variants": ", ".join(variants) or "none"}, shown)
