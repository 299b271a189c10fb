"""Builds an agent's tokens: by the secret that it reads, or by what the application registers."""

from functools import partial
from pathlib import Path

import httpx2

from mudra.agent.clock import Clock
from mudra.agent.delivery.backoff import Uniform
from mudra.agent.delivery.credentials import Tokens, read_source, token_source
from mudra.agent.delivery.dpop_key_file import dpop_key
from mudra.agent.delivery.registered_credentials import RegisteredCredentials, RegisteredTokens
from mudra.agent.host.config import Config


def tokens_of(config: Config, http: httpx2.AsyncClient, clock: Clock, uniform: Uniform) -> Tokens:
    """Build the tokens of this configuration. Raises SecretUnreadable for their key."""
    credentials, url = config.credentials, config.operator.token_url
    if not credentials.registered:
        key = dpop_key(Path(credentials.dpop_key), clock) if credentials.dpop_key else None
        secret = partial(read_source, "credentials.secret", credentials.secret)
        return token_source(url, config.aa_id, secret, http, clock, uniform, key)
    registered = RegisteredCredentials(Path(config.directory))
    return RegisteredTokens(
        registered,
        lambda: token_source(url, config.aa_id, registered.secret, http, clock, uniform),
        clock,
    )
