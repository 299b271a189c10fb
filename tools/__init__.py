"""Programs of the workshop: they check and document Mudra and never run inside it."""
