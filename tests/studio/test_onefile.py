"""Modules joined into one page."""

import re
from html.parser import HTMLParser

from clearformer.studio.app import STATIC
from clearformer.studio.onefile import join_modules, one_page


def write(folder, **modules):
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")


def test_what_is_needed_comes_first_and_once(tmp_path):
    write(
        tmp_path,
        low="export const one = 1;\n",
        middle='import { one } from "./low.js";\n\nexport function two() {\n  return one + one;\n}\n',
        top='import { one } from "./low.js";\nimport { two } from "./middle.js";\n\nconsole.log(one, two());\n',
    )
    script = join_modules(tmp_path, "top")
    assert re.findall(r"const module_(\w+)", script) == ["low", "middle", "top"]
    assert "import" not in script
    assert "export" not in script
    assert "return { two };" in script


def test_our_own_modules_can_be_joined():
    """They use no form of import or export that the joining does not know."""
    for path in STATIC.glob("*.js"):
        script = join_modules(STATIC, path.stem)
        assert not re.search(r"^(import|export)\b", script, re.MULTILINE), path.name


def test_data_cannot_close_its_element(tmp_path):
    write(tmp_path, top="console.log(1);\n")
    (tmp_path / "studio.css").write_text("")
    page = one_page(tmp_path, "top", {"text": "</script><script>alert(1)</script><!--"}, title="<b>")
    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append(tag)

    Reader().feed(page)
    assert seen.count("script") == 2
    assert "b" not in seen
