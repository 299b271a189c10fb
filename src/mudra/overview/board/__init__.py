"""The board of operators: what is broken, and what needs attention this week."""
