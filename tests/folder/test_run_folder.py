"""The folder of a run: one process at a time, and nothing half done after a kill."""

import subprocess
import sys

import pytest

from clearformer.folder.run_folder import RECIPE, alone_in, is_run
from clearformer.foundation import storage

HOLD = """
import sys
from pathlib import Path
from clearformer.folder.run_folder import alone_in
with alone_in(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def somebody(tmp_path):
    """A process that trains in a folder, until it is told to stop or killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "run")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "in\n"
        yield process
        process.kill()


def test_a_run_is_known_by_its_recipe(tmp_path):
    assert not is_run(tmp_path)
    assert not is_run(tmp_path / "nowhere")
    (tmp_path / RECIPE).write_text("")
    assert is_run(tmp_path)


def test_a_second_process_is_kept_out_until_the_first_has_left(tmp_path, somebody):
    refused = pytest.raises(ValueError, match=r"another process is training in .*run; wait for it, or choose another")
    with refused, alone_in(tmp_path / "run"):
        pytest.fail("two at a time")
    somebody.communicate("")
    with alone_in(tmp_path / "run"):
        pass


def test_a_killed_process_leaves_neither_a_lock_nor_halves(tmp_path, somebody):
    with storage.new_folder(tmp_path / "run" / "shards") as aside:
        storage.write_json(aside / "x.json", 1)
    (tmp_path / "run" / "shards").rename(tmp_path / "run" / ".replaced-shards")  # killed between the two renames
    (tmp_path / "run" / ".writing-model-7").mkdir()
    somebody.kill()
    somebody.wait()
    with alone_in(tmp_path / "run"):
        assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [".lock", "shards"]
        storage.verify(tmp_path / "run" / "shards")


@pytest.mark.parametrize("error", [TimeoutError("the server did not answer"), RuntimeError("no")])
def test_what_goes_wrong_inside_is_not_mistaken_for_another_process(tmp_path, error):
    """A download that takes too long has the same kind of error as a lock that is not let go."""
    with pytest.raises(type(error), match=str(error)), alone_in(tmp_path / "run"):
        raise error
    with alone_in(tmp_path / "run"):
        pass
