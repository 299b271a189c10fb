"""The values of fields of messages to webhooks, with their meanings, for their reference."""

from collections.abc import Iterator

from mudra.http.openapi.field_words import of_health as health


def value_rows() -> Iterator[str]:
    """Yield a row for each value, with the meaning that the OpenAPI document gives."""
    for field, meanings in (
        ("`kind`", health.SUBJECTS),
        ("`symptoms`", health.SYMPTOMS),
        ("`state`", health.ENDINGS),
        ("`severity` of `alarms`", health.SEVERITIES),
        ("`outlook` of `levels.budget`", health.OUTLOOKS),
        ("`effect` of `status.…`", health.EFFECTS),
        ("`state` of `status.…`", health.NEWS),
        ("`kind` of `status.announcement`", health.MATTERS),
    ):
        yield from (f"| {field} | `{word}` | {meaning} |" for word, meaning in meanings.items())
    yield "| `atOnce` | IDs | this incident and those of FIPs that fell with it; most often empty |"
    yield "| `provider` | text | the gateway provider that all FIPs of `atOnce` have; else empty |"
