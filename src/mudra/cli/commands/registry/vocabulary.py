"""mudra registry vocabulary: the words that entries may use."""

from typing import Annotated

import typer

from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.registry.payload.extend_vocabulary import extend_vocabulary, read_vocabulary
from mudra.registry.payload.refusals import PayloadRefused
from mudra.registry.payload.vocabulary import Addition, Vocabulary, VocabularyKind

app = typer.Typer(no_args_is_help=True, help="FI types and identifier types.")


@app.command("list", epilog="Example: mudra registry vocabulary list --json")
def list_words(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the words that entries may use."""

    async def act(dependencies: Dependencies) -> Vocabulary:
        async with dependencies.unit_of_work() as work:
            return await read_vocabulary(work.vocabulary)

    vocabulary = program().in_store(act, data_dir)
    words = {kind.value: list(vocabulary.words(kind).listed) for kind in VocabularyKind}
    if as_json:
        show_json(words)
    else:
        show_table(
            ["LIST", "WORD"], [[kind, one] for kind, listed in words.items() for one in listed]
        )


@app.command(epilog="Example: mudra registry vocabulary add fitype GOLD_LOAN --variant GOLD-LOANS")
def add(
    kind: Annotated[VocabularyKind, typer.Argument(help="The list to extend.")],
    word: Annotated[str, typer.Argument(help="Capital letters, digits and _.")],
    variant: Annotated[list[str] | None, typer.Option(help="A spelling read as the word.")] = None,
    group: Annotated[
        str,
        typer.Option(help="Of the public status, for a FI type: deposits, gold-loans; else other."),
    ] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add a word without a new release; again, to give it a variant or another group."""
    addition = Addition(kind, word, tuple(variant or ()), group)

    async def act(dependencies: Dependencies) -> Addition | PayloadRefused:
        async with dependencies.unit_of_work() as work:
            return await extend_vocabulary(work.vocabulary, addition, operator_name())

    outcome = program().in_store(act, data_dir)
    if isinstance(outcome, PayloadRefused):
        fail("; ".join(one.sentence() for one in outcome.findings))
    facts = {"kind": kind.value, "word": word, "variants": list(variant or ()), "group": group}
    if as_json:
        show_json(facts)
    else:
        show_facts(facts | {"variants": ", ".join(variant or ()) or "none"})
