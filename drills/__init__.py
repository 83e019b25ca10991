"""Drills on real processes: `chaos` injects faults, `load` measures under load, `fuzzing` and `deployment` check input
and installation, `containers` the image. Each has a target in the Makefile.
"""
