"""Runs jobs: load, solve, report, save."""
