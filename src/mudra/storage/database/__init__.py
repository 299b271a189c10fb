"""PostgreSQL: pool, transactions, migrations, deadlines, maintenance.

Never holds a rule of an area.
"""
