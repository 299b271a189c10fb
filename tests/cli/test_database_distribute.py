"""mudra database distribute: the SQL for a cluster of databases, printed and never run."""

import json

from tests.support.documents.blocks import blocks_of
from tests.support.service import Service

from mudra.storage.metrics.apart.distribution import DISTRIBUTED, REFERENCE


def test_the_statements_share_out_each_table_by_aa_and_copy_the_small_ones(
    service: Service,
) -> None:
    found = json.loads(service.cli("database", "distribute", "--dry-run", "--json").stdout)

    assert found["formerKeys"] == []
    calls = [one for one in found["statements"] if one.startswith("SELECT create_")]
    assert calls[0] == "SELECT create_distributed_table('metrics_receipt', 'aa_id')"
    assert [one.split("'")[1] for one in calls] == [*DISTRIBUTED, *REFERENCE]
    assert sum("create_reference_table" in one for one in calls) == len(REFERENCE)


def test_without_dry_run_it_says_how_it_is_used(service: Service) -> None:
    done = service.cli("database", "distribute", check=False)

    assert done.exit_code == 2
    assert "--dry-run" in done.output


def test_what_it_prints_is_one_transaction_for_psql(service: Service) -> None:
    (command,) = [
        block.body for block in blocks_of("docs/how-to/metrics-apart.md") if ">" in block.body
    ]
    program, *words = command.partition(">")[0].split()
    assert program == "mudra"
    lines = service.cli(*words).stdout.splitlines()

    assert (lines[0], lines[-1]) == ("BEGIN;", "COMMIT;")
    assert all(line.endswith(";") for line in lines)
