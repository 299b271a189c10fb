"""Settings of the metrics push and of alarms."""

from dataclasses import dataclass

from mudra.settings import parse
from mudra.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class HealthSettings:
    """Limits of AAs' reports, and the recipients of incidents."""

    # fmt: off
    metrics_prefixes: tuple[str, ...] = setting(
        "METRICS_PREFIXES", ("/metrics/perf/v1", "/sla-inputs/aa/v1"), parse.paths,
        "paths, separated by commas", "addresses of the metrics push")
    metrics_push_rate: parse.Rate = setting(
        "METRICS_PUSH_RATE", parse.Rate(12, 450), parse.rate, parse.RATE,
        "payloads of one AA and tag in 10 minutes, and how many at once above that, for an agent "
        "that catches up")
    metrics_push_blocks: int = setting("METRICS_PUSH_BLOCKS", 5000, parse.whole(1, 20000),
        "1 to 20000",
        "blocks in a payload, one for each FIP")
    metrics_push_unknown_fips: int = setting(
        "METRICS_PUSH_UNKNOWN_FIPS", 1000, parse.whole(0, 100000), "0 to 100000",
        "FIPs in a payload that are not in the registry; they are kept, but never published")
    webhook_networks: tuple[parse.Network, ...] = setting("WEBHOOK_NETWORKS", (), parse.networks,
        "networks in CIDR form, separated by commas",
        "private networks that webhooks may reach, besides public addresses")
    webhook_ports: tuple[int, ...] = setting("WEBHOOK_PORTS", (), parse.ports,
        "ports 1 to 65535, separated by commas",
        "ports that webhooks may have, besides 443; those of public subscriptions have 443 alone")
    health_escalation_minutes: int = setting("HEALTH_ESCALATION_MINUTES", 30, parse.whole(5, 1440),
        "5 to 1440",
        "an open incident that no one has acknowledged for so long is escalated")
    health_escalation_to: tuple[str, ...] = setting("HEALTH_ESCALATION_TO", (), parse.addresses,
        "email addresses, separated by commas",
        "who hears of incidents that no one has acknowledged; by default operators")
    health_storm_alarms: int = setting("HEALTH_STORM_ALARMS", 5, parse.whole(1, 1000), "1 to 1000",
        "more alarms than so many for one reader are a storm: one email lists them all")
    health_storm_minutes: int = setting("HEALTH_STORM_MINUTES", 10, parse.whole(1, 240), "1 to 240",
        "within how many minutes; a storm that continues has one email in each of them")
    health_feed_degraded: bool = setting("HEALTH_FEED_DEGRADED", True, parse.flag, "true or false",
        "DEGRADED in the health feed: slow or refused calls while the network's rule is kept; "
        "false for readers that know GOOD, BAD and UNSURE alone, who get UNSURE then")
    health_runbook: str = setting("HEALTH_RUNBOOK", "", parse.url,
        "an http or https URL, with {kind} in its path",
        "runbook that each incident leads to; {kind} is fip, fip-api, aa-calls, aa-api, "
        "aa-reporting, path or network")
