"""Sums over many rows, compiled by numba.

Importing a module of this room imports numba. Only `objective.pairs.load_compiled` does so, when it pays.
"""
