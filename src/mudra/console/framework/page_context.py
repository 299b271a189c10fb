"""A signed-in visit: what pages and their frame know of it."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import RequestContext
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member_search import MemberRow
from mudra.identity.operators.operator import Operator, Scope
from mudra.identity.operators.person_rule import ActingOperator
from mudra.identity.sessions.session import Session
from mudra.overview.suspension import Suspension
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction


class PageContext(Struct, frozen=True):
    """A signed-in visit, inside of its one transaction.

    `entity` is the member whose page this is; None on pages of operators and of
    the account. `proof_refused` is the refusal of a password or code that came with a form.
    """

    context: RequestContext
    tx: Transaction
    user: User
    scopes: frozenset[Scope]
    session: Session
    now: datetime
    entity: MemberRow | None = None
    proof_refused: Refusal | None = None
    proof_given: bool = False
    """Whether a right password or code came with this very form."""
    suspension: Suspension | None = None
    """Why the member of this page gets no tokens, if so."""
    on_replica: bool = False
    """Whether the page reads alone, and so may use a replica."""

    @property
    def dependencies(self) -> HttpDependencies:
        """Return what handlers work with."""
        return self.context.dependencies

    @property
    def member(self) -> MemberRow:
        """The member whose page this is."""
        assert self.entity is not None
        return self.entity

    @property
    def reads_only(self) -> bool:
        """Return whether they see the member's pages as a reader, who changes nothing."""
        return self.entity is not None and self.entity.entity_id not in self.user.administers

    @property
    def caller(self) -> Caller:
        """The caller for the audit: a member's admin, or an operator."""
        if self.scopes:
            return self.context.caller(Operator("", self.user.email, self.scopes).actor)
        return self.context.caller(f"user:{self.user.user_id}")

    @property
    def acting_operator(self) -> ActingOperator:
        """The operator who acts on a person."""
        return ActingOperator(self.caller, self.user.user_id, self.scopes)

    @property
    def is_proven(self) -> bool:
        """Return whether password or code was typed lately, and no wrong one came with the form."""
        recent = self.session.is_proven(self.now, self.dependencies.settings.step_up)
        return self.proof_refused is None and recent

    @property
    def query(self) -> Mapping[str, str]:
        """The query of the address; of what is repeated, the last.

        Without NUL, which no text of the database may hold.
        """
        given = self.context.request.query_params.items()
        return {name: value.replace("\0", "") for name, value in given}
