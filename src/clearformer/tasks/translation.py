"""Translation: parallel text in, an encoder–decoder that writes the target sentence out, judged by BLEU."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from clearformer.data.collate import PairBatch, collate_pairs
from clearformer.data.readers.parallel import CorpusError, JoinedFiles, ParallelFiles
from clearformer.data.shards import Shards
from clearformer.data.subword_dropout import SubwordDropout
from clearformer.data.token_pairs import SPECIALS_PER_SIDE, TokenIds
from clearformer.data.tokenise import SIDES, PairEncoder
from clearformer.data.tokenise import prepare as tokenise
from clearformer.evaluation.bleu import quick_bleu, score_translations, tokenisation
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing, usual_markers
from clearformer.inference.translation_settings import REMEMBERED, DecodingConfig
from clearformer.inference.translator import Translator
from clearformer.inference.translator_ensemble import translator_of
from clearformer.tasks import lessons
from clearformer.tasks.automatic import parallel_text
from clearformer.tasks.data_files import DataFiles, check_files, file_names, folder_of, several
from clearformer.tasks.learned_vocabulary import as_preprocessing, vocabularies
from clearformer.tasks.next_token import NextTokenObjective, TokenPair, ids_of, loss, sizes
from clearformer.tasks.task import Judging, Prepared, Scores, Scoring, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.doctor.findings import Severity
from clearformer.text.doctor.parallel import examine
from clearformer.text.lines import read_lines
from clearformer.text.train_tokenizer import TokenizerConfig

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ParallelData(DataFiles):
    """Parallel text: line n of a source file belongs to line n of its target file. Plain or .gz."""

    source_language: str | None = None  # such as en; kept with the model
    target_language: str | None = None  # such as de; decides how BLEU splits words
    train_source: str | tuple[str, ...] = file_names()  # sentences to translate, one per line; one file or a list
    train_target: str | tuple[str, ...] = file_names()  # their translations, line by line; as many files
    dev_source: str = file_names()  # development set, from which training never learns
    dev_target: str = file_names()  # its translations, by which the best checkpoint is chosen
    test_source: str = file_names()  # test set, for the end
    test_target: str = file_names()  # its translations
    joint: bool = True  # one vocabulary for both languages
    vocabulary: TokenizerConfig = field(default_factory=TokenizerConfig)
    max_length: int = 256  # pairs with more tokens on a side are left out, and counted
    split_pieces: float = 0.0  # BPE-dropout: chance that a piece is read as the two it was merged from

    def __post_init__(self) -> None:
        if not 0 <= self.split_pieces < 1:
            raise ValueError(f"data.split_pieces is a chance, at least 0 and less than 1, not {self.split_pieces}")


@dataclass(frozen=True, kw_only=True)
class TranslationScoring(Scoring):
    """How translations are compared with those by people."""

    tokenise: str | None = None  # sacreBLEU's tokeniser; none for text that is split already; by default by language


@dataclass(frozen=True, kw_only=True)
class References:
    """Sentences with translations by people, and how to compare with them."""

    sources: list[str]
    references: list[str]
    language: str | None


@dataclass(frozen=True, kw_only=True)
class ParallelPaths:
    """Where a recipe's text is."""

    train: JoinedFiles
    dev_source: Path
    dev_target: Path


def locate(data: ParallelData, base: Path) -> ParallelPaths:
    """Find a recipe's files: in the folder of its corpus, or relative to the recipe."""
    missing = [name for name in ("train_source", "train_target", "dev_source", "dev_target") if not getattr(data, name)]
    if missing:
        raise ValueError(f"the recipe's [data] section needs {', '.join(missing)}")
    sources, targets = several(data.train_source), several(data.train_target)
    if len(sources) != len(targets):
        raise ValueError(
            f"the recipe's data.train_source names {len(sources)} files but data.train_target {len(targets)}; "
            "each needs its partner, in the same order"
        )
    folder = folder_of(data, base)
    pairs = zip(sources, targets, strict=True)
    return ParallelPaths(
        train=JoinedFiles(
            parts=tuple(ParallelFiles(source=folder / left, target=folder / right) for left, right in pairs)
        ),
        dev_source=folder / data.dev_source,
        dev_target=folder / data.dev_target,
    )


def possible(data: ParallelData, workspace: Workspace) -> None:
    """Refuse what no preparation would mend: files that are not named, a start that frames its texts otherwise."""
    locate(data, workspace.base)
    check_files(data, workspace.base)
    if workspace.start is None:
        return
    start = workspace.start.preprocessing
    if start.markers is not None and start.markers != usual_markers(*start.sides):
        raise ValueError(
            f"{workspace.start.path} puts other markers around its texts than training does here; begin with another"
        )


def prepare(data: ParallelData, workspace: Workspace) -> Prepared[TokenPair]:
    """Look at the text, learn vocabularies, tokenise it into shards, read the development set."""
    files = locate(data, workspace.base)
    start = None if workspace.start is None else workspace.start.preprocessing
    if workspace.anew:
        check(files.train)
    preprocessing = as_preprocessing(_vocabularies(data, files, workspace, start), start)
    corpus = _shards(data, files, workspace, preprocessing)
    held = held_out([files.dev_source, files.dev_target], data.target_language)
    source, target = preprocessing.sides
    sources = ids_of(source, held.sources)
    _refuse_long(files.dev_source, sources, workspace.options or DecodingConfig())
    return Prepared(
        train=corpus,  # type: ignore[arg-type]  # two columns
        lengths=[corpus.lengths(side) + SPECIALS_PER_SIDE for side in SIDES],
        dev=list(zip(sources, ids_of(target, held.references), strict=True)),
        held=held,
        preprocessing=preprocessing,
    )


