"""Products of packed matrices with few columns, compiled; and how compiled functions are cached.

A product C = AB is made of pieces, PIECE_ROWS rows high and up to 3 vectors wide. Each piece stays in the processor's
registers for all steps of the product, as in any BLAS (Goto and van de Geijn 2008). Unlike there, A is used as it lies
in memory, by rows or by columns: a BLAS would first copy the features. Numba's own loops over arrays reach a third of
this speed, so that the pieces are written in LLVM's intermediate representation. A solve of 20,000×54 rows by truncated
features takes 1.7 times as long without them.

Importing this module imports numba and llvmlite; only compiled code does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from ism_core.arrays import Array

F = TypeVar("F", bound=Callable[..., Any])

REORDERED = {"contract", "reassoc", "nsz"}  # floating-point rules that let sums run in vectors
PIECE_VECTORS = 3  # largest width of a piece: with 8 rows it fills the 32 registers of AVX-512, with 4 the 16 of AVX2


def cached(function: F) -> F:
    """Compile without the GIL, and cache the result on disk if numba finds a place that it can write to."""
    try:
        return cast(F, njit(nogil=True, cache=True, fastmath=REORDERED, error_model="numpy")(function))
    except RuntimeError:  # there is no such place
        return cast(F, njit(nogil=True, fastmath=REORDERED, error_model="numpy")(function))


def fast(function: F) -> F:
    """Compile for use in other compiled functions; sums may be reordered."""
    return cast(F, njit(fastmath=REORDERED, error_model="numpy")(function))


def exact(function: F) -> F:
    """Compile for use in other compiled functions; sums keep their order."""
    return cast(F, njit(fastmath={"contract"}, error_model="numpy")(function))


def _registers() -> tuple[int, int]:
    """The bytes of a vector register, and the rows of a piece that fills the registers."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 64, 8
    return (32, 4) if features.get("avx") else (16, 8 if features.get("neon") else 4)


VECTOR_BYTES, PIECE_ROWS = _registers()


def _piece(vectors: int) -> Any:
    """Return a function that adds a piece of C: the sum over `steps` of a column of A times a packed row of B.

    All numbers are doubles. Offsets and strides count numbers: A, B and C begin at `a_at`, `b_at` and `c_at`; `a_row`,
    `a_step` and `c_row` lead to the next row or step.
    """

    @intrinsic
    def piece(
        _typing: Any,
        A: Any,
        a_at: Any,
        a_row: Any,
        a_step: Any,
        B: Any,
        b_at: Any,
        steps: Any,
        C: Any,
        c_at: Any,
        c_row: Any,
    ) -> Any:
        number = A.dtype
        lanes = VECTOR_BYTES * 8 // number.bitwidth
        whole = types.intp
        signature = types.void(A, whole, whole, whole, B, whole, whole, C, whole, whole)

        def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _, a_at, a_row, a_step, _, b_at, steps, _, c_at, c_row = args
            a, b, c = (
                builder.gep(context.make_array(signature.args[i])(context, builder, args[i]).data, [at])
                for i, at in ((0, a_at), (4, b_at), (7, c_at))
            )
            index = a_at.type
            vector = ir.VectorType(context.get_value_type(number), lanes)
            before, loop, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
            rows = [builder.mul(a_row, index(i)) for i in range(PIECE_ROWS)]
            builder.branch(loop)

            builder.position_at_end(loop)
            step = builder.phi(index)
            step.add_incoming(index(0), before)
            sums = [builder.phi(vector) for _ in range(PIECE_ROWS * vectors)]
            of_b = builder.gep(b, [builder.mul(step, index(vectors * lanes))])
            right = [_loaded(builder, of_b, index(j * lanes), vector) for j in range(vectors)]
            of_a = builder.gep(a, [builder.mul(step, a_step)])
            later = []
            for i in range(PIECE_ROWS):
                left = _broadcast(builder, builder.load(builder.gep(of_a, [rows[i]])), vector)
                for j in range(vectors):
                    product = builder.fmul(left, right[j], flags=("contract",))
                    later.append(builder.fadd(product, sums[i * vectors + j], flags=("contract",)))
            for first, last in zip(sums, later, strict=True):
                first.add_incoming(ir.Constant(vector, [0.0] * lanes), before)
                first.add_incoming(last, loop)
            following = builder.add(step, index(1))
            step.add_incoming(following, loop)
            builder.cbranch(builder.icmp_signed("<", following, steps), loop, after)

            builder.position_at_end(after)
            for i in range(PIECE_ROWS):
                row = builder.gep(c, [builder.mul(c_row, index(i))])
                for j in range(vectors):
                    total = builder.fadd(later[i * vectors + j], _loaded(builder, row, index(j * lanes), vector))
                    place = builder.bitcast(builder.gep(row, [index(j * lanes)]), vector.as_pointer())
                    builder.store(total, place, align=4)
            return context.get_dummy_value()

        return signature, write

    return piece


def _loaded(builder: Any, start: Any, offset: Any, vector: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(start, [offset]), vector.as_pointer()), align=4)


def _broadcast(builder: Any, number: Any, vector: Any) -> Any:
    """A vector with one number in all lanes."""
    nothing, first = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(nothing, number, first(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(first, vector.count), [0] * vector.count))


_add_narrow: Any = _piece(1)
_add_medium: Any = _piece(2)
_add_wide: Any = _piece(3)


class Strips(NamedTuple):
    """A packed matrix of few columns: all rows of the first 3 vectors of columns, then of the next 3, and so on."""

    numbers: Array
    rows: int
    columns: int


@fast
def round_up(count: int, multiple: int) -> int:
    """Return the smallest multiple that is at least the count."""
    return (count + multiple - 1) // multiple * multiple


@fast
def add_product(
    M: Array, rows: int, row_stride: int, step_stride: int, steps: int, X: Strips, first: int, sums: Array
) -> None:
    """Add M X[first:] to sums, in strips of so many rows; with exchanged strides, add Mᵀ X[first:]."""
    lanes, height = VECTOR_BYTES // M.itemsize, round_up(rows, PIECE_ROWS)
    for start in range(0, X.columns, PIECE_VECTORS * lanes):
        width = min(PIECE_VECTORS * lanes, round_up(X.columns - start, lanes))
        x_at = start * X.rows + first * width
        for i in range(0, rows, PIECE_ROWS):
            m_at, at = i * row_stride, start * height + i * width
            if width == 3 * lanes:
                _add_wide(M, m_at, row_stride, step_stride, X.numbers, x_at, steps, sums, at, width)
            elif width == 2 * lanes:
                _add_medium(M, m_at, row_stride, step_stride, X.numbers, x_at, steps, sums, at, width)
            else:
                _add_narrow(M, m_at, row_stride, step_stride, X.numbers, x_at, steps, sums, at, width)


@fast
def add_strips(sums: Array, rows: int, lanes: int, out: Array, first: int) -> None:
    """Add sums in strips to the rows of a matrix, from a first one on."""
    columns, height = out.shape[1], round_up(rows, PIECE_ROWS)
    for start in range(0, columns, PIECE_VECTORS * lanes):
        width = min(PIECE_VECTORS * lanes, round_up(columns - start, lanes))
        for i in range(rows):
            strip, row = sums[start * height + i * width :], out[first + i, start : start + width]
            for j in range(len(row)):
                row[j] += strip[j]
