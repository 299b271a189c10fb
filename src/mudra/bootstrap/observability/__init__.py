"""Logs and Prometheus metrics of a node.

Never holds the content of a request.
"""
