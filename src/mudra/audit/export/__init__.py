"""The audit as another log system gets it: the event, and up to where events were taken.

Never sends anything: `audit_export` does.
"""
