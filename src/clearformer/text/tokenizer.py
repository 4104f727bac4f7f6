"""Text to ids and back: one thin class over the `tokenizers` library, for every kind of vocabulary.

The promise, property-tested: for kinds bpe, unigram, character and byte, and for every text of valid Unicode,

    tokenizer.decode(tokenizer.encode(text).ids) == normalise(text, tokenizer.normalise)

and `normalise` is empty unless somebody asked for it, so the text comes back exactly: spaces, tabs, line ends, emoji,
scripts never seen in training. Text that happens to spell a special token ("<eos>") stays text. WordPiece does not
promise this: like BERT it loses spacing, and a word with an unknown character becomes [UNK]. Nor does a vocabulary of
whole words, for text that was split beforehand: spaces separate its words, and one that it does not have is <unk>.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import tokenizers

from clearformer.text import fingerprint as prints
from clearformer.text.normalise import Normalisation, check_choices
from clearformer.text.special import ROLES, Role, SpecialTokens

Kind = Literal["bpe", "wordpiece", "unigram", "word", "character", "byte"]

# One text of a million characters takes seconds; ten million take the better part of a minute and gigabytes.
# No real line is that long: it is a file without line ends, and an error helps more than the result would.
MAX_CHARACTERS = 1_000_000


def _keep_forks_quiet() -> None:
    """Let batches use every core, but not in a forked child, where the library's thread pool would be a dead copy.

    Without this the library prints a warning at each fork (data workers do that) and asks for this very variable.
    A value that the user has set is kept.
    """
    if "TOKENIZERS_PARALLELISM" not in os.environ:
        os.environ["TOKENIZERS_PARALLELISM"] = "true"
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: os.environ.update(TOKENIZERS_PARALLELISM="false"))


_keep_forks_quiet()


@dataclass(frozen=True, slots=True)
class Encoding:
    """A text as the model sees it. `offsets` are character positions in the text; special tokens have (0, 0)."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EncodedPair(Encoding):
    """Two texts as one input. types: BERT's segment of each piece; second: whether it is of the second text."""

    types: tuple[int, ...]
    second: tuple[bool, ...]


