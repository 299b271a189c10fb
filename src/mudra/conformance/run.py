"""Runs checks one after the other: one program speaks, so that limits are not its own fault."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias, TypeVar

from mudra.conformance.check import Asked, Basis, Check, Expectation, Need, NoToken, Skip
from mudra.conformance.redaction import Redaction
from mudra.conformance.result import Result, Verdict

Subject = TypeVar("Subject", bound=Asked)
OnResult: TypeAlias = Callable[[Result], None]


def selected(
    checks: Sequence[Check[Subject]], only: Sequence[str], *, decisions: bool
) -> list[Check[Subject]]:
    """Return the checks of these parts (`4`, `4.4`, `D3`) or IDs (`T-4.4`), all without any."""
    return [
        one
        for one in checks
        if (decisions or one.basis is Basis.SPECIFICATION)
        and (not only or any(_is_of(one, word) for word in only))
    ]


def _is_of(check: Check[Subject], word: str) -> bool:
    return (
        check.part == word
        or f"{check.check_id}-".startswith(f"{word}-")
        or (check.part.startswith(f"{word}."))
    )


def run_checks(
    checks: Sequence[Check[Subject]],
    subject: Subject,
    given: Collection[Need],
    redaction: Redaction,
    steady: Callable[[], float],
    on_result: OnResult,
) -> list[Result]:
    """Run the checks in their order; `on_result` gets each result as it comes."""
    results: list[Result] = []
    for check in checks:
        began = steady()
        try:
            found, request = _verdict(check, subject, given)
        except NoToken as missing:
            found, request = (
                _without(missing, redaction.shown(missing.came), results),
                missing.request,
            )
        result = Result(
            check.check_id,
            check.part,
            check.title,
            check.line,
            check.basis,
            _WORDS[type(found)],
            round(steady() - began, 3),
            expected=redaction.shown(found.expected) if isinstance(found, Expectation) else "",
            came=redaction.shown(found.came) if isinstance(found, Expectation) else "",
            reason=redaction.shown(found.reason) if isinstance(found, Skip) else "",
            request=redaction.shown(request) if isinstance(found, Expectation) else "",
        )
        results.append(result)
        on_result(result)
    return results


def _without(missing: NoToken, came: str, earlier: Sequence[Result]) -> Expectation | Skip:
    """Return what a check says that could not send its request: the token's fault fails once."""
    if missing.limited:
        return Skip(f"{missing}; a limit of the implementation is reached")
    for one in earlier:
        if one.verdict is Verdict.FAILED and one.came == came:
            return Skip(f"{missing}; see {one.check_id}")
    return Expectation(holds=False, expected=f"the {missing.what}", came=missing.came)


_WORDS = {type(None): Verdict.PASSED, Expectation: Verdict.FAILED, Skip: Verdict.SKIPPED}


def _verdict(
    check: Check[Subject], subject: Subject, given: Collection[Need]
) -> tuple[Expectation | Skip | None, str]:
    """Return what did not hold, or why it was skipped, None where all held; and the request."""
    missing = [need.value for need in check.needs if need not in given]
    if missing:
        return Skip(f"needs {', '.join(missing)}"), ""
    request = ""
    try:
        for step in check.steps(subject):
            # A fact that names no answer is about the one before it.
            request = (isinstance(step, Expectation) and step.request) or request
            if isinstance(step, Skip) or not step.holds:
                return step, request or subject.asked
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # An answer of an unforeseen shape is the implementation's fault as well.
        unread = Expectation(
            holds=False,
            expected="an answer that can be read",
            came=f"an answer of another shape ({type(error).__name__})",
        )
        return unread, request or subject.asked
    return None, ""
