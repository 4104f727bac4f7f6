"""Files in memory: exactly those of the folder, whatever the request's path looks like."""

import pytest
from starlette.requests import Request

from clearformer.serving.assets import Assets


@pytest.fixture
def assets(tmp_path):
    folder = tmp_path / "static"
    (folder / "sub").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "sub" / "page.js").write_text("export {}")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return Assets(folder)


def ask(assets, path, **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return assets.answer(
        Request({"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": pairs})
    )


def test_files_are_served_with_their_kind(assets):
    assert ask(assets, "/").body == b"<!doctype html>"
    assert ask(assets, "/sub/page.js").headers["content-type"].startswith("text/javascript")
    assert assets.size() == len("<!doctype html>") + len("export {}")


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/sub/../../secret.txt", "/%2e%2e/secret.txt", "//secret.txt", "/link.txt", "/sub",
     "/etc/passwd", "/..\\secret.txt", "/\x00", "secret.txt"],
)  # fmt: skip
def test_nothing_else_is(assets, path):
    assert ask(assets, path) is None


def test_what_has_not_changed_is_not_sent_again(assets):
    tag = ask(assets, "/").headers["etag"]
    again = ask(assets, "/", if_none_match=tag)
    assert (again.status_code, again.body) == (304, b"")
