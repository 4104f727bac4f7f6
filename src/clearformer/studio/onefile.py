"""Modules and styles joined into one HTML file that needs no server.

Our modules import names from one another and nothing else, so each becomes a function that returns what it exports, in
an order in which everything is there before it is asked for.
"""

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


def join_modules(folder: Path, entry: str) -> str:
    """One script that does what loading `entry` and everything that it imports would do."""
    done: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        for _, needed in IMPORT.findall(text):
            visit(needed)
        done[name] = _as_function(name, text)

    visit(entry)
    return "\n".join(done.values())


def _as_function(name: str, text: str) -> str:
    exported = ", ".join(EXPORT.findall(text))
    body = IMPORT.sub(lambda found: f"const {{{found[1]}}} = module_{found[2]};\n", text)
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    return f"const module_{name.replace('-', '_')} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def one_page(folder: Path, entry: str, data: dict[str, Any], *, title: str) -> str:
    """A page with script, styles and data inside, whose policy allows exactly these and nothing else."""
    script = join_modules(folder, entry)
    style = (folder / "studio.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data: blob:"
    # "<" never closes the element that the data stands in
    plain = json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n"
        f"<style>{style}</style></head>\n<body>\n"
        f'<script type="application/json" id="answers">{plain}</script>\n'
        f'<script type="module">{script}</script>\n</body></html>\n'
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
