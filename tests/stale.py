"""A search for state that is read before a call that replaces it, and used after.

    kernel(self.frontier.queue, self._host(name))       the queue is read first, then grows, then the old one is written to
    self.host_page[self._host(name)] = page             no: what is on the left is read last. But += reads it first
    queue = self.frontier.queue; self._grow(9); f(queue)

What a function may replace is found by what it assigns, and by what the functions that it calls assign, whatever their class:
``x.m(y)`` may replace of x what any method m replaces of its self, and of y what one replaces of its second parameter. State is
what is assigned from a call that grows or rebuilds (``GROWS``): numbers and texts are often read before they change.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

Chain = tuple[str, ...]  # self.frontier.queue as ("self", "frontier", "queue")
GROWS = {"grown", "longer", "with_capacity", "enlarge", "expect", "with_own_keys", "out_for", "reserve", "_replace"}


def chain_of(node: ast.AST) -> Chain | None:
    """A name and its attributes; of a slice, which is a view, those of what it is a slice of."""
    if isinstance(node, ast.Starred) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
        node = node.value
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def modules(tree: ast.Module) -> set[str]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name for node in found for alias in node.names}


class Effects:
    """What each function may replace of what it is given."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.state = {name for tree in trees for name in _state(tree)}
        self.modules = {name for tree in trees for name in modules(tree)}
        self._known: dict[int, set[Chain]] = {}
        self.of: defaultdict[tuple[str, int], set[Chain]] = defaultdict(set)  # by name and place of the parameter
        passes: list[tuple[tuple[str, int], tuple[str, int], Chain]] = []
        for function in (one for tree in trees for one in functions(tree)):
            given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    chain = chain_of(node)
                    if chain and chain[0] in given and chain[-1] in self.state:
                        self.of[function.name, given.index(chain[0])].add(chain[1:])
                elif isinstance(node, ast.Call):
                    for callee, chain in self._passed(node):
                        if chain[0] in given:
                            passes.append(((function.name, given.index(chain[0])), callee, chain[1:]))
        read = {part for tree in trees for part in _parts_read(tree, self.state)}
        before = -1
        while before != (before := sum(map(len, self.of.values()))):
            for caller, callee, prefix in passes:
                self.of[caller] |= {prefix + path for path in self.of[callee] if prefix + path in read}

    def _passed(self, call: ast.Call) -> Iterator[tuple[tuple[str, int], Chain]]:
        """Which parameter of which function gets which chain."""
        function = call.func
        if not isinstance(function, ast.Name | ast.Attribute):
            return
        name, first = (function.id, 0) if isinstance(function, ast.Name) else (function.attr, 1)
        if isinstance(function, ast.Attribute):
            receiver = chain_of(function.value)
            if receiver and len(receiver) == 1 and receiver[0] in self.modules:
                first = 0
            elif receiver:
                yield (name, 0), receiver
        for place, argument in enumerate(call.args, first):
            if chain := chain_of(argument):
                yield (name, place), chain

    def replaced(self, node: ast.AST) -> set[Chain]:
        """What the calls in an expression may replace."""
        if id(node) not in self._known:
            found = {path for child in ast.iter_child_nodes(node) for path in self.replaced(child)}
            if isinstance(node, ast.Call):
                found |= {chain + path for callee, chain in self._passed(node) for path in self.of[callee]}
            self._known[id(node)] = found
        return self._known[id(node)]


def _state(tree: ast.Module) -> Iterator[str]:
    """Names of attributes that are assigned from a call that grows or rebuilds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            called = [one.func for one in ast.walk(node.value) if isinstance(one, ast.Call)]
            names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in called}
            if names & GROWS:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (one.attr for target in targets for one in ast.walk(target) if isinstance(one, ast.Attribute))


def _parts_read(tree: ast.Module, state: set[str]) -> Iterator[Chain]:
    """All that chains of attributes which end in state are made of: what is replaced elsewhere, nobody has read."""
    for node in ast.walk(tree):
        chain = chain_of(node) if isinstance(node, ast.Attribute) else None
        for begin in range(1, len(chain or ())):
            for end in range(begin + 1, len(chain or ()) + 1):
                if chain and chain[end - 1] in state:
                    yield chain[begin:end]


def _is_replaced(chain: Chain | None, replaced: set[Chain]) -> bool:
    return chain is not None and any(chain[: len(path)] == path for path in replaced)


def _operands(node: ast.AST) -> list[ast.AST]:
    """What an expression reads, in its order."""
    if isinstance(node, ast.Call):
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*receiver, *node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.Subscript):
        return [node.value, node.slice]
    if isinstance(node, ast.AugAssign):
        target = node.target
        return [*([target.value, target.slice] if isinstance(target, ast.Subscript) else []), node.value]
    if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
        return list(node.elts)
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else []


def stale_reads(tree: ast.Module, effects: Effects) -> list[str]:
    """Where state is read, may be replaced, and is used all the same."""
    found = {}
    for node in ast.walk(tree):
        read = _operands(node)
        for i, operand in enumerate(read[:-1]):
            chain = chain_of(operand)
            if not chain or effects.state.isdisjoint(chain[1:]):
                continue
            if any(_is_replaced(chain, effects.replaced(later)) for later in read[i + 1 :]):
                found[node.lineno] = f"line {node.lineno}: {ast.unparse(node)}"  # type: ignore[attr-defined]
    for function in functions(tree):
        found |= _stale_locals(function, effects)
    return [found[line] for line in sorted(found)]


def _stale_locals(function: ast.FunctionDef, effects: Effects) -> dict[int, str]:
    """Names bound to state, and used after a call that may replace it, as the lines stand."""
    found: dict[int, str] = {}
    bound: dict[str, Chain] = {}
    stale: dict[str, Chain] = {}
    for statement in _statements(function):
        for node in _own(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in stale:
                found[node.lineno] = f"line {node.lineno}: {node.id} is {'.'.join(stale[node.id])} of before"
        if bound:
            replaced = {path for node in _own(statement) if isinstance(node, ast.Call) for path in effects.replaced(node)}
            stale |= {name: chain for name, chain in bound.items() if _is_replaced(chain, replaced)}
        for name, value in _bindings(statement):
            bound.pop(name, None)
            stale.pop(name, None)
            chain = None if value is None else chain_of(value)
            if chain and not effects.state.isdisjoint(chain[1:]):
                bound[name] = chain
    return found


def _statements(function: ast.FunctionDef) -> list[ast.stmt]:
    return sorted((node for node in ast.walk(function) if isinstance(node, ast.stmt)), key=lambda node: node.lineno)[1:]


def _own(statement: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement, without those of the statements within it."""
    found: list[ast.AST] = []
    todo = [node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt)]
    while todo:
        node = todo.pop()
        found.append(node)
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return found


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, ast.AST | None]]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
            elif isinstance(target, ast.Tuple):
                values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [None] * len(target.elts)
                for one, value in zip(target.elts, values, strict=False):
                    if isinstance(one, ast.Name):
                        yield one.id, value
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, statement.value
