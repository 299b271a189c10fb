"""PostgreSQL: transactions, all tables, caches of a node, encryption, backup.

Only database.py commits. Never knows an area, but for the metrics: their stores are still here,
and migrations convert those of earlier releases.
"""