def check(corpus: JoinedFiles) -> None:
    """Let the doctor look at the text first: what stops training is raised, what is left out is logged."""
    for part in corpus.parts:
        report = examine(part.source, part.target)
        if report.fatal:
            worst = next(finding for finding in report.findings if finding.kind.severity is Severity.FATAL)
            raise CorpusError(str(worst))
        log.info("%s: %s", " and ".join(file.name for file in part.files), report.balance)


class _Lines:
    """The lines of several files, opened anew each time somebody reads them."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files

    def __iter__(self) -> Iterator[str]:
        for file in self.files:
            yield from read_lines(file)


def _vocabularies(
    data: ParallelData, files: ParallelPaths, workspace: Workspace, start: Preprocessing | None
) -> list[Any]:
    joint = data.joint if start is None else start.target_tokenizer is None
    sources, targets = ([getattr(part, side) for part in files.train.parts] for side in SIDES)
    texts = {"joint": _Lines(sources + targets)} if joint else {"source": _Lines(sources), "target": _Lines(targets)}
    return vocabularies(data.vocabulary, texts, workspace, () if start is None else start.sides)


def _shards(data: ParallelData, files: ParallelPaths, workspace: Workspace, read: Preprocessing) -> Shards:
    """Tokenise the training text, or take what this run made before; a run resumes with the same text or not at all."""
    source, target = read.sides
    return tokenise(
        files.train,
        workspace.folder / "shards",
        encoder=PairEncoder(source=source, target=target, max_len=data.max_length),
        same=workspace.resume,
        on_progress=workspace.on_progress,
    )


def _refuse_long(path: Path, rows: Sequence[TokenIds], options: DecodingConfig) -> None:
    """A development sentence that could not be translated is found now rather than at the first validation."""
    try:
        for number, row in enumerate(rows, start=1):
            options.check_length(number, len(row))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def held_out(files: Sequence[Path], language: str | None) -> References:
    """A development or test set, line by line."""
    source, target = files
    sources, references = list(read_lines(source)), list(read_lines(target))
    if len(sources) != len(references):
        raise ValueError(f"{source} has {len(sources)} lines but {target} has {len(references)}; they must be equal")
    return References(sources=sources, references=references, language=language)


def test_set(files: Sequence[Path], folder: ModelFolder) -> References:
    """A test set for a model folder, which says its language."""
    return held_out(files, folder.provenance.get("target_language"))


def collate(data: ParallelData, preprocessing: Preprocessing) -> Callable[[Sequence[TokenPair], Seed], PairBatch]:
    """Pairs of ids as one batch; with `split_pieces`, in other pieces at every reading."""
    source, target = preprocessing.sides
    dropout = SubwordDropout(source, target, rate=data.split_pieces, longest=data.max_length)

    def collate_rows(rows: Sequence[TokenPair], seed: Seed) -> PairBatch:
        read = dropout.read(list(rows), seed=seed) if seed else rows
        return collate_pairs(read, pad=source.pad_id, bos=source.bos_id, eos=source.eos_id)

    return collate_rows


def score(translator: Any, held: References, judging: Judging) -> Scores:
    """BLEU of the first so many sentences, or, thoroughly, everything that `evaluate` says."""
    count = len(held.sources) if judging.thorough else judging.scoring.examples
    sources, references = held.sources[:count], held.references[:count]
    mine = judging.ranks.share_out(sources)
    written = translator.translate(mine, judging.options, on_progress=judging.on_progress, any_language=True)
    found = judging.ranks.collect([one.text for one in written])
    samples = {f"sample_{n}": f"{sources[n]} → {found[n]}" for n in range(min(3, len(found)))}
    chosen = judging.scoring.tokenise
    if judging.thorough:
        full = score_translations(found, references, language=held.language, tokenise=chosen)
        perplexity = translator.perplexity(sources, references, on_progress=judging.on_progress)
        return {**asdict(full), "perplexity": perplexity, **samples}
    return {"bleu": quick_bleu(found, references, chosen or tokenisation(held.language)), **samples}


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe: languages, and how its translations are searched for and compared."""
    return {
        "data": recipe.data.corpus
        or ", ".join(dict.fromkeys(Path(name).name for name in several(recipe.data.train_source))),
        "source_language": recipe.data.source_language,
        "target_language": recipe.data.target_language,
        "decoding": {name: getattr(recipe.use, name) for name in REMEMBERED},
        "tokenise": recipe.scoring.tokenise,
    }


def reverse(data: ParallelData) -> ParallelData:
    """The same text from target to source."""
    sides = {"source": "target", "target": "source"}
    swapped = {
        form(side): getattr(data, form(other))
        for form in ("{}_language".format, "train_{}".format, "dev_{}".format, "test_{}".format)
        for side, other in sides.items()
    }
    return replace(data, **swapped)


TASK = Task(
    name="translation",
    verb=VERBS["translate"],
    use=Translator,
    together=translator_of,
    training=Training(
        data=ParallelData,
        objective=NextTokenObjective,
        scoring=TranslationScoring,
        check=possible,
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=test_set,
        test_files=lambda data: (data.test_source, data.test_target),
        best="bleu",
        facts=facts,
        lessons=lessons.add_lessons,
        reverse=reverse,
    ),
    automatic=parallel_text.AUTOMATIC,
)
