"""Coverage-guided fuzzing of what reads bytes of strangers: `make fuzz`."""
