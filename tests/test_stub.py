# SPDX-License-Identifier: Apache-2.0
"""The hand-written stub and the compiled module name the same things."""

import ast
from pathlib import Path

import afterglow
from afterglow import _core


def test_the_stub_names_what_the_module_has() -> None:
    stub = Path(afterglow.__file__).with_name("_core.pyi").read_text()
    named = {
        node.name
        for node in ast.parse(stub).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    }
    assert named == {name for name in dir(_core) if not name.startswith("_")}


def test_every_op_has_a_spelling_in_the_front_end() -> None:
    sources = "".join(path.read_text() for path in Path(afterglow.__file__).parent.rglob("*.py"))
    missing = [name for name in _core.describe_table() if f'"{name}"' not in sources]
    assert missing == []
