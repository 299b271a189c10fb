"""Counts calls into windows and follows FI sessions.

Never touches disk or network.
"""
