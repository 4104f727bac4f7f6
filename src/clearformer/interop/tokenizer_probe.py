"""A separate program: open a tokenizer.json and encode a few texts. `tokenizer_files` runs it first.

The library builds what the file describes, in compiled code that cannot be interrupted, and ends the whole process when
memory runs out. So a foreign file is tried here first, in a process with bounded memory and time.

    python tokenizer_probe.py FILE BYTES SECONDS < texts, one JSON string per line
"""

import json
import sys


def main(path: str, memory: int, seconds: int) -> int:
    """Build, encode, decode. What goes wrong is said in one line on standard error."""
    import tokenizers  # before the limits: what the library itself needs does not count

    bound(memory, seconds)
    try:
        engine = tokenizers.Tokenizer.from_file(path)
        for line in sys.stdin:
            engine.decode(engine.encode(json.loads(line)).ids)
    except BaseException as error:  # the library's panics are not subclasses of Exception
        sys.stderr.write((str(error).splitlines() or [type(error).__name__])[0][:200] + "\n")
        return 1
    return 0


def bound(memory: int, seconds: int) -> None:
    """Limit this process. On a system without such limits, only the caller's timeout remains."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
