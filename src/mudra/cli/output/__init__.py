"""The output of commands: facts, tables, JSON.

Never asks the service.
"""
