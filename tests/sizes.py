"""A function fits on a screen, a module has one reason to exist, and a call can be read: `make lint` checks the sizes.

    python -m tests.sizes              what is too large

Docstrings are not counted as lines of a function.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FUNCTION_LINES, MAX_MODULE_LINES, MAX_POSITIONAL = 40, 350, 6
Function = ast.FunctionDef | ast.AsyncFunctionDef


def oversized() -> Iterator[tuple[str, int]]:
    """What is too large, by name, and how large."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(ROOT))
        if (lines := len(text.splitlines())) > MAX_MODULE_LINES:
            yield f"{name} (lines)", lines
        for qualified, function in functions(ast.parse(text), ""):
            if (lines := lines_of(function)) > MAX_FUNCTION_LINES:
                yield f"{name}:{qualified} (lines)", lines
            if (positional := positional_of(function)) > MAX_POSITIONAL:
                yield f"{name}:{qualified} (positional parameters)", positional


def functions(node: ast.AST, inside: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            qualified = f"{inside}{child.name}"
            if isinstance(child, Function):
                yield qualified, child
            yield from functions(child, f"{qualified}.")
        else:
            yield from functions(child, inside)


def lines_of(function: Function) -> int:
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def positional_of(function: Function) -> int:
    """Parameters that can be given by position, without self. Kernels take only such: numba has no others."""
    if any(isinstance(mark, ast.Name) and mark.id in ("kernel", "lean") for mark in function.decorator_list):
        return 0
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def main() -> int:
    wrong = [f"{name}: {size}" for name, size in oversized()]
    if wrong:
        print(*wrong, sep="\n")
        limits = f"{MAX_FUNCTION_LINES} lines a function, {MAX_MODULE_LINES} a module, {MAX_POSITIONAL} positional parameters"
        print(f"too large; at most {limits}. Split it, or take what belongs together into one value.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
