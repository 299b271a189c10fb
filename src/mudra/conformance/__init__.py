"""The conformance suite: black-box checks of any implementation of the specification.

`service/` checks a network's service, `member/` checks a member's API from its registry entry,
`report/` writes JUnit XML and HTML. Each check is a value with the line that it proves. It uses
HTTP alone and never imports a part of the service, never keeps a secret, and never shows one.
"""
