"""The Helm charts: Helm's own library takes them, Kubernetes' schemas too, and a node starts so."""

import base64
import contextlib
import json
import os
import re
import secrets
import subprocess
import sys
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import httpx2
import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import own_postgres
from tests.support.until import PATIENCE_S, until
from tests.unit.deploy.charts import (
    AGENT,
    GUIDE,
    HELM,
    IMAGE,
    NODES,
    VALUES,
    Manifest,
    one_of,
    pods,
    rendered,
    resolved,
    said_of,
    values_of_the_guide,
)

from mudra.agent.host.config import read_config
from mudra.bootstrap.config import OTHER_VARIABLES, REFERENCE
from mudra.server_protocol.client_address import TrustedProxies, client_address
from mudra.storage.crypto.master_key import parse_master_keys
from mudra.storage.database.schema.roles import SERVICE, as_role

MIN_FREE = 1 << 30

CHARTS: Final = ("mudra", "mudra-agent")


@pytest.mark.slow
@pytest.mark.parametrize("chart", CHARTS)
def test_helm_lints_and_renders_a_chart_that_kubernetes_takes(chart: str) -> None:
    said = said_of(chart, VALUES[chart])
    found = [one["error"] for one in said["lint"]["messages"]]

    assert (said["error"], said["invalid"]) == ("", [])
    assert (found, said["lint"]["errors"]) == (["icon is recommended"], [])
    assert len(said["manifests"]) >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chart", "wrong", "why"),
    [
        ("mudra", {"image": {"repository": "r", "digest": ""}}, "image.digest is needed"),
        ("mudra", {"image": {**IMAGE, "digest": "latest"}}, "digest"),
        ("mudra", {"baseUrl": "http://tokens.example/iam"}, "baseUrl"),
        ("mudra", {"settings": {"MUDRA_MASTER_KEY": "1:secret"}}, "MUDRA_MASTER_KEY"),
        ("mudra", {"replica": 3}, "replica"),
        ("mudra", {"databaseCa": {"secret": "s", "path": "x"}}, "path"),
        ("mudra", {"extraVolumes": [{"configMap": {"name": "x"}}]}, "name"),
        ("mudra-agent", {"aaId": ""}, "aaId is needed"),
        ("mudra-agent", {"secret": ""}, "secret"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(chart: str, wrong: Manifest, why: str) -> None:
    said = said_of(chart, {**VALUES[chart], **wrong})

    assert why in said["error"]


@pytest.mark.slow
@pytest.mark.parametrize("chart", CHARTS)
def test_a_pod_has_no_rights_that_it_does_not_need(chart: str) -> None:
    for pod in pods(chart):
        (container,) = pod["containers"]
        mounts = {
            mount["mountPath"] for mount in container["volumeMounts"] if "readOnly" not in mount
        }

        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] in {10043, 10044}
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert mounts <= {"/tmp", "/var/lib/mudra", "/var/lib/mudra-agent", "/var/backups/mudra"}
        assert container["image"] == f"registry.example/{chart}@{IMAGE['digest']}"
        assert set(container["resources"]) == {"requests", "limits"}


@pytest.mark.slow
def test_the_owners_password_reaches_the_jobs_alone() -> None:
    """A pod that copies backups away has no password at all."""
    job = one_of("mudra", "Job")
    having = {
        name: {
            one["kind"]
            for one in rendered("mudra")
            if f'"MUDRA_DATABASE_{name}"' in json.dumps(one)
        }
        for name in ("URL", "OWNER_URL", "ADMIN_URL")
    }

    assert having == {
        "URL": {"StatefulSet", "Job", "CronJob"},
        "OWNER_URL": {"Job", "CronJob"},
        "ADMIN_URL": {"Job"},
    }
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    for manifest in rendered("mudra"):
        assert manifest["kind"] != "Secret"


@pytest.mark.slow
def test_each_pod_has_the_authority_that_addresses_name() -> None:
    """All addresses of the guide check the server, and no pod has a database without the file."""
    lines = [line for block in GUIDE if block.kind == "env" for line in block.body.splitlines()]
    addresses = dict(line.split("=", 1) for line in lines if "postgresql://" in line)
    (file,) = {conninfo_to_dict(one)["sslrootcert"] for one in addresses.values()}
    folder, _, name = str(file).rpartition("/")
    having = [pod for pod in pods("mudra") if '"MUDRA_DATABASE_' in json.dumps(pod)]

    assert set(addresses) == {f"MUDRA_DATABASE_{one}URL" for one in ("", "OWNER_", "ADMIN_")}
    assert {conninfo_to_dict(one)["sslmode"] for one in addresses.values()} == {"verify-full"}
    assert len(having) == 4
    for pod in [*having, restoring()]:
        (container,) = pod["containers"]
        (mount,) = (one for one in container["volumeMounts"] if one["mountPath"] == folder)
        (volume,) = (one for one in pod["volumes"] if one["name"] == mount["name"])
        assert mount["readOnly"] is True
        assert volume["secret"]["secretName"] == "mudra-database-ca"
        assert volume["secret"]["items"] == [{"key": "ca.crt", "path": name}]


def restoring(**more: object) -> Manifest:
    """The pod that restores a backup."""
    values = {**NODES, **more, "replicas": 0, "backup": {"pod": True}}
    (pod,) = (
        one for one in said_of("mudra", values)["manifests"]["mudra/templates/backup.yaml"]
        if one["kind"] == "Pod"
    )  # fmt: skip
    found = pod["spec"]
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_files_that_settings_name_reach_the_nodes_and_a_restore_alone() -> None:
    more = {
        "databaseCa": {"secret": ""},
        "settings": {"MUDRA_MAIL_TEMPLATES": "/etc/mudra/templates"},
        "extraVolumes": [{"name": "templates", "configMap": {"name": "templates"}}],
        "extraVolumeMounts": [
            {"name": "templates", "mountPath": "/etc/mudra/templates", "readOnly": True}
        ],
    }
    said = said_of("mudra", {**NODES, **more})
    having = {
        one["kind"]
        for found in said["manifests"].values()
        for one in found
        if '"mountPath": "/etc/mudra' in json.dumps(one)
    }

    assert (said["error"], said["invalid"]) == ("", [])
    assert having == {"StatefulSet"}
    assert "/etc/mudra/templates" in json.dumps(restoring(**more)["containers"][0]["volumeMounts"])


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0, 10, 300])
def test_a_node_has_the_time_that_it_takes_to_stop(pause: int) -> None:
    said = said_of("mudra", {**NODES, "stopPauseSeconds": pause})
    (nodes,) = said["manifests"]["mudra/templates/nodes.yaml"]
    pod = nodes["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert pod["terminationGracePeriodSeconds"] == pause + 40
    assert {"name": "MUDRA_STOP_PAUSE_S", "value": str(pause)} in container["env"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "path"),
    [({}, "/readyz"), ({"MUDRA_TOKENS_WITHOUT_DATABASE_S": "0"}, "/readyz"),
     ({"MUDRA_TOKENS_WITHOUT_DATABASE_S": "60"}, "/livez")],
)  # fmt: skip
def test_tokens_without_a_database_are_not_kept_from_callers(settings: Manifest, path: str) -> None:
    said = said_of("mudra", {**NODES, "settings": settings})
    (nodes,) = said["manifests"]["mudra/templates/nodes.yaml"]
    (container,) = nodes["spec"]["template"]["spec"]["containers"]

    assert container["readinessProbe"]["httpGet"]["path"] == path
    assert container["startupProbe"]["httpGet"]["path"] == "/livez"


