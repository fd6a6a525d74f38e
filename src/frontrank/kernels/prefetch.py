"""prefetch: ask the processor for memory that will be needed soon, without waiting for it.

A crawl by priority jumps about in memory, and each jump depends on the one before: fetch a page, look up its links, look up
their targets. But the next pages are nearly always known, as they are at the top of the queue. Interpreted, it does nothing.
"""

from __future__ import annotations

from typing import Any

from frontrank.kernels.jit import Array, lean, machine_code


def _intrinsic() -> Any:
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def ask(typingctx: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            # By address: an element that lies beyond the end is asked for in vain, and does no harm.
            stride = builder.extract_value(array.strides, 0)
            offset = builder.mul(context.cast(builder, args[1], signature.args[1], types.intp), stride)
            address = builder.gep(builder.bitcast(array.data, byte), [offset])
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
            builder.call(function, [address, number(0), number(3), number(1)])  # to read, to be kept, data
            return context.get_dummy_value()

        return types.void(array, at), generate

    return ask


@machine_code(_intrinsic)
@lean
def prefetch(array: Array, at: int) -> None:
    """Element ``at`` will be read soon, if there is one."""
