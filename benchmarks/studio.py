"""How fast the studio responds: `python benchmarks/studio.py`, on an otherwise idle machine, with Chromium.

A real server and a real browser. It measures the seconds from the command to the first figure on the screen, the
milliseconds from a click on an attention cell to its arithmetic, and the frames while a large matrix is moved.
"""

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from playwright.sync_api import Page, sync_playwright

TEXT = "The old man who lives near the station sold his small blue boat last summer."
# Clicks once, then watches until the panel shows another weight; done in the page, where a round trip costs nothing.
CLICK = """async (number) => {
  const cells = document.querySelectorAll(".large .cell");
  const before = document.querySelector(".cell-panel");
  const started = performance.now();
  const cell = cells[number % cells.length];
  const { x, y, width, height } = cell.getBoundingClientRect();
  cell.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: x + width / 2, clientY: y + height / 2 }));
  for (;;) {
    await new Promise(requestAnimationFrame);
    const panel = document.querySelector(".cell-panel");
    const filled = panel && panel !== before && panel.querySelector("[data-value=weight] .own");
    if (filled) return performance.now() - started;
    if (performance.now() - started > 3000) return Infinity;
  }
}"""
# Moves the window over the matrix for two seconds and notes when frames were drawn.
MOVE = """async () => {
  const shown = document.querySelector(".matrix-window");
  const far = [shown.scrollWidth - shown.clientWidth, shown.scrollHeight - shown.clientHeight];
  const frames = [];
  const started = performance.now();
  for (let now = started; now - started < 2000; now = await new Promise(requestAnimationFrame)) {
    frames.push(now);
    const place = 0.5 - 0.5 * Math.cos((now - started) / 300);
    shown.scrollTo(place * far[0], place * far[1]);
  }
  return frames;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--clicks", type=int, default=60)
    # A translator searches from a sentence; models that only read take longer inputs.
    parser.add_argument("--long-model", help="whose matrix is moved (default: the same)")
    parser.add_argument("--long-text", default="dog " * 200, help="its input")
    asked = parser.parse_args()
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        started = time.perf_counter()
        with studio(asked.model) as address:
            first_figure(page, address, started)
            clicks(page, asked.clicks)
            if asked.long_model is None:
                moving(page, asked.long_text)
        if asked.long_model is not None:
            with studio(asked.long_model) as address:
                page.goto(f"{address}/#/heads")
                page.locator(".thumbnail").first.wait_for()
                moving(page, asked.long_text)
        browser.close()


@contextmanager
def studio(model: str) -> Iterator[str]:
    """The command as a user runs it; yields the address that it prints."""
    command = [sys.executable, "-m", "clearformer", "studio", "--model", model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def first_figure(page: Page, address: str, started: float) -> None:
    answered = time.perf_counter() - started
    page.goto(f"{address}/#/heads")
    page.locator(".thumbnail").first.wait_for()
    print(f"server answers after {answered:.2f} s, first figure after {time.perf_counter() - started:.2f} s")


def clicks(page: Page, count: int) -> None:
    fill(page, TEXT)
    page.locator(".thumbnail").nth(1).click()
    settled(page)
    page.locator(".large .cell").first.wait_for()
    generator = random.Random(1)
    page.locator(".large .cell").first.click()
    page.locator(".cell-panel").wait_for()
    times = [page.evaluate(CLICK, generator.randrange(10_000)) for _ in range(count)]
    print(f"click to arithmetic, {count} cells: {summary(times)} ms")


def moving(page: Page, text: str) -> None:
    fill(page, text)
    page.locator(".matrix-window").wait_for(timeout=120_000)
    settled(page)
    frames = page.evaluate(MOVE)
    gaps = [after - before for before, after in pairwise(frames)]
    late = sum(gap > 34 for gap in gaps)
    cells = page.locator(".large .matrix-window").first.get_attribute("aria-label")
    print(f"moving over {cells}: {summary(gaps)} ms per frame, {late} of {len(gaps)} took two frames or more")


def fill(page: Page, text: str) -> None:
    page.locator("textarea").fill(text)
    page.wait_for_timeout(400)
    settled(page)


def settled(page: Page) -> None:
    page.wait_for_selector("[aria-busy=true]", state="detached", timeout=120_000)


def summary(values: list[Any]) -> str:
    ordered = sorted(values)
    high = ordered[int(0.95 * (len(ordered) - 1))]
    return f"p50 {statistics.median(ordered):.0f}, p95 {high:.0f}, worst {ordered[-1]:.0f}"


if __name__ == "__main__":
    main()
