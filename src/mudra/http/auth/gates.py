"""The gates of callers: the gates of the API, of which the console shares those for people.

A gate decides alone. The API finds who calls by a token, the console by a session.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec.structs import replace

from mudra.audit.event import Caller
from mudra.http.auth.bearer import calling_entity, calling_user, verified_bearer
from mudra.http.endpoint import B, C_co, Call, Gate, Opening
from mudra.http.request.request_context import RequestContext
from mudra.http.response.http_refusals import NoAuthorization, TooManyCalls
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.operators.manage_operators import authorize_operator, operator_refused
from mudra.identity.operators.operator import Operator, Scope
from mudra.identity.operators.person_rule import ActingOperator
from mudra.metrics.notifications.webhook import Owner
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.tokens.authentication.token_check import TokenVerification


class UserCall(Call[B], frozen=True, kw_only=True):
    """A request of a signed-in user in an open transaction."""

    tx: Transaction
    user: User

    @property
    def caller(self) -> Caller:
        """The user, for the audit log."""
        return self.context.caller(f"user:{self.user.user_id}")

    @property
    def owner(self) -> Owner:
        """Return whose webhooks the caller manages: their own."""
        return Owner(user_id=self.user.user_id)


class LongOperatorCall(Call[B], frozen=True, kw_only=True):
    """A request of an operator whose right was checked; it opens the transactions itself."""

    operator: Operator

    @property
    def caller(self) -> Caller:
        """The operator, for the audit log."""
        return self.context.caller(self.operator.actor)

    @property
    def by(self) -> ActingOperator:
        """The operator, for an act on a person, which depends on all its scopes."""
        return ActingOperator(self.caller, self.operator.user_id, self.operator.scopes)


class OperatorCall(LongOperatorCall[B], frozen=True, kw_only=True):
    """An operator's request in an open transaction that has checked the operator's right."""

    tx: Transaction

    @property
    def owner(self) -> None:
        """Return whose webhooks the caller manages: all but people's own."""


class EntityCall(Call[B], frozen=True, kw_only=True):
    """A request of an entity in an open transaction."""

    tx: Transaction
    entity: EntityCaller

    @property
    def caller(self) -> Caller:
        """The entity, for the audit log."""
        return self.context.caller(f"entity:{self.entity.entity_id}")

    @property
    def owner(self) -> Owner:
        """Return whose webhooks the caller manages: its own."""
        return Owner(self.entity.entity_id)


_OF_ENTITY: Final = "Entity Access Token"
_OF_PERSON: Final = "User Access Token"


class PersonGate(Gate[C_co], frozen=True):
    """Lets people pass who are signed in; each kind lets all of them pass, or fewer."""

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Return why the person may not pass; `entity_id` is that of the address, if it has one."""
        raise NotImplementedError


class UserGate(PersonGate[UserCall[Any]], frozen=True):
    """Lets everyone pass who is signed in; without `scheme_needed` the token may come bare."""

    scheme_needed: bool = True

    @property
    def needs(self) -> str:
        """Return which token the caller presents."""
        return _OF_PERSON

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Refuse no one."""
        del user, scopes, entity_id
        return None

    @asynccontextmanager
    async def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AsyncIterator[UserCall[Any] | Refusal]:
        """Authenticate the user in the transaction of the call."""
        token = await verified_bearer(context, scheme_needed=self.scheme_needed)
        if isinstance(token, TooManyCalls):
            yield token
            return
        async with context.dependencies.transaction(within_s=opening.within_s) as tx:
            found = await calling_user(token, context, tx)
            if isinstance(found, Refusal):
                yield found
                return
            refused = self.refusal(found.user, frozenset(), entity_in_path(context))
            yield refused or UserCall(context=context, body=received, tx=tx, user=found.user)


