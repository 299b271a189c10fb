"""Detection: the evaluation of closed windows, and what it finds changed in the incidents.

Never decides who is notified (see notifications).
"""
