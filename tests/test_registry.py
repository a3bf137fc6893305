# SPDX-License-Identifier: Apache-2.0
"""``mx.registry`` and ``mx.log``."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx
from afterglow import log, registry


class Animal:
    def __init__(self, legs: int = 4) -> None:
        self.legs = legs


register = registry.get_register_func(Animal, "animal")
alias = registry.get_alias_func(Animal, "animal")
create = registry.get_create_func(Animal, "animal")


@register
class Dog(Animal):
    pass


@alias("bird", "hen")
class Bird(Animal):
    pass


@pytest.mark.parametrize(
    ("arguments", "kind", "legs"),
    [
        (("dog",), Dog, 4),
        (("DOG", 3), Dog, 3),
        (("Hen",), Bird, 4),
        (('["bird", {"legs": 2}]',), Bird, 2),
        (('{"animal": "dog", "legs": 1}',), Dog, 1),
        (({"animal": "dog", "legs": 5},), Dog, 5),
    ],
)
def test_create(arguments: Any, kind: type, legs: int) -> None:
    made = create(*arguments)
    assert type(made) is kind
    assert made.legs == legs


def test_other_forms() -> None:
    dog = Dog()
    assert create(dog) is dog
    assert create(animal="dog", legs=2).legs == 2
    found = registry.get_registry(Animal)
    assert found == {"dog": Dog, "bird": Bird, "hen": Bird}
    found.clear()
    assert registry.get_registry(Animal)
    with pytest.raises(AssertionError, match="not registered"):
        create("cat")
    with pytest.raises(AssertionError, match="subclass"):
        register(int)
    with pytest.raises(AssertionError, match="instance"):
        create(dog, 3)
    with pytest.warns(UserWarning, match="overriding"):
        register(type("Dog", (Animal,), {}))
    registry._registries[Animal]["dog"] = Dog


def test_log(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    logger = log.get_logger("test_log", str(path), level=mx.log.INFO)
    assert log.getLogger("test_log") is logger
    logger.info("hello %d", 3)
    logger.debug("not this")
    assert re.fullmatch(
        r"I\d{4} \d\d:\d\d:\d\d \d+ .*test_registry.py:test_log:\d+\] hello 3\n", path.read_text()
    )


@pytest.mark.parametrize("module", [log, registry])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
