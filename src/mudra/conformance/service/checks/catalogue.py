"""All checks of a service in their order: what changes the entity's secret comes last."""

from typing import Final

from mudra.conformance.check import Check
from mudra.conformance.service.checks import (
    entity_token,
    errors,
    keys,
    metrics_push,
    metrics_rules,
    oauth,
    registration,
    registry_reads,
    secret_end,
    secret_read,
    secret_reset,
    token_response,
    user_token,
)
from mudra.conformance.service.implementation import Implementation

SERVICE_CHECKS: Final[tuple[Check[Implementation], ...]] = (
    *token_response.CHECKS,
    *user_token.CHECKS,
    *entity_token.CHECKS,
    *secret_read.CHECKS,
    *errors.CHECKS,
    *keys.CHECKS,
    *oauth.CHECKS,
    *registry_reads.CHECKS,
    *registration.CHECKS,
    *metrics_push.CHECKS,
    *metrics_rules.CHECKS,
    *secret_reset.CHECKS,
    *secret_end.CHECKS,
)
