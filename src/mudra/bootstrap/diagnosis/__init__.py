"""The checks of `mudra doctor` and of a node's alarms: settings, copies, certificates, room.

Never changes anything.
"""
