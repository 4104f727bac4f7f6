"""How fast a hostile or broken checkpoint is refused, and how much memory that takes: `python benchmarks/refusals.py`.

The cases are those of tests/interop/test_hostile.py, done here to a folder of a hundred megabytes, because in the
small folder of the tests an unnecessary copy would not show. Each case has its own process, forked after all imports,
so that the refusal is measured and not Python's start.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from clearformer.interop.importer import import_checkpoint  # noqa: E402
from interop import folders  # noqa: E402
from interop.test_hostile import CASES  # noqa: E402

LARGE = {"dim": 1024, "hidden_dim": 4096, "layers": 2, "heads": 16, "max_len": 24}
CLEAR_PEAK = "5"  # for /proc/self/clear_refs: resets the peak of resident memory
MEBI = 1 << 20


def peak() -> int:
    """The most resident memory of this process since the peak was cleared."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def refuse(folder: Path, answer: "multiprocessing.Queue[tuple[str, float, int]]") -> None:
    """In the process of a case: import, and report the outcome."""
    Path("/proc/self/clear_refs").write_text(CLEAR_PEAK)
    before, started = peak(), time.perf_counter()
    try:
        import_checkpoint(folder, folder.parent / "ours")
        said = ""
    except ValueError as error:
        said = str(error)
    answer.put((said, time.perf_counter() - started, peak() - before))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="a word in the case's name")
    wanted = parser.parse_args().only or ""
    folders.SIZES.update(LARGE)
    context = multiprocessing.get_context("fork")
    worst_time = worst_memory = 0.0
    accepted = []
    print("| case | refused after | memory | of the folder's size |\n|---|---:|---:|---:|")
    for case, (spoil, _) in CASES.items():
        if wanted not in case:
            continue
        with tempfile.TemporaryDirectory() as aside:
            os.environ["BOOM"] = str(Path(aside) / "boom")
            folder = Path(aside) / "published"
            writer = context.Process(target=write, args=(folder, spoil))  # its garbage is not counted
            writer.start()
            writer.join()
            size = sum(file.stat().st_size for file in folder.rglob("*"))
            answer: multiprocessing.Queue[tuple[str, float, int]] = context.Queue()
            process = context.Process(target=refuse, args=(folder, answer))
            process.start()
            said, seconds, memory = answer.get(timeout=60)
            process.join()
            if not said or Path(os.environ["BOOM"]).exists():
                accepted.append(case)
        share = memory / size
        print(f"| {case} | {1000 * seconds:.0f} ms | {memory / MEBI:.0f} MiB | {share:.2f} |", flush=True)
        worst_time = max(worst_time, seconds)
        worst_memory = max(worst_memory, share if memory > 64 * MEBI else 0.0)
    print(
        f"\nslowest refusal: {worst_time:.2f} s; most memory where it was over 64 MiB: {worst_memory:.2f} × the folder"
    )
    if accepted:
        sys.exit(f"not refused: {', '.join(accepted)}")


def write(folder: Path, spoil: object) -> None:
    folders.bert_folder(folder)
    spoil(folder)  # type: ignore[operator]


if __name__ == "__main__":
    main()
