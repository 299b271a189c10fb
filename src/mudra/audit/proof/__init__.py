"""The proof that the audit was not changed: sealing, the second place, archives, verification.

Never records an event: `audit_log_store` does.
"""
