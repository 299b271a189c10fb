"""Examples in the help of commands, and commands in the texts of documents, are run by their words.

Of commands that differ only in what they are given one is run: a block of a document, or the
example here. What others do before it, and what a reader fills in, is in the tables.
"""

import itertools
from datetime import datetime
from pathlib import Path
from typing import Final

import pytest
from tests.docs.command_words import (
    REFERENCE,
    Like,
    examples,
    in_texts,
    like,
    lines_of,
    words_of,
)
from tests.docs.follow import Fill, follow
from tests.docs.guides import entry
from tests.docs.left_out import NOT_RUN
from tests.docs.operators_guides import agent_settings
from tests.support.documents.blocks import DOCUMENTS, Block, blocks_of
from tests.support.members import Member, new_member, onboard
from tests.support.metrics.metrics_push import pushing_aa, utc
from tests.support.people.console import reader
from tests.support.service import PASSWORD, Service
from tests.support.webhook_sink import webhook_sink

from mudra.metrics.payload.catalogue import WINDOW

ID: Final = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
FILE: Final = "1c2b3d4e-5f60-4172-8394-a5b6c7d8e9f0"
LEFT_OUT: Final = {
    "agent run": "runs until it is stopped: faults/test_agent_host.py",
    "setup": "writes below /etc: cli/test_setup.py",
    "serve": "runs until it is stopped: http/server",
    "sandbox traffic": "fills days with traffic: http/health/test_demo_traffic.py",
    "health admit": "needs a report that is held: http/health/test_held_reports.py",
    "health refuse": "needs a report that is held: http/health/test_held_reports.py",
    "report own-league": "needs a table that the operator shows: http/health/test_levels.py",
    "mail retry": "needs an email that was refused: faults/test_mail_outbox.py",
    "database moved": "needs a database that was moved: faults/test_moved_databases.py",
}


def run_in_blocks() -> set[Like]:
    """What the blocks of documents run."""
    return {
        like(words)
        for document in DOCUMENTS
        if document != REFERENCE
        for block in blocks_of(document)
        if block.kind == "sh" and block.first not in NOT_RUN.get(document, {})
        for line in lines_of(block.body)
        if (words := words_of(line))
    }


def not_in_blocks() -> list[str]:
    """Examples, then commands in texts, of which no block runs the like with as many options."""
    run, kept = run_in_blocks(), []
    for line in itertools.chain(examples(), in_texts()):
        words = words_of(line)
        assert words, line
        this = like(words)
        if this.command not in LEFT_OUT and not any(
            this.command == one.command and this.options <= one.options for one in run
        ):
            kept.append(line)
            run.add(this)
    return kept


def filled_in(service: Service, folder: Path, hook: str) -> Fill:
    """What the examples begin with: a member, an AA, and what each example is about."""
    bank, aa = new_member(service), new_member(service, "AA")
    fiu, _ = onboard(service, "FIU", email=bank.email)
    reader(service).sign_in(bank.email)
    sign_in = f"mudra login {bank.email} > /dev/null"
    names = {
        ID: "$id",
        FILE: "$file",
        "--since 2026-04-01": "--since $(date -u -d tomorrow +%F)",
        "KAVERI-FIP": bank.entity_id,
        "SAARTHI-AA": aa.entity_id,
        "FINSIGHT-FIU": fiu,
        "lakshmi@kaveribank.example": bank.email,
        "noc@": f"noc-{bank.entity_id.lower()}@",
        "age1…": "$(cat recipient)",
        "/mnt/backups": "backups",
        # It does not run: the code says so.
        "mudra agent status --json": "mudra agent status --config agent.toml --json || test $? = 1",
        # There is nothing of that time to make again, and nothing damaged to remove.
        "mudra metrics remake --aa AA-ONE --grain hour --at 2026-11-27T08:00:00Z": (
            "mudra metrics remake --aa AA-ONE --grain hour --at 2026-11-27T08:00:00Z || test $? = 1"
        ),
        "mudra metrics remove --aa AA-ONE --at 2026-11-27T08:10:00Z --tag requests": (
            "mudra metrics remove --aa AA-ONE --at 2026-11-27T08:10:00Z --tag requests || test $? = 1"
        ),
        "P7D\n": "PT0S\n",  # the others go on in the present
        "5d0c9a3e71f2b846": "$id",
        '(mudra token user)" …': '(mudra token user)" $MUDRA_BASE_URL/v1/user/token/list',
        "checkpoints FILE": "checkpoints $MUDRA_DATA_DIR/audit-checkpoints.jsonl",
        "webhook URL": f"webhook {hook}",
        "jti ID": "jti $id",
    }
    before = _before(bank.entity_id, aa, sign_in, hook, _reported(service))
    return Fill(names, before, {"agent.toml": agent_settings(service, folder)})


