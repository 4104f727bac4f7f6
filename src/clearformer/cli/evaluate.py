"""clearformer evaluate: how good a model's translations are."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clearformer.cli.search_options import add_engine, add_others, add_search, search_config
from clearformer.cli.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("--model", default="en-de", help="a model folder or the name of one that ships (en-de)")
    add_others(parser)
    add_test_set(parser)
    parser.add_argument(
        "--tokenise", help="sacreBLEU's tokeniser; none for text that is split already (its recipe's, or by language)"
    )
    add_search(parser)
    add_engine(parser)
    parser.add_argument("--output", type=Path, help="keep the translations in this file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_test_set(parser: argparse.ArgumentParser) -> None:
    """How a test set is named."""
    parser.add_argument("--data", help="a known corpus; its test set is used")
    parser.add_argument("--source", type=Path, help="sentences to translate, one a line")
    parser.add_argument("--reference", type=Path, help="their translations by people")


def run(arguments: argparse.Namespace) -> None:
    """Translate, compare, print."""
    from clearformer.cli.progress import progress_bar
    from clearformer.evaluation.bleu import check_tokeniser, score_translations
    from clearformer.inference.engines import open_translator

    config = search_config(arguments)
    translator = open_translator(arguments.model, arguments.engine, config, others=arguments.others, scores="none")
    tokenise = arguments.tokenise or translator.provenance.get("tokenise")
    check_tokeniser(tokenise)  # the folder's own word is no better than the user's
    sources, references = read_test_set(arguments, translator.provenance)
    with progress_bar("translating") as show:
        found = [one.text for one in translator.translate(sources, config, on_progress=show)]
    with progress_bar("perplexity") as show:
        perplexity = translator.perplexity(sources, references, on_progress=show)
    if arguments.output:
        arguments.output.write_text("".join(f"{text}\n" for text in found), encoding="utf-8")
    language = translator.provenance.get("target_language")
    score = score_translations(found, references, language=language, tokenise=tokenise)
    if arguments.json:
        print(json.dumps({**asdict(score), "perplexity": perplexity}, indent=2))
        return
    print(f"BLEU        {score.bleu:.2f}   (95 % between {score.bleu_low:.2f} and {score.bleu_high:.2f})")
    print(f"chrF2       {score.chrf:.2f}")
    print(f"perplexity  {perplexity:.2f} a token")
    print(f"sentences   {score.sentences}")
    print(f"signature   {score.signature}")


def read_test_set(arguments: argparse.Namespace, provenance: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Sentences and their translations by people, as many of one as of the other."""
    from clearformer.text.doctor.parallel import read_lines

    source, reference = _files(arguments, provenance)
    sources, references = list(read_lines(source)), list(read_lines(reference))
    if len(sources) != len(references):
        raise ValueError(f"{source} has {len(sources)} lines but {reference} has {len(references)}; they must be equal")
    return sources, references


def _files(arguments: argparse.Namespace, provenance: dict[str, Any]) -> tuple[Path, Path]:
    if arguments.data:
        from clearformer.data.catalogue.corpora import find_corpus
        from clearformer.data.catalogue.fetch import get

        corpus, folder = find_corpus(arguments.data), get(arguments.data)
        languages = [provenance.get(side) for side in ("source_language", "target_language")]
        if None in languages:
            raise ValueError(f"{arguments.model} does not say its languages; give --source and --reference instead")
        source, reference = (corpus.split("test", lang=str(language))[0] for language in languages)
        return folder / source, folder / reference
    if not arguments.source or not arguments.reference:
        raise UsageError("name a corpus with --data, or give --source and --reference")
    return arguments.source, arguments.reference
