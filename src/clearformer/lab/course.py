"""The course: pages in both languages, in the order in which their table of contents names them.

They are Markdown under docs/course, where they can be read as they are; the wheel carries a copy beside this file.
A figure is named `EXPERIMENT.FIGURE.LANGUAGE.svg`, so that a page of one's own run can show one's own drawing.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clearformer.lab.bilingual import LANGUAGES, Bilingual, in_each
from clearformer.lab.noted import Noted, noted_from

CONTENTS = "README"
MEASURED = "measured.json"
FIGURE = re.compile(r"!\[([^\]]*)\]\(\.\./figures/([\w-]+)\.([\w-]+)\.(?:en|zh)\.svg\)")
PAGE_LINK = re.compile(r"\]\(([\w-]+)\.md\)")
NOT_PAGES = ("mistakes",)  # made from the ledger, which has a section of its own

Drawings = Callable[[str, str], Bilingual]  # an experiment's figure, by both names


@dataclass(frozen=True, kw_only=True)
class CoursePage:
    """One page. name: of its file, without the ending."""

    name: str
    text: Bilingual

    @property
    def figures(self) -> list[tuple[str, str]]:
        """The experiment and the figure of every drawing, as the English page has them."""
        return [(experiment, name) for _, experiment, name in FIGURE.findall(self.text.en)]

    @property
    def captions(self) -> dict[tuple[str, str], Bilingual]:
        """What stands below each drawing."""
        english, chinese = (
            {(experiment, name): caption for caption, experiment, name in FIGURE.findall(text)}
            for text in (self.text.en, self.text.zh)
        )
        return {figure: Bilingual(caption, chinese[figure]) for figure, caption in english.items()}


def course_folder() -> Path:
    """Beside this file in an installed package, under docs/ in a checkout."""
    installed = Path(__file__).parent / "course"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "docs" / "course"


@cache
def read_course() -> tuple[CoursePage, ...]:
    """All pages; the table of contents is the first."""
    contents = _page(CONTENTS)
    names = [name for name in dict.fromkeys(PAGE_LINK.findall(contents.text.en)) if name not in NOT_PAGES]
    return (contents, *(_page(name) for name in names))


def shipped_drawing(experiment: str, figure: str) -> Bilingual:
    """A figure as it was drawn when the course was made."""
    folder = course_folder() / "figures"
    return in_each(
        lambda language: (folder / f"{experiment}.{figure}.{language}.svg").read_text(encoding="utf-8").rstrip()
    )


@cache
def shipped_measurements() -> dict[str, Noted]:
    """What was measured when the course was made, by experiment."""
    kept = json.loads((course_folder() / MEASURED).read_text(encoding="utf-8"))
    return {name: noted_from(one) for name, one in kept["experiments"].items()}


def _page(name: str) -> CoursePage:
    english, chinese = ((course_folder() / one / f"{name}.md").read_text(encoding="utf-8") for one in LANGUAGES)
    return CoursePage(name=name, text=Bilingual(english, chinese))
