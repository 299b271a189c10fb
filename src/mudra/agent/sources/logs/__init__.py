"""Access logs of proxies: followed through rotation, read line by line, and what proves an answer.

Never writes to a log.
"""
