"""mudra member: onboard members and list them."""

from datetime import timedelta
from typing import Annotated

import typer

from mudra.audit.event import Caller
from mudra.cli.commands.network import member_bulk, member_file
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.memberships.member import Member, MemberStatus
from mudra.identity.memberships.member_status import set_member_status
from mudra.identity.memberships.onboard import (
    MemberDiffers,
    NewMember,
    Onboarded,
    OnboardResult,
    onboard_member,
)
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.person_rule import owner
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal, ValueRefused
from mudra.tokens.ports import DayCount

_MAX_REASON = 200
_OPTIONS = {"entityId": "ENTITY_ID", "adminEmail": "admin", "adminName": "admin-name"}
"""Fields of a new member as this command calls them."""
app = typer.Typer(no_args_is_help=True)
member_file.add_commands(app)
member_bulk.add_commands(app)


@app.command(
    epilog="Example: mudra member onboard KAVERI-FIP --type FIP --name 'Kaveri Bank' "
    "--admin lakshmi@kaveribank.example"
)
def onboard(
    entity_id: Annotated[str, typer.Argument(help="ID issued by the registry, such as HDFC-FIP.")],
    type: Annotated[EntityType, typer.Option(help="What the member is.")],  # noqa: A002
    name: Annotated[str, typer.Option(help="Name of the entity, for people.")],
    admin: Annotated[str, typer.Option(help="Email address of its designated admin.")],
    admin_name: Annotated[str, typer.Option(help="The admin's name.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Onboard a member: create its first secret and invite its admin by email.

    Repeating it changes nothing. An ID that belongs to a member of another type,
    name or admin is refused.
    """
    new = NewMember(entity_id, type.value, name, admin, admin_name)

    async def run(dependencies: Dependencies) -> OnboardResult:
        async with dependencies.unit_of_work() as work:
            return await onboard_member(work, new, owner(Caller(operator_name())))

    result = with_store(run, data_dir)
    match result:
        case ValueRefused():
            fail(f"{_OPTIONS.get(result.field, result.field)} {result.problem}", Exit.USAGE)
        case MemberDiffers():
            fail(_differs(result))
        case WrongAccountKind() | ScopeMissing():
            fail(result.sentence)
    _show(result, as_json=as_json)


EntityId = Annotated[str, typer.Argument(help="The entity's ID.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit: 1 to 200 characters.")]


@app.command(epilog="Example: mudra member suspend KAVERI-FIP --reason 'secret leaked, INC-1042'")
def suspend(
    entity_id: EntityId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Stop giving an entity tokens, until it is restored."""
    _set_status(entity_id, MemberStatus.SUSPENDED, reason, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra member restore KAVERI-FIP --reason 'new secret is in use'")
def restore(
    entity_id: EntityId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Give a suspended entity tokens again."""
    _set_status(entity_id, MemberStatus.ACTIVE, reason, data_dir, as_json=as_json)


@app.command(epilog="Example: mudra member retire KAVERI-FIP --reason 'merged into DECCAN-FIP'")
def retire(
    entity_id: EntityId, reason: Reason, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """End an entity's membership for good: its ID is never active again.

    Its registry entry stays in the directory until `mudra registry retire`.
    """
    _set_status(entity_id, MemberStatus.RETIRED, reason, data_dir, as_json=as_json)


@app.command("list", epilog="Example: mudra member list --json")
def list_members(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the members."""

    async def run(dependencies: Dependencies) -> list[Member]:
        async with dependencies.unit_of_work() as work:
            return list(await work.people.members())

    members = with_store(run, data_dir)
    if as_json:
        show_json([_document(member) for member in members])
        return
    show_table(
        ["ENTITY", "TYPE", "NAME", "STATUS", "ADMINS"],
        [[m.entity_id, m.entity_type, m.name, m.status, ", ".join(m.admins)] for m in members],
    )


def _set_status(
    entity_id: str, status: MemberStatus, reason: str, data_dir: DataDir, *, as_json: bool
) -> None:
    if not 1 <= len(reason) <= _MAX_REASON:
        fail(f"--reason must have 1 to {_MAX_REASON} characters", Exit.USAGE)

    async def run(dependencies: Dependencies) -> MemberStatus | Refusal:
        async with dependencies.unit_of_work() as work:
            by = owner(Caller(operator_name()))
            return await set_member_status(work, entity_id, status, reason, by)

    outcome = with_store(run, data_dir)
    if isinstance(outcome, Refusal):
        fail(outcome.sentence)
    facts = {"entity": entity_id, "status": outcome.value}
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)


def _differs(result: MemberDiffers) -> str:
    existing = result.existing
    return (
        f"{existing.entity_id} is already onboarded with another {result.field}: "
        f"{existing.entity_type} '{existing.name}', admins {', '.join(existing.admins)}. "
        "Nothing was changed"
    )


@app.command(epilog="Example: mudra member tokens FINSIGHT-FIU --json")
def tokens(
    entity_id: Annotated[str, typer.Argument(help="ID of the member.")],
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to show.")] = 90,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Count the Entity Access Tokens issued to a member, by day (UTC)."""

    async def run(dependencies: Dependencies) -> list[DayCount]:
        async with dependencies.unit_of_work() as work:
            since = (await work.people.now()).date() - timedelta(days=days - 1)
            return list(await work.token_counts.by_day(entity_id, since))

    rows = with_store(run, data_dir)
    if as_json:
        show_json([{"day": row.day.isoformat(), "count": row.count} for row in rows])
    else:
        show_table(["DAY", "TOKENS"], [[row.day.isoformat(), str(row.count)] for row in rows])


def _show(result: Onboarded, *, as_json: bool) -> None:
    status = "onboarded" if result.created else "unchanged"
    if as_json:
        show_json(_document(result.member) | {"result": status, "invited": result.invited})
        return
    invitation = f"sent to {result.admin.email}" if result.invited else "none needed"
    show_facts(
        {
            "entity": result.member.entity_id,
            "type": result.member.entity_type,
            "name": result.member.name,
            "result": status,
            "invitation": invitation,
        }
    )


def _document(member: Member) -> dict[str, object]:
    return {
        "entityId": member.entity_id,
        "type": member.entity_type,
        "name": member.name,
        "status": member.status,
        "admins": list(member.admins),
    }
