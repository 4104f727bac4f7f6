"""Whether what a model writes under random JSON schemas is valid: `python benchmarks/constrained_schemas.py`.

Every schema is drawn by chance from its number; the model draws at a temperature of 1 after a prompt that has nothing
to do with it, so nothing but the form keeps it in order. The text is judged by the `jsonschema` package where it is
installed, and always by the tests' own checker. A schema that no text of this length fits must be refused before the
first token.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from random import Random

from clearformer.folder import bundle
from clearformer.folder.description import find_model
from clearformer.inference.text_generator import TextGenerator

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.random_schemas import fits, random_schema

PROMPT = "Once upon a time there was a table of numbers and words.\n"


def verdict(generator: TextGenerator, number: int, max_new: int, checkers: list) -> str:
    """What became of one schema."""
    schema = random_schema(Random(number))
    try:
        text = generator.generate(PROMPT, schema=schema, max_new=max_new, temperature=1.0, seed=number)
    except ValueError as error:
        return "refused: " + ("no room" if "token" in str(error) else str(error)[:60])
    try:
        value = json.loads(text)
    except ValueError:
        return f"WRONG: no JSON for schema {number}"
    wrong = [name for name, check in checkers if not check(value, schema)]
    return f"WRONG by {', '.join(wrong)}: schema {number}" if wrong else "valid"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--schemas", type=int, default=300, help="valid texts to reach (300)")
    parser.add_argument("--max-new", type=int, default=120)
    asked = parser.parse_args()
    checkers = [("the tests' checker", lambda value, schema: fits(value, schema, schema))]
    try:
        import jsonschema
    except ImportError:
        print("jsonschema is not installed: the tests' own checker alone judges")
    else:
        kind = jsonschema.Draft202012Validator
        formats = kind.FORMAT_CHECKER  # the general one takes a time to be what it was in draft 3
        checkers.append(("jsonschema", lambda value, schema: kind(schema, format_checker=formats).is_valid(value)))
    generator = TextGenerator(bundle.load(find_model(asked.model)))
    found: Counter[str] = Counter()
    number = 0
    while found["valid"] + sum(count for said, count in found.items() if said.startswith("WRONG")) < asked.schemas:
        found[verdict(generator, number, asked.max_new, checkers)] += 1
        number += 1
        if number % 20 == 0:
            print(f"{number} schemas: {dict(found)}", file=sys.stderr, flush=True)
    for said, count in found.most_common():
        print(f"{count:>5}  {said}")


if __name__ == "__main__":
    main()
