"""Coverage-guided fuzzing of what reads bytes of strangers (quality I7): `make fuzz`."""
