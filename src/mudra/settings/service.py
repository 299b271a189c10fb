"""Settings of where a node listens, under which addresses, and with how many processes."""

from dataclasses import dataclass

from mudra.settings import parse
from mudra.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """The addresses at which a node listens and answers."""

    # fmt: off
    host: str = setting("HOST", "127.0.0.1", parse.text, "a name or address",
        "where to listen")
    port: int = setting("PORT", 8080, parse.port, "a port 0 to 65535",
        "port to listen on")
    base_url: str = setting("BASE_URL", "", parse.url,
        "an absolute http or https URL without query",
        "public address of the token service, the issuer of its tokens; http://HOST:PORT/iam when "
        "not set", first=True)
    security_contact: tuple[str, ...] = setting("SECURITY_CONTACT", (), parse.contacts,
        "email addresses, or URIs with mailto:, tel: or https:, separated by commas",
        "contact for vulnerabilities of this installation: /.well-known/security.txt "
        "(RFC 9116) names it, and is 404 when not set", first=True)
    plain_http: bool = setting("PLAIN_HTTP", False, parse.flag, "true or false",
        "start although the public address is http on a name or address that others reach")
    workers: int = setting("WORKERS", 1, parse.whole(1, 64), "1 to 64",
        "processes that serve HTTP", first=True)
    stop_pause_s: int = setting("STOP_PAUSE_S", 5, parse.whole(0, 300), "0 to 300",
        "seconds after SIGTERM in which requests are still answered, with Connection: close and a "
        "red /readyz, so that proxies choose another node; 0 in the sandbox")
    telemetry_host: str = setting("TELEMETRY_HOST", "127.0.0.1", parse.text, "a name or address",
        "where /metrics listens")
    telemetry_port: int | None = setting("TELEMETRY_PORT", None, parse.port, "a port 0 to 65535",
        "port of the Prometheus figures at /metrics; 9464, or a free one when that is taken")
    realm_paths: tuple[str, ...] = setting("REALM_PATHS", (), parse.paths,
        "paths, separated by commas, such as /auth/realms/NAME",
        "where an earlier identity server had its realm: keys and token endpoint answer below "
        "them too, at /protocol/openid-connect/certs and /protocol/openid-connect/token")
