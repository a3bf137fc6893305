# SPDX-License-Identifier: Apache-2.0
"""The hand-written stub and the compiled module name the same things."""

import ast
import re
from pathlib import Path

import afterglow
from afterglow import _core

PACKAGE = Path(afterglow.__file__).parent
STUB = ast.parse(PACKAGE.joinpath("_core.pyi").read_text())
#: Functions that look an op up, and which of their arguments is its name.
LOOKS_UP = {"operation": 0, "_operation": 0, "op": 1, "_op": 1}


def test_the_stub_names_what_the_module_has() -> None:
    named = {
        node.name
        for node in STUB.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    }
    assert named == {name for name in dir(_core) if not name.startswith("_")}


def test_the_stub_names_what_classes_have() -> None:
    for stub in STUB.body:
        kind = getattr(_core, stub.name, None) if isinstance(stub, ast.ClassDef) else None
        if kind is None:
            continue
        named = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
        named |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
        assert named <= set(dir(kind)), kind
        own = {name for name in vars(kind) if not name.startswith("__")}
        assert own <= named, kind


def _looked_up(source: str) -> set[str]:
    """Return the ops that a source asks for by name."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Subscript)):
            world = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(world, ast.Name) and world.id in ("NUMPY", "LEGACY", "WORLDS"):
                names.add(node.attr)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "_drawn" and isinstance(node.args[0], ast.Constant):
                # Of numbers, or of an array of them.
                names |= {f"random_{node.args[0].value}", f"sample_{node.args[0].value}"}
            place = LOOKS_UP.get(node.func.id)
            if place is not None and len(node.args) > place:
                name = node.args[place]
                if isinstance(name, ast.Constant):
                    names.add(name.value)
        elif isinstance(node, ast.Attribute):
            world: ast.expr = node.value
            while isinstance(world, (ast.Subscript, ast.Call)):
                world = world.value if isinstance(world, ast.Subscript) else world.func
            if isinstance(world, ast.Name) and world.id in ("NUMPY", "LEGACY", "WORLDS", "_world"):
                names.add(node.attr)
    return names


def test_a_name_in_a_text_is_no_call() -> None:
    source = 'names = ["exp"]\ndefine("sin")\nf = operation("cos", True)\ng = op(x, "tan")(x)\n'
    assert _looked_up(source) == {"cos", "tan"}
    source = "NUMPY.abs(x)\nWORLDS[x.legacy].exp\n_world(x).cbrt\nother.log(x)"
    assert _looked_up(source) == {"abs", "exp", "cbrt"}


def _composed_of(source: str) -> set[str]:
    """Return the ops that a source in C++ asks for by name."""
    return set(re.findall(r'\b(?:op_named\(|the_op<|computed<|Function<)"(\w+)"', source))


def test_every_op_is_called_by_the_front_end_or_by_another() -> None:
    asked = set().union(*(_looked_up(path.read_text()) for path in PACKAGE.rglob("*.py")))
    sources = (PACKAGE.parent / "src" / "ops").glob("*.*")
    asked |= set().union(*(_composed_of(path.read_text()) for path in sources))
    table = _core.describe_table()
    public = {name for name, one in table.items() if one["doc"]}
    assert sorted(set(table) - asked - public) == []
