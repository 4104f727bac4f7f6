"""A real browser on a real server, for the tests of the pages."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from clearformer.serving.server import address_of, open_port, serve
from clearformer.studio.app import LIMITS, studio_app
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel

PAGES = ("translate", "summary", "next", "walk", "heads", "why", "tree", "training", "model", "positions", "lab")


def chromium() -> str | None:
    """Debian's Chromium, or the one that CHROMIUM names."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


NEEDS_BROWSER = pytest.mark.skipif(chromium() is None, reason="there is no Chromium here (apt-get install chromium)")
BROWSER = [NEEDS_BROWSER, pytest.mark.slow]  # what every test of a page needs


@contextmanager
def serving(shown_model: ShownModel, runs: Runs | None = None) -> Iterator[str]:
    """The studio on a free port, in a thread of this process; gives its address."""
    listener, ready = open_port(), threading.Event()
    app = studio_app(shown_model, runs or Runs([]))
    threading.Thread(
        target=serve, args=(app, listener), kwargs={"on_ready": ready.set, "limits": LIMITS}, daemon=True
    ).start()
    assert ready.wait(60)
    yield address_of(listener)
    listener.close()


def settled(page: Any) -> None:
    """Wait until nothing on the page waits for an answer any more."""
    page.wait_for_selector("h2")
    page.wait_for_selector("[aria-busy=true]", state="detached")


def choose(page: Any, *, language: str = "en", theme: str = "light") -> None:
    """What a person has chosen at an earlier visit."""
    kept = f"{{language: '{language}', theme: '{theme}'}}"
    page.add_init_script(f"localStorage.setItem('clearformer-studio', JSON.stringify({kept}))")


def shown_as(value: float) -> str:
    """What the page should write for a number of the model."""
    size = abs(value)
    if size >= 1e6 or (size != 0 and size < 0.00005):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent):+d}".replace("-", "−")
    return str(Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP)).replace("-", "−")


def passes_axe(browser: Any, address: str, ready: str, prepare: Callable[[Any], None] = lambda page: None) -> None:
    """Everybody can use a page, in both languages and themes, also on a narrow screen. ready: what it ends with."""
    from axe_playwright_python.sync_playwright import Axe

    for language, theme in (("en", "light"), ("zh", "dark")):
        context = browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)
        page = context.new_page()
        choose(page, language=language, theme=theme)
        page.goto(address)
        page.locator(ready).first.wait_for()
        settled(page)
        prepare(page)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{language} {theme}\n{found.generate_report()}"
        assert "⟦" not in page.locator("body").inner_text()
        page.set_viewport_size({"width": 320, "height": 700})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
        context.close()


def pixels_of(page: Any, selector: str, *, colours: bool = False) -> NDArray[np.uint8]:
    """What is on a canvas: Y X, the red of each pixel, or Y X 3."""
    read = """(canvas) => {
        const { width, height } = canvas;
        return [height, width, Array.from(canvas.getContext("2d").getImageData(0, 0, width, height).data)];
    }"""
    height, width, data = page.locator(selector).first.evaluate(read)
    found = np.array(data, dtype=np.uint8).reshape(height, width, 4)
    return found[..., :3] if colours else found[..., 0]
