"""What `make demo` shows: the English–German model that ships translates, and where it looked."""

import time

import clearformer as cf
from clearformer.folder.description import shipped_names

SENTENCES = [
    "Two dogs play in the snow.",
    "Where is the train station?",
    "I would like a cup of coffee, please.",
    "My sister has lived in Hamburg for three years.",
    "The weather was so bad that we stayed at home.",
]
FURTHER = {  # further translators, where they ship, and what they are asked
    "zh-en": ("Chinese to English", ["汤姆捡起了书。", "我们想知道真相。"]),
    "en-zh": ("English to Chinese", ["Excuse me, where is the train station?", "Please remember to mail the letter."]),
}
SHADES = " ·░▒▓█"


def translations(model) -> None:
    print("English to German, on this computer, by the model that ships with the package\n")
    started = time.perf_counter()
    for sentence, found in zip(SENTENCES, model.translate(SENTENCES), strict=True):
        print(f"   {sentence:50} {found.text}")
    print(f"\n   {len(SENTENCES)} sentences in {time.perf_counter() - started:.2f} seconds")


def further_translations() -> None:
    for name, (direction, sentences) in FURTHER.items():
        if name in shipped_names():
            print(f"\n{direction}\n")
            for sentence, found in zip(sentences, cf.load(name).translate(sentences), strict=True):
                print(f"   {sentence:50} {found.text}")


def alignment(model, sentence) -> None:
    found = model.translate(sentence)[0]
    read = model.source_tokenizer.encode(sentence, add_special=False).pieces
    weights = model.align(sentence, found.ids)
    print("\nWhere it looked: one row per piece written, one column per piece read, darker is more\n")
    print(" " * 14 + "".join(f"{piece.strip()[:7]:8}" for piece in read))
    for piece, row in zip(found.tokens, weights.tolist(), strict=False):  # one more row: the end of the sentence
        cells = "".join(f"{4 * SHADES[min(5, int(6 * weight))]:8}" for weight in row[: len(read)])
        print(f"   {piece.strip():11}{cells}".rstrip())


if __name__ == "__main__":
    model = cf.load("en-de")
    translations(model)
    alignment(model, SENTENCES[0])
    further_translations()
    print('\nNext: .venv/bin/clearformer translate "Good morning!"')
    print("      .venv/bin/clearformer studio          every number behind this, in a browser")
    print("      .venv/bin/clearformer train sample    a model of your own, in a few minutes")
