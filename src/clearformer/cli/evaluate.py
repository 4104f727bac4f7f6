"""clearformer evaluate: how good a model is at its task. Translators are scored here, others by `task_scores`."""

import argparse
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.cli.calibrate import calibrate
from clearformer.cli.languages import add_translator, settle_translator
from clearformer.cli.named_models import ModelName
from clearformer.cli.options import add_options
from clearformer.cli.parser import number_between
from clearformer.cli.search_options import add_engine, add_others, add_search, check_engine, search_config
from clearformer.cli.task_scores import evaluate_task, given_judging, given_reading
from clearformer.cli.usage import UsageError, asked_wrongly
from clearformer.cli.use import GivenText, naming_places, open_output
from clearformer.inference.likelihood_settings import LikelihoodConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_translator(parser, "a model")
    add_others(parser, "of the same labels, or over the same vocabulary,")
    add_test_set(parser, several=True)
    parser.add_argument(
        "--tokenise",
        metavar="NAME",
        help="sacreBLEU's tokeniser; none for text that is already split (as in the model's recipe, or by language)",
    )
    add_search(parser)
    add_engine(parser)
    add_options(parser, LikelihoodConfig)
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the translations to this file")
    parser.add_argument(
        "--report",
        action="store_true",
        help="also what the model gets wrong: scores by class, confusions, the surest mistakes (not of translators)",
    )
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="translators: fit on a development set how probable it is that a translation is good, and keep that in "
        "the model's folder, for `translate --json`",
    )
    parser.add_argument(
        "--good",
        type=number_between(1.0, 100.0),
        metavar="X",
        help="with --calibrate: chrF2 of a sentence that counts as good (60)",
    )
    parser.add_argument(
        "--judge", type=ModelName, metavar="MODEL", help="painters: a classifier that reads the class of each painting"
    )
    parser.add_argument(
        "--samples", type=int, metavar="N", help="painters: pictures that are painted to be judged (5000)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_test_set(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """How a test set is named. several: --data may also be files or a folder of whatever kind the model is for."""
    if several:
        known = "a test set: files or a folder of the model's kind, or a known corpus, whose test part is used"
        parser.add_argument("--data", nargs="+", metavar="PATH", help=known)
    else:
        parser.add_argument("--data", metavar="NAME", help="a known corpus, whose test set is used")
    parser.add_argument("--source", type=Path, metavar="FILE", help="sentences to translate, one per line")
    parser.add_argument("--reference", type=Path, metavar="FILE", help="their translations by people")


def run(arguments: argparse.Namespace) -> None:
    """Translate, compare, print; or whatever the model's task does."""
    settle_translator(arguments)
    name = _task_of(arguments.model)
    if arguments.calibrate and name != "translation":
        raise UsageError(f"--calibrate is for translators, and {arguments.model} is none; leave it out")
    if name != "translation":
        evaluate_task(arguments, name)
        return
    if arguments.report:
        raise UsageError("--report is for models whose mistakes can be listed, not for translators; leave it out")
    given_reading(arguments, (), name)
    given_judging(arguments, (), name)
    if arguments.calibrate:
        calibrate(arguments, search_config(arguments))
    else:
        _evaluate_translations(arguments)


def _task_of(model: str) -> str:
    from clearformer.folder.description import open_folder
    from clearformer.tasks import name_task

    described = open_folder(model).description
    return name_task(described.task, described.model)


def _evaluate_translations(arguments: argparse.Namespace) -> None:
    from clearformer.cli.progress import progress_bar
    from clearformer.evaluation.bleu import check_tokeniser, score_translations
    from clearformer.inference.engines import open_translator

    config = search_config(arguments)
    check_engine(arguments, config)
    with asked_wrongly():
        check_tokeniser(arguments.tokenise)
    translator = open_translator(arguments.model, arguments.engine, config, others=arguments.others, scores="none")
    tokenise = arguments.tokenise or translator.provenance.get("tokenise")
    check_tokeniser(tokenise)  # the folder's own word is no better than the user's
    given = read_test_set(arguments, translator.provenance)
    with open_output(arguments.output) as output:  # now: what cannot be written is known before the work
        with progress_bar("translating") as show, given.naming_places():
            found = [
                one.text for one in translator.translate(given.sources, config, on_progress=show, any_language=True)
            ]
        if arguments.output:
            output.writelines(f"{text}\n" for text in found)
    with progress_bar("perplexity") as show:
        perplexity = translator.perplexity(given.sources, given.references, on_progress=show)
    language = translator.provenance.get("target_language")
    score = score_translations(found, given.references, language=language, tokenise=tokenise)
    if arguments.json:
        print(json.dumps({**asdict(score), "perplexity": perplexity}, indent=2))
        return
    print(f"BLEU        {score.bleu:.2f}   (95 % between {score.bleu_low:.2f} and {score.bleu_high:.2f})")
    print(f"chrF2       {score.chrf:.2f}")
    print(f"perplexity  {perplexity:.2f} per token")
    print(f"sentences   {score.sentences}")
    print(f"signature   {score.signature}")


class ReferenceSet(NamedTuple):
    """Sentences and their translations by people, as many of one as of the other."""

    source_file: Path
    sources: list[str]
    references: list[str]

    def naming_places(self) -> AbstractContextManager[None]:
        """A sentence that is refused inside is refused by its file and line."""
        return naming_places(
            [GivenText(text, f"{self.source_file}:{line}") for line, text in enumerate(self.sources, start=1)]
        )


def read_test_set(arguments: argparse.Namespace, provenance: Mapping[str, Any]) -> ReferenceSet:
    """The test set that the options name."""
    from clearformer.data.file_facts import refuse_blank
    from clearformer.text.lines import read_lines

    source, reference = _files(arguments, provenance)
    refuse_blank((source, reference))
    sources, references = list(read_lines(source)), list(read_lines(reference))
    if len(sources) != len(references):
        raise ValueError(f"{source} has {len(sources)} lines but {reference} has {len(references)}; they must be equal")
    return ReferenceSet(source, sources, references)


def _files(arguments: argparse.Namespace, provenance: Mapping[str, Any]) -> tuple[Path, Path]:
    if arguments.data:
        from clearformer.data.catalogue.corpora import find_corpus
        from clearformer.data.catalogue.fetch import get

        named = [arguments.data] if isinstance(arguments.data, str) else arguments.data
        if len(named) == 2:
            return Path(named[0]), Path(named[1])
        if len(named) != 1 or Path(named[0]).is_file():
            raise UsageError("a translator is scored on a corpus, or on two files: --data SOURCE REFERENCE")
        [name] = named
        corpus, folder = find_corpus(name), get(name)
        languages = [provenance.get(side) for side in ("source_language", "target_language")]
        if None in languages:
            raise ValueError(f"{arguments.model} does not say its languages; give --source and --reference instead")
        source, reference = (corpus.split("test", lang=str(language))[0] for language in languages)
        return folder / source, folder / reference
    if not arguments.source or not arguments.reference:
        raise UsageError("name a corpus with --data, or give --source and --reference")
    return arguments.source, arguments.reference
