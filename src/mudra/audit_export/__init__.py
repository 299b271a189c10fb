"""Sends sealed events of the audit to an operator's log system: syslog, OTLP or a webhook.

It never decides which events go: it delivers what it is given, and says whether that arrived.
"""
