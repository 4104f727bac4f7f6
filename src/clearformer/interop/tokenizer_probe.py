"""A program of its own: open a tokenizer.json, and cut a few texts with it. `tokenizer_files` runs it first.

The library builds what the file describes, in compiled code that nobody can interrupt, and ends the whole process when
memory runs out. So a file from elsewhere is tried here, in a process with bounded memory and time, before the process
that matters opens it.

    python tokenizer_probe.py FILE BYTES SECONDS < texts, one JSON string a line
"""

import json
import sys


def main(path: str, memory: int, seconds: int) -> int:
    """Build, encode, decode. What goes wrong is said in one line on standard error."""
    import tokenizers  # before the limits: what it needs itself is not the file's fault

    bound(memory, seconds)
    try:
        engine = tokenizers.Tokenizer.from_file(path)
        for line in sys.stdin:
            engine.decode(engine.encode(json.loads(line)).ids)
    except BaseException as error:  # the library's own panics are not exceptions of the usual kind
        sys.stderr.write((str(error).splitlines() or [type(error).__name__])[0][:200] + "\n")
        return 1
    return 0


def bound(memory: int, seconds: int) -> None:
    """Take no more than this from now on. A system without such limits leaves the caller's clock as the only one."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
