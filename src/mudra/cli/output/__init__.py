"""What commands print: facts, tables, JSON.

Never asks the service.
"""
