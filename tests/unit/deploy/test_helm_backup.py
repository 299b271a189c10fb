"""The chart's backups: what the CronJob runs makes one, and what the pod has restores it."""

import base64
import os
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import psycopg
import pytest
import yaml
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.until import PATIENCE_S
from tests.unit.deploy.charts import GUIDE, Manifest, resolved, said_of, values_of_the_guide

from mudra.storage.backup.encryption import new_identity
from mudra.storage.database.schema.roles import OWNER, SERVICE, as_role

PRIVATE, PUBLIC = new_identity()
FOLDER: Final = "/var/backups/mudra/files"


def backup_of_the_guide() -> Manifest:
    """What the guide adds to values.yaml, with a public key."""
    (text,) = (block.body for block in GUIDE if block.body.startswith("backup:"))
    found = yaml.safe_load(text.replace("age1…", PUBLIC))
    assert isinstance(found, dict)
    return {**values_of_the_guide(), **found}


def found(kind: str, *, restoring: bool = False) -> Manifest:
    """One manifest of the guide's values; `restoring` adds what its command for a restore sets."""
    values = backup_of_the_guide()
    if restoring:
        values = {**values, "replicas": 0, "backup": {**values["backup"], "pod": True}}
    said = said_of("mudra", values)
    assert (said["error"], said["invalid"]) == ("", [])
    (one,) = (
        one for one in said["manifests"]["mudra/templates/backup.yaml"] if one["kind"] == kind
    )
    assert isinstance(one, dict)
    return one


def container_of(pod: Manifest) -> Manifest:
    (container,) = pod["containers"]
    assert isinstance(container, dict)
    return container


@pytest.mark.slow
def test_the_backup_of_the_guide_is_a_cron_job() -> None:
    job, claim = found("CronJob"), found("PersistentVolumeClaim")
    said = said_of("mudra", backup_of_the_guide())
    policies = said["manifests"]["mudra/templates/network-policy.yaml"]
    (nodes,) = said["manifests"]["mudra/templates/nodes.yaml"]
    settings = container_of(nodes["spec"]["template"]["spec"])["env"]
    template = job["spec"]["jobTemplate"]["spec"]["template"]
    labels = template["metadata"]["labels"]

    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("30 */6 * * *", "Etc/UTC")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    assert job["spec"]["suspend"] is False
    assert job["spec"]["jobTemplate"]["spec"]["backoffLimit"] == 0
    assert found("CronJob", restoring=True)["spec"]["suspend"] is True
    assert claim["spec"]["resources"]["requests"] == {"storage": "50Gi"}
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert {
        "name": "backup",
        "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]},
    } in (template["spec"]["volumes"])
    (policy,) = (
        one for one in policies
        if one["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    )  # fmt: skip
    assert "ingress" not in policy["spec"]
    assert "create job --from=cronjob/" in said["notes"][0]
    # A node knows that backups are to come, and raises the alarm when none does.
    assert {"name": "MUDRA_BACKUP_RECIPIENTS", "value": PUBLIC} in settings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"enabled": True}, "backup.recipients is needed"),
        ({"enabled": True, "recipients": ["age1…"]}, "recipients"),
        ({"enabled": True, "recipients": [PRIVATE.reveal()]}, "recipients"),
        ({"schedule": "daily"}, "schedule"),
        ({"to": "/mnt"}, "to"),
        ({"only": "second"}, "only"),
    ],
)
def test_a_wrong_value_of_the_backup_is_refused(wrong: Manifest, why: str) -> None:
    assert why in said_of("mudra", {**values_of_the_guide(), "backup": wrong})["error"]


@pytest.mark.slow
def test_without_it_nothing_is_made_and_the_notes_say_so() -> None:
    said = said_of("mudra", values_of_the_guide())

    assert said["manifests"].get("mudra/templates/backup.yaml", []) == []
    assert "No backups are made" in said["notes"][0]


