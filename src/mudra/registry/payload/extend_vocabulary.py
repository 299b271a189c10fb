"""The use cases of the vocabulary: read it, and add a word without a release."""

from mudra.registry.payload.refusals import PayloadRefused
from mudra.registry.payload.vocabulary import (
    Addition,
    Vocabulary,
    check_addition,
    shipped_vocabulary,
)
from mudra.registry.payload.vocabulary_store import VocabularyStore


async def read_vocabulary(store: VocabularyStore) -> Vocabulary:
    """Return the words of this release and those that the operator added."""
    return shipped_vocabulary().extended(await store.additions())


async def extend_vocabulary(
    store: VocabularyStore, addition: Addition, actor: str
) -> Addition | PayloadRefused:
    """Add a word with its variants, unless a variant already means another word."""
    findings = check_addition(await read_vocabulary(store), addition)
    if findings:
        return PayloadRefused(tuple(findings))
    await store.add(addition, actor)
    return addition
