"""Tables of the recordings that two Debian packages have, for `transcription_speed.py` and `clearformer evaluate`.

    apt-get install pocketsphinx-testdata asterisk-core-sounds-en asterisk-core-sounds-en-wav
    python benchmarks/debian_recordings.py FOLDER
    python benchmarks/transcription_speed.py --data FOLDER/asterisk.tsv

pocketsphinx-testdata: three speakers, playing cards and a novel, 16 kHz. asterisk-core-sounds-en-wav: one speaker,
the announcements of a telephone exchange, 8 kHz; half of them are single letters and words, so those of three words or
more are a table of their own, too. Recordings without speech (tones, silence) are left out and counted.
"""

import argparse
import gzip
import re
from pathlib import Path

POCKETSPHINX = Path("/usr/share/pocketsphinx/test/data")
ASTERISK = Path("/usr/share/asterisk/sounds/en_US_f_Allison")
ANNOUNCED = Path("/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz")
PHRASE = 3  # words
Row = tuple[Path, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the tables are written")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    announced = asterisk()
    phrases = [one for one in announced if len(one[1].split()) >= PHRASE]
    for name, rows in (("pocketsphinx", pocketsphinx()), ("asterisk", announced), ("asterisk-phrases", phrases)):
        lines = ["file\ttext", *(f"{path}\t{text}" for path, text in rows)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{folder / name}.tsv: {len(rows)} recordings")


def pocketsphinx() -> list[Row]:
    """Lines such as `<s> ten of clubs </s> (001)`."""
    found = []
    for listed in (POCKETSPHINX / "cards" / "cards.transcription", POCKETSPHINX / "librivox" / "transcription"):
        for line in listed.read_text(encoding="utf-8").splitlines():
            said = re.fullmatch(r"<s>(.*)</s>\s*\((\S+)\)", line.strip())
            if said:
                found.append((listed.parent / f"{said[2]}.wav", said[1].strip()))
    return found


def asterisk() -> list[Row]:
    """Lines such as `conf-full: That conference is full.`; remarks in brackets are not spoken."""
    if not ANNOUNCED.is_file():  # containers often leave documentation out
        raise SystemExit(
            f"{ANNOUNCED} is missing, which says what is spoken: apt-get download asterisk-core-sounds-en, unpack it "
            "with dpkg -x, and copy the file there"
        )
    found, silent = [], 0
    for line in gzip.decompress(ANNOUNCED.read_bytes()).decode("utf-8").splitlines():
        name, _, said = line.partition(":")
        path, text = ASTERISK / f"{name.strip()}.wav", " ".join(re.sub(r"\[[^\]]*\]|\([^)]*\)", " ", said).split())
        if path.is_file() and re.search(r"\w", text):
            found.append((path, text))
        elif path.is_file():
            silent += 1
    print(f"{silent} recordings without speech are left out")
    return found


if __name__ == "__main__":
    main()