@pytest.mark.slow
def test_the_cron_job_makes_a_backup_that_the_pod_restores(tmp_path: Path) -> None:
    """The words and environments of both, run as they are but for directories."""
    job = container_of(found("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"])
    pod = container_of(found("Pod", restoring=True)["spec"])
    with own_postgres(tmp_path / "db") as url:
        empty = url.replace("/mudra?", "/fresh?")
        as_superuser(url, "CREATE DATABASE fresh")
        master = "1:" + base64.b64encode(secrets.token_bytes(32)).decode()
        here = environment(job["env"], of(url), tmp_path)
        admin = {"MUDRA_DATABASE_ADMIN_URL": url, "MUDRA_MASTER_KEY": master}
        prepared = run(["mudra", "database", "prepare"], here | admin)
        as_superuser(url, "INSERT INTO service_fact VALUES ('kept', 'yes')")
        files = tmp_path / "backups" / "files"
        files.mkdir(parents=True)
        for name in ("mudra-20250101T000000Z.dump.age", "mudra-young.json"):
            (files / name).touch()
        made = run(["mudra", *job["args"]], here)
        names = sorted(one.name for one in files.iterdir())

        there = environment(pod["env"], of(empty) | {"MUDRA_MASTER_KEY": master}, tmp_path)
        run(["mudra", "database", "prepare"], there | {"MUDRA_DATABASE_ADMIN_URL": empty})
        (key := tmp_path / "backup.key").write_text(PRIVATE.reveal())
        restored = run(["mudra", "restore", str(files / names[0]), "--identity", str(key)], there)
        with psycopg.connect(empty) as connection:
            kept = connection.execute(
                "SELECT value FROM service_fact WHERE name = 'kept'"
            ).fetchone()

    assert prepared.returncode == made.returncode == 0, prepared.stderr + made.stderr
    assert len(names) == 3, names
    assert re.fullmatch(r"mudra-\d{8}T\d{6}Z\.dump\.age", names[0])
    assert names[2] == "mudra-young.json"
    assert restored.returncode == 0, restored.stderr
    assert kept == ("yes",)


@pytest.mark.slow
def test_a_cron_job_verifies_the_audit_every_day_as_the_role_of_the_nodes(tmp_path: Path) -> None:
    said = said_of("mudra", values_of_the_guide())
    (job,) = said["manifests"]["mudra/templates/audit-verify.yaml"]
    template = job["spec"]["jobTemplate"]["spec"]["template"]
    container = container_of(template["spec"])
    policies = said["manifests"]["mudra/templates/network-policy.yaml"]
    with own_postgres(tmp_path / "db") as url:
        master = "1:" + base64.b64encode(secrets.token_bytes(32)).decode()
        here = environment(container["env"], of(url) | {"MUDRA_MASTER_KEY": master}, tmp_path)
        owner = {"MUDRA_DATABASE_ADMIN_URL": url, "MUDRA_DATABASE_OWNER_URL": as_role(url, OWNER)}
        run(["mudra", "database", "prepare"], here | owner)
        done = run(["mudra", *container["args"]], here)
        with psycopg.connect(url) as connection:
            kept = connection.execute(
                "SELECT value FROM service_fact WHERE name = 'audit-verified'"
            ).fetchone()

    assert job["spec"]["schedule"].split()[2:] == ["*", "*", "*"]
    assert (done.returncode, kept) == (0, ("intact",)), done.stderr
    assert not any("OWNER" in one["name"] for one in container["env"])
    assert any(
        one["spec"]["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        for one in policies
    )


@pytest.mark.slow
def test_old_backups_go_with_a_new_one_alone(tmp_path: Path) -> None:
    with own_postgres(tmp_path / "db") as url:
        away = made_by_the_job(tmp_path, url.replace("/mudra?", "/missing?"))
        made = made_by_the_job(tmp_path, url)

    assert away == (5, ["old.json"], [])
    assert made == (0, [], ["json"])


def made_by_the_job(folder: Path, url: str) -> tuple[int, list[str], list[str]]:
    """Run the job in a folder with an old backup; gives its code, and which old and new ones are there."""
    job = container_of(found("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"])
    files = folder / "backups" / "files"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    (files / "mudra-20250101T000000Z.json").touch()
    given = {"MUDRA_DATABASE_URL": url, "MUDRA_DATABASE_OWNER_URL": url}
    done = run(["mudra", *job["args"]], environment(job["env"], given, folder))
    names = [one.name.removeprefix("mudra-") for one in files.glob("*.json")]
    kept = [one.replace("20250101T000000Z", "old") for one in names if one.startswith("2025")]
    made = [one.partition(".")[2] for one in names if not one.startswith("2025")]
    return done.returncode, kept, made


def of(url: str) -> dict[str, str]:
    """The keys of both Secrets."""
    return {
        "MUDRA_DATABASE_URL": as_role(url, SERVICE),
        "MUDRA_DATABASE_OWNER_URL": as_role(url, OWNER),
    }


def environment(env: list[Manifest], given: dict[str, str], folder: Path) -> dict[str, str]:
    """What a container has, with directories below this one, and the programs of this Python."""
    variables = resolved(env, given) | {"MUDRA_DATA_DIR": str(folder / "data")}
    if "MUDRA_BACKUP_DIR" in variables:
        assert variables["MUDRA_BACKUP_DIR"] == FOLDER
        variables["MUDRA_BACKUP_DIR"] = str(folder / "backups" / "files")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, **variables, "PATH": path}


def run(words: list[str], variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words, env=variables, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
