"""Incidents: detection, changes, silences.

Never decides who is notified (see notifications).
"""
