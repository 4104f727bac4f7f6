"""The pieces that are not text: padding, the two ends of a sentence, the unknown, and BERT's three markers."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

Role = Literal["pad", "bos", "eos", "unk", "cls", "sep", "mask"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, kw_only=True)
class SpecialTokens:
    """How each role is spelt in the vocabulary; None where the vocabulary has no such piece."""

    pad: str | None = None
    bos: str | None = None
    eos: str | None = None
    unk: str | None = None
    cls: str | None = None
    sep: str | None = None
    mask: str | None = None

    def spelling(self, role: Role) -> str | None:
        value: str | None = getattr(self, role)
        return value

    def spellings(self) -> list[str]:
        """Every distinct spelling, in the order of the roles (GPT-2 gives one piece two roles)."""
        return list(dict.fromkeys(value for field in fields(self) if (value := getattr(self, field.name)) is not None))


# Trained vocabularies begin with these, so that the ids are the same in every model: pad 0, bos 1, eos 2, unk 3.
SENTENCE = SpecialTokens(pad="<pad>", bos="<bos>", eos="<eos>", unk="<unk>")

# WordPiece follows BERT's spelling: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4 when trained here.
BERT = SpecialTokens(pad="[PAD]", unk="[UNK]", cls="[CLS]", sep="[SEP]", mask="[MASK]")
