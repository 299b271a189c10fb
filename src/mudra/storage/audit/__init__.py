"""The audit log, its hash chain and its checkpoints.

Never deletes an event.
"""
