"""A hook of schemathesis: valid bodies without members that the document does not name.

They are ignored, as decisions.md part 3 wants, but must still be strict JSON
(no floats, no huge numbers), which no schema can say of what it does not name.
"""

import schemathesis


@schemathesis.hook
def map_case(context: schemathesis.HookContext, case: schemathesis.Case) -> schemathesis.Case:
    """Drop what is not named."""
    if isinstance(case.body, dict):
        named = {
            name for body in case.operation.body for name in body.definition["schema"]["properties"]
        }
        case.body = {
            # JSON Schema takes 7.0 for a whole number; on the wire it is a float.
            name: int(value) if isinstance(value, float) else value
            for name, value in case.body.items()
            if name in named
        }
    return case
