# SPDX-License-Identifier: Apache-2.0
"""The page of ``afterglow reference`` in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import Browser, Page
from support import run_command

FOUND = "[...document.querySelectorAll('#found li a')].map(a => a.textContent)"
IS_IN_VIEW = (
    "(b => b.top >= 0 && b.bottom <= innerHeight)"
    "(document.getElementById('%s').querySelector('a').getBoundingClientRect())"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("reference")
    assert run_command("reference", str(folder)).returncode == 0
    return (folder / "index.html").as_uri()


def opened(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.open(address)
    yield page
    assert page.errors == []
    assert all(one.startswith(("file:", "data:", "about:")) for one in page.requests)
    page.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    yield from opened(browser, address)


def test_the_search_finds_names_and_texts(page: Page) -> None:
    page.key("/")
    page.type("one_hot")
    assert {"mx.nd.one_hot", "mx.npx.one_hot"} <= {*page.evaluate(FOUND)[:4]}
    assert page.evaluate("document.getElementById('all').hidden")
    page.evaluate("query.select()")
    page.type("softmax")
    assert page.evaluate(FOUND)[:2] == ["mx.nd.softmax", "mx.npx.softmax"]
    page.key("Escape")
    assert not page.evaluate("document.getElementById('all').hidden")
    assert page.evaluate("document.getElementById('found').hidden")
    page.type("logarithm npx")
    found = page.evaluate(FOUND)
    assert "mx.npx.log_softmax" in found
    assert all("npx" in one.lower() or "logarithm" for one in found)
    page.evaluate("query.select()")
    page.type("no such thing anywhere")
    assert page.text("#count") == "0 found"


def test_a_name_that_was_found_is_shown(page: Page) -> None:
    page.key("/")
    page.type("gluon.nn.Dense")
    page.key("Enter")
    page.wait_for("location.hash === '#mx.gluon.nn.Dense'")
    page.wait_for(IS_IN_VIEW % "mx.gluon.nn.Dense")
    assert page.evaluate("query.value") == ""


def test_addresses_lead_to_names_and_searches(browser: Browser, address: str) -> None:
    for page in opened(browser, f"{address}#mx.nd.NDArray.asnumpy"):
        page.wait_for("document.getElementById('mx.nd.NDArray.asnumpy').open")
        page.wait_for(IS_IN_VIEW % "mx.nd.NDArray.asnumpy")
    for page in opened(browser, f"{address}?q=softmax"):
        assert "mx.nd.softmax" in page.evaluate(FOUND)
