"""Settings of tokens, of who asks for them, and of the keys that sign them."""

from dataclasses import dataclass

from mudra.server_protocol.client_address import ForwardedHeader, TrustedProxies
from mudra.settings import parse
from mudra.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class TokenSettings:
    """Tokens of entities, and the proofs that come with them."""

    # fmt: off
    trusted_proxies: tuple[parse.Network, ...] = setting("TRUSTED_PROXIES", (), parse.networks,
        "networks in CIDR form, separated by commas",
        "proxies that may name the client in the header of MUDRA_FORWARDED_HEADER", first=True)
    forwarded_header: ForwardedHeader = setting("FORWARDED_HEADER", "x-forwarded-for",
        parse.choice("x-forwarded-for", "forwarded"), "x-forwarded-for or forwarded (RFC 7239)",
        "the header in which the MUDRA_TRUSTED_PROXIES name the client; the other one is ignored, "
        "as a client can write it")
    address_binding: str = setting("ADDRESS_BINDING", "watch", parse.choice("watch", "enforce"),
        "watch or enforce",
        "what happens when the right secret or client assertion comes from an address that is not "
        "in the registry entry of the entity (entities without addresses: nothing)")
    token_audience: str = setting("TOKEN_AUDIENCE", "account-aggregator-network", parse.text,
        "a text",
        "aud of entity tokens")
    public_origins_also: tuple[str, ...] = setting("PUBLIC_ORIGINS", (), parse.origins,
        "origins such as https://registry.example.org, with commas",
        "further origins under which members call this service, besides that of BASE_URL: a DPoP "
        "proof must be made for one of them")
    token_type_header: str = setting("TOKEN_TYP", "JWT", parse.choice("JWT", "at+jwt"),
        "JWT or at+jwt",
        "typ header of tokens")
    signing_key_bits: int = setting("SIGNING_KEY_BITS", 2048, parse.key_size, "2048, 3072 or 4096",
        "size of new signing keys")
    key_rotation_days: int = setting("KEY_ROTATION_DAYS", 30, parse.whole(1, 365), "1 to 365",
        "how long a key signs")
    entity_token_rate: parse.Rate = setting(
        "ENTITY_TOKEN_RATE", parse.Rate(20, 200), parse.rate, parse.RATE,
        "tokens in a second of one entity from one address, and how many at once above that")
    proof_rate: parse.Rate = setting(
        "PROOF_RATE", parse.Rate(20, 200), parse.rate, parse.RATE,
        "DPoP proofs in a second that one worker accepts of one entity, and how many at once "
        "above that")
    argon2_memory_mib: int = setting("ARGON2_MEMORY_MIB", 64, parse.whole(19, 1024), "19 to 1024",
        "memory of one password hash, MiB")
    # fmt: on

    @property
    def proxies(self) -> TrustedProxies:
        """Return the operator's own proxies, with the header that they write."""
        return TrustedProxies(self.trusted_proxies, self.forwarded_header)
