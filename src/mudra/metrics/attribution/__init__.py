"""Attribution: which FIP, AA, API or path is at fault, from the counts of one window.

Owns the statistics: baselines, likelihood ratios, sequential evidence, the
cover of that evidence by as few causes as possible, and the incidents that
causes become. `engine.evaluate_window` is the one entry. It is pure: the same
evidence in the same order gives the same state. docs/explanation/whose-fault.md
explains it.

Never reads a clock, a database or another part of Mudra, and is loaded by the
jobs process only, since it is large; pages read `causes/closing.py`, which loads none of it.
"""
