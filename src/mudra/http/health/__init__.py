"""The metrics push, health queries, incidents and feeds.

Never adds up counts itself (see mudra.metrics).
"""
