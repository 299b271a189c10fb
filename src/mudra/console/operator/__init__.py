"""What operators' pages have in common; never a rule of its own."""
