"""Our own rules: what ruff and mypy cannot know about this project.

One file per rule, each a function from a file to its faults. `python -m tools.lint`
runs them all. A rule never changes a file and has no switch to silence one line:
if the rule is wrong, change the rule and its test.
"""
