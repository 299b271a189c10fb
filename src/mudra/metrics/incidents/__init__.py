"""Incidents and silences, as people read and act on them.

Never decides whether an incident opens (see detection), nor who is notified (see notifications).
"""
