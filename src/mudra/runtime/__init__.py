"""Starting and wiring: settings, clock, logging, processes.

wiring.py is the only file that knows all rooms.
"""
