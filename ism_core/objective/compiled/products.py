"""A product of a few rows, in registers: what numba's own loops over arrays reach a third of.

Importing this module imports numba and llvmlite; only what is compiled does. A product C = A·B is made of pieces
HIGH rows high and up to 3 vectors wide, each of which stays in the processor's registers for all steps of the product,
as in any BLAS (Goto and van de Geijn 2008). Unlike there, A is used as it lies, by rows or by columns, and B is packed
by whoever has it: a BLAS would copy both anew for every tile.
"""

from typing import Any

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

VECTORS = 3  # that a piece is wide at most: with 8 rows they fill the 32 registers of AVX-512, with 4 the 16 of AVX2


def _registers() -> tuple[int, int]:
    """The bytes of a vector register, and the rows of a piece that fills the registers there are."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 64, 8
    return (32, 4) if features.get("avx") else (16, 8 if features.get("neon") else 4)


BYTES, HIGH = _registers()


def _piece(vectors: int, adds: bool) -> Any:
    """The piece of C at c_at, so many vectors wide: Σ over the steps of a column of A times a packed row of B.

    It is added to a C of doubles, or takes the place of what is in a C of the same precision. Each `_at` is where to
    begin, in numbers; a_row and a_step lead from a row and from a step of A to the next, c_row from a row of C.
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
        lanes = BYTES * 8 // number.bitwidth
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
            rows = [builder.mul(a_row, index(i)) for i in range(HIGH)]
            builder.branch(loop)

            builder.position_at_end(loop)
            step = builder.phi(index)
            step.add_incoming(index(0), before)
            sums = [builder.phi(vector) for _ in range(HIGH * vectors)]
            of_b = builder.gep(b, [builder.mul(step, index(vectors * lanes))])
            right = [_loaded(builder, of_b, index(j * lanes), vector) for j in range(vectors)]
            of_a = builder.gep(a, [builder.mul(step, a_step)])
            later = []
            for i in range(HIGH):
                left = _repeated(builder, builder.load(builder.gep(of_a, [rows[i]])), vector)
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
            out = ir.VectorType(ir.DoubleType(), lanes) if adds else vector
            for i in range(HIGH):
                row = builder.gep(c, [builder.mul(c_row, index(i))])
                for j in range(vectors):
                    total = later[i * vectors + j]
                    if adds:
                        total = total if out == vector else builder.fpext(total, out)
                        total = builder.fadd(total, _loaded(builder, row, index(j * lanes), out))
                    place = builder.bitcast(builder.gep(row, [index(j * lanes)]), out.as_pointer())
                    builder.store(total, place, align=4)
            return context.get_dummy_value()

        return signature, write

    return piece


def _loaded(builder: Any, start: Any, offset: Any, vector: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(start, [offset]), vector.as_pointer()), align=4)


def _repeated(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of one number."""
    nothing, first = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(nothing, number, first(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(first, vector.count), [0] * vector.count))


put: Any = _piece(VECTORS, adds=False)
add_one: Any = _piece(1, adds=True)
add_two: Any = _piece(2, adds=True)
add_three: Any = _piece(3, adds=True)
