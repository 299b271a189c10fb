"""Meanings of the fields of the API, for those whose struct does not say it itself.

By name, since a name means one thing all over the API; where it does not, by `Schema.name`. A
field without a text fails tests/unit/http/openapi/test_whole_document.py. Never decides anything.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mudra.http.openapi.field_texts.accounts import ACCOUNT_FIELDS
from mudra.http.openapi.field_texts.comparisons import COMPARISON_FIELDS
from mudra.http.openapi.field_texts.disputes import DISPUTE_FIELDS
from mudra.http.openapi.field_texts.health import HEALTH_FIELDS
from mudra.http.openapi.field_texts.levels import LEVEL_FIELDS
from mudra.http.openapi.field_texts.operations import OPERATION_FIELDS
from mudra.http.openapi.field_texts.registry import REGISTRY_FIELDS

FIELD_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **ACCOUNT_FIELDS,
        **REGISTRY_FIELDS,
        **HEALTH_FIELDS,
        **COMPARISON_FIELDS,
        **LEVEL_FIELDS,
        **DISPUTE_FIELDS,
        **OPERATION_FIELDS,
    }
)