def _reported(service: Service) -> datetime:
    """Push a window, so that there is something to report; give its start."""
    aa = pushing_aa(service)
    start = aa.last_window()
    assert aa.push(aa.requests(start)).status_code == 200
    return start


def _before(bank: str, aa: Member, sign_in: str, hook: str, reported: datetime) -> dict[str, str]:
    """What is run ahead of an example, for what it is about to be there."""
    hooked = f"mudra alarms add-webhook {hook} > /dev/null"
    return {
        "mudra alarms remove-webhook": f"export MUDRA_PASSWORD={PASSWORD}\n{sign_in}\n{hooked}",
        "mudra alarms rotate-webhook": hooked,
        "mudra backup create --to /mnt/backups --recipient age1… --keep-days 14": (
            "mudra backup key backup.key > recipient"
        ),
        f"mudra dispute evidence {ID} {FILE} --output gateway.log": (
            f"{sign_in}\necho 200 > answers.log\n"
            f"id=$(mudra dispute raise {bank} --day $(date -u -d '4 days ago' +%F) --text 'Not ours.'"
            ' --json | of \'it["dispute"]["disputeId"]\')\n'
            "file=$(mudra dispute attach $id answers.log --json | of 'it[\"evidenceId\"]')"
        ),
        f"mudra report download {ID} --out proof.json": (
            f"id=$(mudra report make {bank} --from {utc(reported)} --to {utc(reported + WINDOW)} --json"
            " | of 'it[0][\"reportId\"]')"
        ),
        "mudra entity invite-again KAVERI-FIP ravi@kaveribank.example": (
            f"{sign_in}\nmudra entity add-admin {bank} ravi@kaveribank.example"
        ),
        "mudra entity reports SAARTHI-AA --days 7": f"mudra login {aa.email}",
        "mudra entity unfollow FINSIGHT-FIU KAVERI-FIP": sign_in,
        f"mudra health unwebhook {ID}": (
            f"mudra health webhook {hook}\nid=$(mudra health webhooks --json | of 'it[-1][\"webhookId\"]')"
        ),
        f"mudra mail show {ID}": "id=$(mudra mail list | tail -1 | cut -d' ' -f1)",
        "mudra operator end noc@network.example": "mudra operator create noc@network.example",
        "mudra password confirm < link.txt": (
            f"{sign_in}\nmudra entity add-admin {bank} {aa.email}\nlast_link {aa.email} > link.txt"
        ),
        "mudra password decline < link.txt": (
            f"{sign_in}\nmudra entity add-admin {bank} other@bank.example\n"
            "last_link other@bank.example > link.txt"
        ),
        "mudra password set --password-stdin < link-and-password.txt": (
            f"mudra operator create new-{bank.lower()}@network.example\n"
            f"{{ last_link new-{bank.lower()}@network.example; echo $MUDRA_PASSWORD; }}"
            " > link-and-password.txt"
        ),
        "mudra registry retire KAVERI-FIP --reason 'left the network'": (
            "mudra jwk new --private-key key.pem > certificate.json\n"
            f"{entry(bank)}mudra registry submit entry.json --as-operator\n"
            f"mudra registry approve {bank} --version 1"
        ),
        "mudra session end 5d0c9a3e71f2b846": (
            f"{sign_in}\nid=$(mudra session list --json | of 'it[0][\"sessionId\"]')"
        ),
        "mudra token inspect < token.jwt": f"mudra login {aa.email}\nmudra token entity {aa.entity_id} > token.jwt",
        "mudra audit list --jti ID": (
            'id=$(mudra token inspect --json < token.jwt | of \'it["claims"]["jti"]\')'
        ),
    }


@pytest.mark.slow
def test_the_commands_that_no_block_runs_are_run(sandbox: Service, tmp_path: Path) -> None:
    blocks = [Block(REFERENCE, "sh", f"{line}\n", "") for line in not_in_blocks()]

    with webhook_sink() as sink:
        follow(blocks, sandbox, tmp_path, filled_in(sandbox, tmp_path, sink.url), strict=True)