class MemberGate(UserGate, frozen=True):
    """Lets admins pass of the entity that the address names, and its `readers`, if they may."""

    readers: bool = False

    @property
    def needs(self) -> str:
        """Return which token the caller presents."""
        who = "an admin or a reader" if self.readers else "an admin"
        return f"{_OF_PERSON} of {who} of this entity"

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Return why the person is no such admin or reader."""
        del scopes
        passes = user.sees(entity_id) if self.readers else entity_id in user.administers
        return None if passes else NotYourEntity()


class OperatorGate(PersonGate[C_co], frozen=True):
    """Lets operators pass who have the scope, or any scope where none is named."""

    scope: Scope | None

    @property
    def needs(self) -> str:
        """Return which token the caller presents."""
        scope = "any scope" if self.scope is None else f"the scope `{self.scope}`"
        return f"{_OF_PERSON} of an operator with {scope}"

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Return why the person is no such operator."""
        del user, entity_id
        return operator_refused(scopes, self.scope)

    async def _operator(
        self,
        token: TokenVerification | NoAuthorization | TooManyCalls,
        context: RequestContext,
        tx: Transaction,
    ) -> Operator | Refusal:
        if context.dependencies.owner is not None:
            return context.dependencies.owner
        found = await calling_user(token, context, tx)
        if isinstance(found, Refusal):
            return found
        caller = context.caller(f"user:{found.user.user_id}")
        return await authorize_operator(tx, found.user, self.scope, caller)


class _OneTransaction(OperatorGate[OperatorCall[Any]], frozen=True):
    """For handlers whose work is one transaction."""

    @asynccontextmanager
    async def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AsyncIterator[OperatorCall[Any] | Refusal]:
        """Check the right in the transaction of the call, or on the primary before a replica's."""
        token, dependencies = await verified_bearer(context), context.dependencies
        if isinstance(token, TooManyCalls):
            yield token
            return
        async with dependencies.transaction(within_s=opening.within_s) as tx:
            operator = await self._operator(token, context, tx)
            if isinstance(operator, Refusal):
                yield operator
                return
            call = OperatorCall[Any](context=context, body=received, tx=tx, operator=operator)
            is_on_replica = opening.reads and dependencies.has_replica
            if isinstance(received, Refusal) or not is_on_replica:
                yield call
                return
        async with dependencies.reads(within_s=opening.within_s) as tx:
            yield replace(call, tx=tx)


class _ManyTransactions(OperatorGate[LongOperatorCall[Any]], frozen=True):
    """For handlers whose work is many transactions."""

    @asynccontextmanager
    async def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AsyncIterator[LongOperatorCall[Any] | Refusal]:
        """Check the right in a transaction of its own."""
        token = await verified_bearer(context)
        if isinstance(token, TooManyCalls):
            yield token
            return
        async with context.dependencies.transaction(within_s=opening.within_s) as tx:
            operator = await self._operator(token, context, tx)
        if isinstance(operator, Refusal):
            yield operator
        else:
            yield LongOperatorCall(context=context, body=received, operator=operator)


class EntityGate(Gate[EntityCall[Any]], frozen=True):
    """Lets entities of these types pass, of any type where none is named."""

    types: tuple[EntityType, ...]

    @property
    def needs(self) -> str:
        """Return which token the caller presents."""
        kinds = " or ".join(self.types)
        return f"{_OF_ENTITY} of an entity of the type {kinds}" if kinds else _OF_ENTITY

    @asynccontextmanager
    async def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AsyncIterator[EntityCall[Any] | Refusal]:
        """Authenticate the entity before the transaction of the call."""
        entity = await calling_entity(context.request, context.dependencies, *self.types)
        for one in (entity, received):
            if isinstance(one, Refusal):
                yield one
                return
        assert isinstance(entity, EntityCaller)
        async with context.dependencies.transaction(within_s=opening.within_s) as tx:
            yield EntityCall(context=context, body=received, tx=tx, entity=entity)


SIGNED_IN: Final = UserGate()
ADMIN: Final = MemberGate()
READER: Final = MemberGate(readers=True)


def operator(scope: Scope | None = None) -> OperatorGate[OperatorCall[Any]]:
    """Admits operators with this scope, or with any scope if none is named."""
    return _OneTransaction(scope)


def operator_at_length(scope: Scope) -> OperatorGate[LongOperatorCall[Any]]:
    """Let operators pass who have the scope, to handlers whose work is many transactions."""
    return _ManyTransactions(scope)


def entity(*of_types: EntityType) -> EntityGate:
    """Admits entities of these types, or of any type if none is named."""
    return EntityGate(of_types)


def entity_in_path(context: RequestContext) -> str:
    """Return the entity that the address names; empty where it names none."""
    return str(context.request.path_params.get("entity_id", ""))
