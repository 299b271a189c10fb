"""Shared parts of the network health pages: the requested time, charts, tables, labels.

The pages are in console/pages; their data comes from the use cases of mudra.metrics. Never
reads storage and never decides between good and bad.
"""