@pytest.mark.slow
def test_the_rules_are_those_that_are_tested() -> None:
    """But for the address of the runbooks, which is the service's own."""
    text = Path("deploy/prometheus/mudra.rules.yml").read_text()
    base = "https://iam.of-this-network.example:8443/iam"
    said = said_of("mudra", {**NODES, "baseUrl": base})["manifests"][
        "mudra/templates/monitoring.yaml"
    ]
    (elsewhere,) = (one["spec"] for one in said if one["kind"] == "PrometheusRule")
    monitor, nodes = one_of("mudra", "ServiceMonitor"), one_of("mudra", "StatefulSet")

    own = text.replace("https://tokens.network.example", base.removesuffix("/iam"))
    assert text.count("https://tokens.network.example/docs/operations/runbooks/") >= 19
    assert elsewhere == yaml.safe_load(own)
    assert one_of("mudra", "PrometheusRule")["spec"] == yaml.safe_load(text)
    # The rules name the job, which is this label.
    assert nodes["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "mudra"


@pytest.mark.slow
def test_who_collects_the_agents_metrics_reaches_it() -> None:
    peers = [peer for rule in ingress_of(AGENT) for peer in rule["from"]]
    alone = [
        peer for rule in ingress_of({**AGENT, "serviceMonitor": {"enabled": False}})
        for peer in rule["from"]
    ]  # fmt: skip

    monitoring = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}
    }
    assert peers == [{"podSelector": {}}, monitoring]
    assert alone == [{"podSelector": {}}]


