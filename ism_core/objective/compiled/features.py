"""Sums over the features of many rows, compiled: made in the core's own cache, multiplied there, and forgotten.

Features are monomials of a row, or the cosines and sines of random features.

Importing this module imports numba; only `ism_core.objective.feature_blocks` does, for problems it pays for.
"""

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.objective.compiled.microkernel import BYTES, HIGH, VECTORS
from ism_core.objective.compiled.products import Strips, add_strips, kept, multiply, summed, up_to
from ism_core.objective.compiled.waves import cos_sin

# Of the files that this one is compiled with: numba looks at this file alone to see whether what it kept still holds.
PARTS = {
    "products": "dfe2f4ec3d952608",
    "waves": "d55e800b0b9ceb4f",
    "microkernel": "9a77677b7837f4c5",
}


@summed
def _make_monomials(
    along: Array, factors: Array, steps: Ints, first: int, count: int, room: int, values: Array
) -> None:
    """Of some rows, whose coordinates lie along, times a factor each: a row of so much room for each monomial."""
    for i in range(count):
        values[i] = factors[first + i]
    for step in range(len(steps)):
        coordinate, parent, child, last = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        times = along[coordinate, :count]
        for k in range(last - child):
            of, to = values[(parent + k) * room :][:count], values[(child + k) * room :][:count]
            for i in range(count):
                to[i] = of[i] * times[i]


@summed
def _make_waves(along: Array, frequencies: Array, count: int, room: int, values: Array) -> None:
    """The cosines of their angles in the same way, then the sines, then a one for each row."""
    waves, angles = frequencies.shape[1], np.empty(count)
    for wave in range(waves):
        cosines, sines = values[wave * room :][:count], values[(waves + wave) * room :][:count]
        angles[:] = 0
        for coordinate in range(len(frequencies)):
            frequency, times = frequencies[coordinate, wave], along[coordinate, :count]
            for i in range(count):
                angles[i] += frequency * times[i]
        cos_sin(angles, cosines, sines)
    values[2 * waves * room :][:count] = 1


@summed
def _pack(X: Array, first: int, rows: int, numbers: Array) -> None:
    """Some rows of X in strips."""
    columns, lanes = X.shape[1], BYTES // X.itemsize
    for start in range(0, columns, VECTORS * lanes):
        wide = min(VECTORS * lanes, up_to(columns - start, lanes))
        there = min(wide, columns - start)
        for i in range(rows):
            row, strip = X[first + i, start : start + there], numbers[start * rows + i * wide :][:wide]
            for j in range(there):
                strip[j] = row[j]
            for j in range(there, wide):
                strip[j] = 0


@kept
def over_features(
    gathers: bool,
    P: Array,
    factors: Array,
    steps: Ints,
    begin: int,
    frequencies: Array,
    room: int,
    X: Array,
    values: Array,
    packed: Array,
    sums: Array,
    out: Array,
) -> None:
    """Add FᵀX or FX to out, for F the features of the rows of P: waves, where there are frequencies.

    Else it is monomials from `begin` on, times a factor a row. So many rows as there is room for are taken at a time, a
    multiple of HIGH. The rest is memory: for all features of these and HIGH more, for X of these in strips or for all
    of X, and for what is added up.
    """
    rows, columns, lanes = len(P), X.shape[1], BYTES // P.itemsize
    along = np.empty((P.shape[1], room))
    count = len(out) if gathers else len(X)
    wide = up_to(columns, lanes)
    kept_values = values[begin * room :]
    if gathers:
        sums[: up_to(count, HIGH) * wide] = 0
    else:
        _pack(X, 0, count, packed)
    for first in range(0, rows, room):
        few = min(room, rows - first)
        for coordinate in range(P.shape[1]):
            for i in range(few):
                along[coordinate, i] = P[first + i, coordinate]
        if frequencies.shape[1]:
            _make_waves(along, frequencies, few, room, values)
        else:
            _make_monomials(along, factors, steps, first, few, room, values)
        if gathers:
            _pack(X, first, few, packed)
            multiply(kept_values, count, room, 1, few, Strips(packed, few, columns), 0, sums)
        else:
            sums[: up_to(few, HIGH) * wide] = 0
            multiply(kept_values, few, 1, room, count, Strips(packed, count, columns), 0, sums)
            add_strips(sums, few, lanes, out, first)
    if gathers:
        add_strips(sums, count, lanes, out, 0)
