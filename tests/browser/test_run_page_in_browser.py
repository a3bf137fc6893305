# SPDX-License-Identifier: Apache-2.0
"""The page of ``afterglow run --html`` in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import Browser, Page
from support import run_command

CHAPTER = """\
# A chapter

With a picture ![dot](dot.svg) and a formula $a_1$.

```python
from mxnet import nd
print("a" * 300)
nd.ones((20, 30))
```

```python
%%trace
nd.ones((300, 300)).sum().asnumpy()
```

```python
1 / 0
```
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the page of a chapter that fails in its last cell."""
    folder: Path = tmp_path_factory.mktemp("run")
    size = 'width="40" height="20"'
    (folder / "dot.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {size}/>')
    (folder / "chapter.md").write_text(CHAPTER, encoding="utf-8")
    done = run_command("run", "--html", "page.html", "chapter.md", folder=folder)
    assert done.returncode == 1, done.stderr
    return (folder / "page.html").as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    opened = browser.open(address)
    yield opened
    assert opened.errors == []
    opened.close()


def test_it_needs_nothing_else(page: Page) -> None:
    assert all(one.startswith(("file:", "data:", "about:")) for one in page.requests)
    assert page.evaluate("document.querySelector('p img').naturalWidth") == 40


def test_the_trace_of_a_cell_is_drawn(page: Page) -> None:
    page.settle()
    inner = "document.querySelector('iframe').contentDocument"
    assert page.evaluate(f"{inner}.querySelector('h1').textContent") == "Trace of cell 2"
    assert page.evaluate(f"{inner}.body.innerText.includes('MainThread')")


def test_the_head_leads_to_the_cell_that_failed(page: Page) -> None:
    page.evaluate("document.querySelector('header a').click()")
    assert page.evaluate("document.querySelector(location.hash).innerText.includes('ZeroDiv')")


@pytest.mark.parametrize("width", [380, 1400])
def test_nothing_sticks_out(page: Page, width: int) -> None:
    page.resize(width, 900)
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
