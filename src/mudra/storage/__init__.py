"""PostgreSQL: implements the ports of every area.

The only room with SQL. Rows become domain values here and nowhere else, and
only database.py commits. Never decides: a port answers a question.
"""