class Tokenizer:
    """A vocabulary and the rules to use it. Immutable, picklable, safe to share between threads.

    definition: the text of a tokenizer.json. It is kept as it is, so that saving a loaded tokenizer writes the same
    file and the fingerprint does not change when a newer library would write the same thing in another way.
    special_in_text: whether "[MASK]" written in a text means the special token (BERT needs that to fill gaps).
    """

    def __init__(
        self,
        definition: str,
        *,
        kind: Kind,
        special: SpecialTokens,
        normalise: Sequence[Normalisation] = (),
        special_in_text: bool = False,
    ) -> None:
        if kind not in get_args(Kind):
            raise ValueError(f"unknown kind of tokenizer {kind!r}; choose from {', '.join(get_args(Kind))}")
        check_choices(normalise)
        self.kind: Kind = kind
        self.special = special
        self.normalise: tuple[Normalisation, ...] = tuple(normalise)
        self.special_in_text = special_in_text
        self._definition = definition
        self._engine = tokenizers.Tokenizer.from_str(definition)
        # The library looks for special tokens in every text unless told otherwise; the file has no field for it.
        self._engine.encode_special_tokens = not special_in_text
        self._size = 1 + max(self._engine.get_vocab().values(), default=-1)
        self._fingerprint: str | None = None
        self._spellings: dict[int, str] = {}
        self._special_ids = {role: self._find_special(role) for role in ROLES if special.spelling(role) is not None}

    # --- text to ids -------------------------------------------------------------------------------------------------

    def encode(self, text: str, add_special: bool = True) -> Encoding:
        """Cut a text into pieces; `add_special` puts the kind's markers around it (<bos> … <eos>, [CLS] … [SEP])."""
        self._check_text(text)
        return _encoding(self._engine.encode(text, add_special_tokens=add_special))

    def encode_pair(self, first: str, second: str) -> EncodedPair:
        """Two texts with the kind's markers around and between them; offsets are positions in the text of each."""
        self._check_text(first)
        self._check_text(second)
        found = self._engine.encode(first, second)
        return EncodedPair(
            tuple(found.ids),
            tuple(found.tokens),
            tuple(found.offsets),
            tuple(found.type_ids),
            tuple(number == 1 for number in found.sequence_ids),
        )

    def encode_batch(self, texts: Sequence[str], add_special: bool = True) -> list[Encoding]:
        """Encode many texts on all cores; the result of each is that of `encode`."""
        for text in texts:
            self._check_text(text)
        return [_encoding(found) for found in self._engine.encode_batch(list(texts), add_special_tokens=add_special)]

    def ids(self, texts: Sequence[str], add_special: bool = True) -> list[list[int]]:
        """Only the ids of many texts: what data preparation needs, several times as fast as `encode_batch`."""
        for text in texts:
            self._check_text(text)
        batch = self._engine.encode_batch_fast(list(texts), add_special_tokens=add_special)
        return [found.ids for found in batch]

    # --- ids to text -------------------------------------------------------------------------------------------------

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """Join pieces to text. Ids that no text encodes to (half a character) give U+FFFD, never an error."""
        numbers = list(ids)
        self._check_ids(numbers)
        text: str = self._engine.decode(numbers, skip_special_tokens=skip_special)
        return text

    def decode_batch(self, batch: Iterable[Iterable[int]], skip_special: bool = True) -> list[str]:
        """Decode many sequences on all cores."""
        rows = [list(ids) for ids in batch]
        for row in rows:
            self._check_ids(row)
        texts: list[str] = self._engine.decode_batch(rows, skip_special_tokens=skip_special)
        return texts

    # --- the vocabulary ----------------------------------------------------------------------------------------------

    @property
    def vocab_size(self) -> int:
        """One more than the highest id: the number of rows that an embedding needs."""
        return self._size

    def id(self, piece: str) -> int:
        """The id of a piece."""
        number: int | None = self._engine.token_to_id(piece)
        if number is None:
            raise KeyError(f"{piece!r} is not a piece of this {self.kind} vocabulary of {self.vocab_size}")
        return number

    def pieces(self) -> dict[str, int]:
        """Every piece with its id."""
        found: dict[str, int] = self._engine.get_vocab()
        return found

    def piece(self, id: int) -> str:
        """The piece of an id."""
        if id not in self._spellings:
            self._check_ids([id])
            spelling: str | None = self._engine.id_to_token(id)
            if spelling is None:
                raise KeyError(f"id {id} is not used by this {self.kind} vocabulary")
            self._spellings[id] = spelling  # used often, and the library makes a new string each time
        return self._spellings[id]

    def halves(self) -> dict[int, tuple[int, int]]:
        """The two pieces that each longer piece of a BPE vocabulary was merged from."""
        if self.kind != "bpe":
            raise ValueError(f"only the pieces of a bpe vocabulary were merged from two, not of a {self.kind} one")
        found: dict[int, tuple[int, int]] = {}
        for merge in self._parsed()["model"]["merges"]:
            left, right = merge.split(" ") if isinstance(merge, str) else merge  # older files write "a b"
            found.setdefault(self.id(left + right), (self.id(left), self.id(right)))
        return found

    def special_id(self, role: Role) -> int:
        """The id of a special token; an error names the roles that this vocabulary has."""
        if role not in self._special_ids:
            raise KeyError(f"this {self.kind} vocabulary has no {role!r} token; it has {', '.join(self._special_ids)}")
        return self._special_ids[role]

    @property
    def special_ids(self) -> dict[Role, int]:
        return dict(self._special_ids)

    def marks(self) -> dict[str, int]:
        """The special pieces that are found wherever a text spells them, with their ids; none where text stays text."""
        if not self.special_in_text:
            return {}
        added = self._engine.get_added_tokens_decoder()
        return {token.content: number for number, token in added.items() if token.special}

    @property
    def pad_id(self) -> int:
        return self.special_id("pad")

    @property
    def bos_id(self) -> int:
        return self.special_id("bos")

    @property
    def eos_id(self) -> int:
        return self.special_id("eos")

    @property
    def unk_id(self) -> int:
        return self.special_id("unk")

    # --- identity, on disk -------------------------------------------------------------------------------------------

    @property
    def definition(self) -> str:
        """The text of its tokenizer.json."""
        return self._definition

    def fingerprint(self) -> str:
        """SHA-256 of everything that decides which ids a text gets."""
        if self._fingerprint is None:
            self._fingerprint = prints.fingerprint(self._parsed(), self._own_facts())
        return self._fingerprint

    def facts(self) -> dict[str, Any]:
        """What tokenizer.json has no field for; belongs in the model's config.json and is given to `load`."""
        return {
            **self._own_facts(),
            "fingerprint": self.fingerprint(),
            "outline": prints.outline(self._parsed()),
        }

    def save(self, path: Path | str) -> None:
        """Write tokenizer.json; `tokenizers.Tokenizer.from_file` opens it too. Keep `facts()` beside it."""
        Path(path).write_text(self._definition, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path | str, facts: Mapping[str, Any]) -> Self:
        """Open a saved tokenizer, and refuse one that is not the tokenizer the facts were written for."""
        path = Path(path)
        definition, parsed = _read_definition(path)
        missing = sorted({"kind", "special", "normalise", "special_in_text", "fingerprint", "outline"} - facts.keys())
        if missing:
            raise ValueError(f"the facts about {path} lack {', '.join(missing)}; save the model again with facts()")
        own = {name: facts[name] for name in ("kind", "special", "normalise", "special_in_text")}
        if prints.fingerprint(parsed, own) != facts["fingerprint"]:
            reason = prints.differs_from_outline(parsed, facts["outline"])
            raise ValueError(
                f"{path} is not the tokenizer this model was trained with: {reason}. "
                "Put back the tokenizer.json that was saved with the model."
            )
        return cls(
            definition,
            kind=own["kind"],
            special=SpecialTokens(**own["special"]),
            normalise=own["normalise"],
            special_in_text=own["special_in_text"],
        )

    @classmethod
    def from_engine(
        cls,
        engine: tokenizers.Tokenizer,
        *,
        kind: Kind,
        special: SpecialTokens,
        normalise: Sequence[Normalisation] = (),
        special_in_text: bool = False,
    ) -> Self:
        """Wrap a tokenizer that was assembled from the library's own parts."""
        return cls(engine.to_str(), kind=kind, special=special, normalise=normalise, special_in_text=special_in_text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        return f"Tokenizer({self.kind}, {self.vocab_size} pieces, {self.fingerprint()[:12]})"

    def __getstate__(self) -> dict[str, Any]:
        return {"definition": self._definition, **self._own_facts()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        special = SpecialTokens(**state.pop("special"))
        Tokenizer.__init__(self, state.pop("definition"), special=special, **state)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _parsed(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self._definition)
        return parsed

    def _own_facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "special": asdict(self.special),
            "normalise": list(self.normalise),
            "special_in_text": self.special_in_text,
        }

    def _find_special(self, role: Role) -> int:
        spelling = self.special.spelling(role)
        number = None if spelling is None else self._engine.token_to_id(spelling)
        if number is None:
            raise ValueError(f"the vocabulary has no piece {spelling!r}, which was named as its {role!r} token")
        return number

    def _check_text(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise ValueError(
                f"a text of {len(text):,} characters is more than the {MAX_CHARACTERS:,} that are encoded at once; "
                "split it into lines"
            )
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the text has half a surrogate pair at character {error.start} ({text[error.start]!a}), which is not "
                "Unicode text; decode the file strictly as UTF-8"
            ) from None

    def _check_ids(self, ids: Sequence[int]) -> None:
        # The library drops ids it does not know; a model that produces one has the wrong vocabulary: report it.
        if ids and not (min(ids) >= 0 and max(ids) < self.vocab_size):
            wrong = next(number for number in ids if not 0 <= number < self.vocab_size)
            raise ValueError(f"id {wrong} is outside this vocabulary of {self.vocab_size} pieces")


def describe_difference(a: Tokenizer, b: Tokenizer) -> str:
    """How two tokenizers differ, piece by piece; an empty string when they are the same."""
    if a == b:
        return ""
    mine, other = a._own_facts(), b._own_facts()
    reasons = [prints.describe_difference(a._parsed(), b._parsed())]
    reasons += [f"{name} is {mine[name]!r} against {other[name]!r}" for name in mine if mine[name] != other[name]]
    return "; ".join(reason for reason in reasons if reason)


def _encoding(found: tokenizers.Encoding) -> Encoding:
    return Encoding(tuple(found.ids), tuple(found.tokens), tuple(found.offsets))


def _read_definition(path: Path) -> tuple[str, dict[str, Any]]:
    definition = path.read_text(encoding="utf-8")
    try:
        parsed = json.loads(definition)
        prints.pieces(parsed)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a tokenizer.json of the tokenizers library ({error}); copy it again") from None
    return definition, parsed
