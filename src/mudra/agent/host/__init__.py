"""The agent's process: configuration, ingest, status, metrics.

Never counts itself (see counting).
"""