def ingress_of(values: Manifest) -> list[Manifest]:
    """Whom the policy of the agent lets in, all at its one port."""
    said = said_of("mudra-agent", values)
    (policy,) = said["manifests"]["mudra-agent/templates/network-policy.yaml"]
    found = policy["spec"]["ingress"]
    assert {port["port"] for rule in found for port in rule["ports"]} == {"http"}
    assert isinstance(found, list)
    return found


@pytest.mark.slow
def test_the_agent_takes_the_configuration_of_the_chart(tmp_path: Path) -> None:
    text = one_of("mudra-agent", "ConfigMap")["data"]["agent.toml"]
    service = one_of("mudra-agent", "Service")["metadata"]["name"]
    (pod,) = pods("mudra-agent")
    (container,) = pod["containers"]
    (tmp_path / "agent.toml").write_text(text)
    config = read_config(tmp_path / "agent.toml")

    assert service in config.http.hosts
    assert config.fips == {"fip.example": "FIP-1"}
    mounts = {one["mountPath"] for one in container["volumeMounts"]}
    assert {"/var/lib/mudra-agent", "/etc/mudra/secret", "/etc/mudra/agent.toml"} <= mounts
    assert str(config.directory).startswith("/var/lib/mudra-agent/")
    assert config.credentials.dpop_key.startswith(f"{config.directory}/")


@pytest.mark.slow
def test_a_node_starts_with_what_the_chart_gives_it(tmp_path: Path) -> None:
    """The rendered words and environment, run as they are but for addresses and directories."""
    pod = one_of("mudra", "StatefulSet")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    ports = {one["name"]: free_port() for one in container["ports"]}
    with own_postgres(tmp_path / "db") as url:
        given = {
            "MUDRA_DATABASE_URL": as_role(url, SERVICE),
            "MUDRA_MASTER_KEY": "1:" + base64.b64encode(secrets.token_bytes(32)).decode(),
        }
        environment = {**os.environ, **resolved(container["env"], given)} | {
            "MUDRA_DATA_DIR": str(tmp_path / "node"),
            "MUDRA_HOST": "127.0.0.1",
            "MUDRA_PORT": str(ports["http"]),
            "MUDRA_TELEMETRY_HOST": "127.0.0.1",
            "MUDRA_TELEMETRY_PORT": str(ports["metrics"]),
            "MUDRA_STOP_PAUSE_S": "0",
        }
        command = [str(Path(sys.executable).with_name("mudra")), *container["args"]]
        log = (tmp_path / "log").open("w")
        node = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                asked = container[probe]["httpGet"]
                address = f"http://127.0.0.1:{ports[asked['port']]}{asked['path']}"
                # A probe names the pod by its address.
                until(partial(answers, address))
            (endpoint,) = one_of("mudra", "ServiceMonitor")["spec"]["endpoints"]
            figures = f"http://127.0.0.1:{ports[endpoint['port']]}{endpoint['path']}"
            until(partial(answers, figures))
        finally:
            node.terminate()
            code = node.wait(PATIENCE_S)
            log.close()
        assert code == 0, (tmp_path / "log").read_text()


