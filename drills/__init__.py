"""Rehearsals of bad days on real processes: `make chaos` kills and pauses them, `make load` makes them busy."""
