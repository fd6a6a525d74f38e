"""A kernel that only other kernels call is typed and lowered, and nothing more: its callers compile it in.

numba makes each function ready to be called from Python: two wrappers, all optimisations, machine code. Of the kernels of a
simulation 2 in 60 are called from Python. The others, *parts* of them, are inlined and optimised in each caller anyway.
Optimising each of them first took a third of the time of compiling, and the result is as fast without.

A part is recognised by its name, which ends in ``PART``. It is kept as LLVM's bitcode, without machine code.
"""

from __future__ import annotations

from typing import Any

from numba.core import environment, types
from numba.core.codegen import JITCodeLibrary

from frontrank.kernels.jit import PART

lookup_environment: Any = environment.lookup_environment
unliteral: Any = types.unliteral


class KernelLibrary(JITCodeLibrary):
    """numba's library of one compiled function; that of a part is only ever linked into others."""

    _codegen: Any

    def _optimize_final_module(self) -> None:
        if not self.name.endswith(PART):
            super()._optimize_final_module()  # type: ignore[no-untyped-call]

    def _finalize_final_module(self) -> None:
        if self.name.endswith(PART):
            self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
            self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
            self._finalized = True
            return
        super()._finalize_final_module()  # type: ignore[no-untyped-call]
        for variable in self._final_module.global_variables:
            found = lookup_environment(variable.name)  # of a part: what its exceptions are made with
            if found is not None:
                self._codegen.set_env(variable.name, found)

    def serialize_using_object_code(self) -> Any:
        if self.name.endswith(PART):
            return super().serialize_using_bitcode()  # type: ignore[no-untyped-call]
        return super().serialize_using_object_code()  # type: ignore[no-untyped-call]


def use_parts() -> None:
    """Have numba make its libraries as ``KernelLibrary``."""
    from numba.core.registry import cpu_target

    codegen: Any = cpu_target.target_context.codegen()
    codegen._library_class = KernelLibrary
    set_env = codegen.set_env

    def set_env_if_there(name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            set_env(name, environment)

    codegen.set_env = set_env_if_there


def widen_integers(dispatcher: Any) -> None:
    """Compile a part once for all widths of signed integers, and not once more for a literal such as 0."""
    compile_it = dispatcher.compile
    dispatcher.compile = lambda signature: compile_it(tuple(map(_widest, signature)))


def _widest(kind: Any) -> Any:
    kind = unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind in types.signed_domain else kind
