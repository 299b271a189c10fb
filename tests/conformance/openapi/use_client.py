"""Uses the client that openapi-python-client generates: a token, a push, an entry, a read."""

import importlib
import json
import sys

sys.path.insert(0, sys.argv[1])
given = json.load(sys.stdin)


def of(module: str, name: str) -> object:
    """Return what the generated package has."""
    return getattr(importlib.import_module(f"mudra_client.{module}"), name)


def call(group: str, operation: str, **arguments: object) -> object:
    """Call an operation by its name in the document."""
    return importlib.import_module(f"mudra_client.api.{group}.{operation}").sync(**arguments)


client = of("client", "Client")(base_url=given["root"])
form = of("models", "EntityTokenRequest")(id=given["entityId"], secret=given["secret"])
token = call("tokens", "generate_entity_access_token", client=client, body=form)
known = of("client", "AuthenticatedClient")(base_url=given["root"], token=token.access_token)
push = of("models", "RequestMetrics").from_dict(given["push"])
pushed = call("network_metrics", "push_metrics", client=known, body=push)
entry = of("models", "Submission").from_dict(given["entry"])
kind = of("models", "SubmitEntryEntityType")("AA")
registered = call("registry", "submit_entry", client=known, entity_type=kind, body=entry)
of_fips = of("models", "ListEntriesEntityType")("FIP")
read = call("registry", "list_entries", client=known, entity_type=of_fips)
refused = call("registry", "list_entries", client=client, entity_type=of_fips)
print(
    json.dumps(
        {
            "expiresIn": token.expires_in,
            "pushed": str(pushed.status),
            "registered": registered.status,
            "read": read,
            "refused": str(refused.error_code),
        }
    )
)