def answers(address: str) -> bool:
    with contextlib.suppress(httpx2.TransportError):
        return httpx2.get(address, headers={"Host": "10.1.2.3:8080"}).status_code == 200
    return False


def test_the_guide_puts_no_secret_on_a_command_line(tmp_path: Path) -> None:
    """Its commands, with a kubectl that writes down its words and what it reads."""
    program = tmp_path / "kubectl"
    program.write_text('#!/bin/sh\necho "$@" >> words\ncat "${5#--from-env-file=}" > "$4"\n')
    program.chmod(0o755)
    commands = [block.body for block in GUIDE if "--from-env-file" in block.body]
    for command in commands:
        subprocess.run(
            ["sh", "-ec", command], cwd=tmp_path, input="NAME=typed\n", text=True, check=True,
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, timeout=PATIENCE_S,
        )  # fmt: skip
    words = (tmp_path / "words").read_text().splitlines()
    key, typed = (tmp_path / "mudra").read_text().splitlines()

    assert words == [
        f"create secret generic {name} --from-env-file=/dev/stdin"
        for name in ("mudra", "mudra-owner", "mudra-agent")
    ]
    name, _, value = key.partition("=")
    assert (name, typed) == ("MUDRA_MASTER_KEY", "NAME=typed")
    assert list(parse_master_keys(value, "the line").keys) == [1]
    assert not any("--from-literal" in block.body for block in GUIDE)


def test_no_pod_but_the_ingress_chooses_its_address() -> None:
    """What the guide and the values show: a pod, and a member on a private line, stay who they are."""
    values = values_of_the_guide()
    network = values["settings"]["MUDRA_TRUSTED_PROXIES"]
    trusted = ip_network(network)
    ingress, pod = str(trusted[9]), "10.244.9.8"

    def seen(peer: str, forwarded: bytes) -> str:
        return client_address(peer, [(b"x-forwarded-for", forwarded)], TrustedProxies((trusted,)))

    assert trusted.prefixlen >= 24
    assert seen(ingress, b"6.6.6.6, 203.0.113.7") == "203.0.113.7"
    assert seen(ingress, b"6.6.6.6, 10.1.2.3") == "10.1.2.3"
    assert seen(pod, b"6.6.6.6") == pod
    (peer,) = values["networkPolicy"]["clients"]
    assert peer["namespaceSelector"]["matchLabels"].keys() == {"kubernetes.io/metadata.name"}
    shown = (HELM / "mudra" / "values.yaml").read_text()
    assert re.findall(r"MUDRA_TRUSTED_PROXIES: (\S+)", shown) == [network]


def test_the_volume_of_a_node_has_twice_the_room_below_which_it_pages() -> None:
    rules = Path("deploy/prometheus/mudra.rules.yml").read_text()
    paged = re.findall(r"mudra_disk_free_bytes < 2 \^ (\d+)", rules)
    values = yaml.safe_load((HELM / "mudra" / "values.yaml").read_text())
    gibibytes = re.fullmatch(r"(\d+)Gi", values["storage"]["size"])

    assert [1 << int(power) for power in paged] == [MIN_FREE]
    assert gibibytes is not None
    assert int(gibibytes[1]) << 30 >= 2 * MIN_FREE


def test_the_templates_set_only_settings_that_there_are() -> None:
    known = {setting.env for setting in REFERENCE.values()} | OTHER_VARIABLES
    text = (
        "\n".join(path.read_text() for path in HELM.rglob("*.yaml"))
        + (HELM / "mudra" / "values.schema.json").read_text()
    )

    assert set(re.findall(r"\bMUDRA_[A-Z0-9_]+\b", text)) - known == set()


def test_no_setting_that_holds_a_secret_can_be_a_value() -> None:
    schema = json.loads((HELM / "mudra" / "values.schema.json").read_text())
    refused = set(schema["properties"]["settings"]["propertyNames"]["not"]["enum"])
    secret = {setting.env for setting in REFERENCE.values() if setting.secret} | {
        "MUDRA_MASTER_KEY",
        "MUDRA_PASSWORD",
    }

    assert secret - refused == set()
    assert len(secret) >= 8
