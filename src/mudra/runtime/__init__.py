"""Starting and wiring: settings, clock, logging, processes.

wiring.py is the only file that knows all rooms. Never imported by an area of
business.
"""
