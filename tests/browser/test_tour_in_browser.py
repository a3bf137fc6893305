# SPDX-License-Identifier: Apache-2.0
"""The page of the tour in a real browser: whole, without a network, at every width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import Browser, Page
from support import run_command

from afterglow.tour.chapters import CHAPTERS


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of a quick tour's page by language."""
    folder = tmp_path_factory.mktemp("tour")
    found = {}
    for language in ("en", "zh"):
        path: Path = folder / f"{language}.html"
        words = ("tour", "--quick", "--language", language, "--output", str(path))
        done = run_command(*words, timeout=240)
        assert done.returncode == 0, done.stderr
        found[language] = path.as_uri()
    return found


@pytest.fixture(params=["en", "zh"])
def page(
    browser: Browser, addresses: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[Page]:
    opened = browser.open(addresses[request.param])
    yield opened
    assert opened.errors == []
    opened.close()


def test_nothing_comes_from_a_network(page: Page) -> None:
    assert all(request.startswith("file:") for request in page.requests)


def test_every_chapter_is_there_with_its_picture(page: Page) -> None:
    assert page.evaluate("document.querySelectorAll('section h2').length") >= len(CHAPTERS)
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect())"
        ".filter(r => r.width > 0).map(r => [r.width, r.height])"
    )
    assert len(sizes) >= len(CHAPTERS)
    assert all(width > 200 and height > 40 for width, height in sizes)


@pytest.mark.parametrize("width", [380, 768, 1400, 2200])
def test_nothing_sticks_out(page: Page, width: int) -> None:
    page.resize(width, 900)
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        "[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect())"
        ".filter(r => r.width > 0 && (r.left < 0 || r.right > innerWidth)).length"
    )
    assert wide == 0


def test_dark_is_dark(page: Page) -> None:
    def brightness() -> float:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        numbers = [float(one) for one in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        return sum(numbers) / 3

    light = brightness()
    page.set_dark(True)
    page.settle()
    assert light > 200
    assert brightness() < 70
