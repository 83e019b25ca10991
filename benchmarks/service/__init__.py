"""Benchmarks of the running service: `python -m benchmarks.service`.

`local.py` starts it and looks at its processes; `jobs.py` follows jobs from POST to result.
"""
