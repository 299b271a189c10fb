"""Uses the client that openapi-generator makes for Python: a token, a push, an entry, a read."""

import importlib
import json
import pkgutil
import sys

sys.path.insert(0, sys.argv[1])
given = json.load(sys.stdin)
client = importlib.import_module("openapi_client")
for found in pkgutil.walk_packages(client.__path__, "openapi_client."):
    importlib.import_module(found.name)

api = client.ApiClient(client.Configuration(host=given["root"]))
try:
    client.RegistryApi(api).list_entries("AA")
except client.ApiException as error:
    refused = error.status
token = client.TokensApi(api).generate_entity_access_token(given["entityId"], given["secret"])
api.configuration.access_token = token.access_token
window = client.PushMetricsRequest.from_dict(given["push"])
pushed = client.NetworkMetricsApi(api).push_metrics(window)
entry = client.Submission.from_dict(given["entry"])
registered = client.RegistryApi(api).submit_entry("AA", entry)
read = client.RegistryApi(api).list_entries("AA")
print(
    json.dumps(
        {
            "expiresIn": token.expires_in,
            "pushed": pushed.status,
            "read": len(read),
            "refused": refused,
            "registered": registered.status,
        }
    )
)
