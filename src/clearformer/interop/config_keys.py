"""A published config.json read key by key, so that none is overlooked.

The reader of a family asks for every key that changes the result. A size that is absent is an error; a choice that
is absent has the value that the published code gives it (`hf/defaults.py`), and is reported as assumed; a key that
no reader asked for and that is not known to be harmless is refused by name.
"""

import sys
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from clearformer.folder.preprocessing import Outcome
from clearformer.interop.hf.defaults import DEFAULTS
from clearformer.interop.hf.pair_defaults import HALF_DEFAULTS
from clearformer.interop.renaming import Shape

V = TypeVar("V")

# A size beyond these is a damaged or hostile file; nothing is built from it.
MOST = 1 << 26
MOST_LAYERS = 512
_LONGEST_SHOWN = 80  # characters of a value in a sentence
PROBLEMS: dict[str, Literal["one", "several", "number"]] = {
    "single_label_classification": "one",
    "multi_label_classification": "several",
    "regression": "number",
}

# What no forward pass depends on: bookkeeping, generation defaults, what a call returns, training conveniences.
HARMLESS = frozenset(
    (
        # rates of training alone, where a family's published code does not read them; where it does, so do we
        "activation_dropout", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "dropout",
        "embd_pdrop", "embedding_dropout", "hidden_dropout", "hidden_dropout_prob", "layerdrop", "resid_pdrop",
        "ctc_loss_reduction", "label_smoothing", "router_aux_loss_coef", "unsloth_fixed", "unsloth_version",
        "use_flash_attention", "use_flash_attn", "_flash_attn_2_enabled", "attn_implementation",
        "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "_name_or_path", "_num_labels",
        "add_bos_token", "add_eos_token", "architectures", "bad_words_ids", "begin_suppress_tokens",
        "bos_token_id", "cross_attention_hidden_size", "decoder_start_token_id", "diversity_penalty",
        "do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size", "eos_token_id", "eos_token_ids",
        "exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id", "forced_decoder_ids",
        "forced_eos_token_id", "gradient_checkpointing", "id2label", "init_std", "initializer_factor",
        "initializer_range", "keys_to_ignore_at_inference", "label2id", "length_penalty", "mask_token_id",
        "max_length", "min_length", "model_type", "no_repeat_ngram_size", "num_beam_groups", "num_beams",
        "num_labels", "num_return_sequences", "output_attentions", "output_hidden_states", "output_past",
        "output_scores", "pad_token_id", "prefix", "problem_type", "remove_invalid_values",
        "repetition_penalty", "return_dict", "return_dict_in_generate", "sep_token_id", "suppress_tokens",
        "task_specific_params", "temperature", "tf_legacy_loss", "tokenizer_class", "top_k", "top_p",
        "torch_dtype", "torchscript", "transformers_version", "typical_p", "unk_token_id", "use_bfloat16",
        "use_cache", "vocab_size_or_config_json_file",
        # what a cross-encoder does to its scores: `cross_encoders.py` reads it
        "sbert_ce_default_activation_function", "sentence_transformers",
    )
)  # fmt: skip

# What no import supports.
REFUSED = {
    "auto_map": "asks to run its own code, and an import never runs code from a folder",
    "quantization_config": "says that the weights are quantised; import the full-precision model",
    "pruned_heads": "says that heads were removed from some layers, which no model here can have",
}


class Keys:
    """One configuration being read. `finish` must be called last."""

    def __init__(
        self,
        plain: Mapping[str, Any],
        where: str = "config.json",
        tensors: Mapping[str, Shape] | None = None,
        *,
        model_type: str | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """tensors: names and shapes of the weights, where a config.json does not say whether a part is there.

        model_type: where the caller knows better than the file. defaults: for formats that are not Hugging Face's.
        """
        self.plain, self.where, self.tensors = plain, where, tensors
        self.model_type = model_type or plain.get("model_type")
        self.defaults = DEFAULTS.get(str(self.model_type), {}) if defaults is None else defaults
        self._read: set[str] = set()
        self._parts: dict[str, Keys] = {}
        self.assumed: dict[str, Any] = {}
        for key, reason in REFUSED.items():
            if plain.get(key):
                raise ValueError(f"{where}: {key} {reason}")
            self._read.add(key)
        if plain.get("trust_remote_code"):
            raise ValueError(f"{where}: trust_remote_code {REFUSED['auto_map']}")

    @property
    def architecture(self) -> str | None:
        """The class that the published code would build."""
        named = self.plain.get("architectures")
        if named is None:
            return None
        if not isinstance(named, list) or len(named) != 1 or not isinstance(named[0], str):
            raise ValueError(f"{self.where}: architectures must name one class, not {shown(named)}")
        return named[0]

    def has(self, ending: str) -> bool:
        """Whether the file has a tensor with this ending; True if there is no file to ask."""
        return self.tensors is None or any(name.endswith(ending) for name in self.tensors)

    def size(self, key: str, *others: str, most: int = MOST) -> int:
        """A whole number of at least 1, by any of its names: they must agree, because the published code takes one."""
        self._read.update((key, *others))
        found = {name: self.plain[name] for name in (key, *others) if name in self.plain}
        if not found and key in self.defaults:
            return self._whole(key, self._take(key), most)
        first = next((name for name, value in found.items() if value is not None), None)
        if first is None:
            raise ValueError(f"{self.where} has no {key}; without it the model is not known")
        for name, value in found.items():
            if value != found[first]:
                raise ValueError(
                    f"{self.where}: {first} is {shown(found[first])} and {name}, another name for it, {shown(value)}"
                )
        return self._whole(first, found[first], most)

    def layers(self, key: str, *others: str) -> int:
        """The number of layers: a size with a lower limit."""
        return self.size(key, *others, most=MOST_LAYERS)

    def optional_size(self, key: str, most: int = MOST) -> int | None:
        """A size that may be null, or absent where no default is published."""
        value = self._take(key) if key in self.defaults or key in self.plain else None
        return None if value is None else self._whole(key, value, most)

    def refuse_null(self, *names: str) -> None:
        """Where the published class has a number of its own, its readers disagree about what a null means."""
        for key in names:
            if key in self.plain and self.plain[key] is None and self.defaults.get(key) is not None:
                raise ValueError(
                    f"{self.where}: {key} is null, and the published default is {shown(self.defaults[key])}; say how "
                    "many, or leave it out"
                )

    def sizes(self, key: str, most: int = MOST) -> tuple[int, ...]:
        """A list of whole numbers of at least 1, one for each layer of something."""
        value = self._take(key)
        if not isinstance(value, list | tuple) or not 0 < len(value) <= MOST_LAYERS:
            raise ValueError(f"{self.where}: {key} must list a whole number for each layer, not {shown(value)}")
        return tuple(self._whole(key, one, most) for one in value)

    def number(self, key: str) -> float:
        """A finite number."""
        return finite(self._take(key), f"{self.where}: {key}")

    def above_zero(self, key: str) -> float:
        """A finite number above 0."""
        return positive(self._take(key), f"{self.where}: {key}")

    def not_negative(self, key: str) -> float:
        """A finite number that is 0 or more, such as an epsilon or a standard deviation."""
        value = self.number(key)
        if value < 0:
            raise ValueError(f"{self.where}: {key} must not be negative, but is {value!r}")
        return value

    def rate(self, key: str) -> float:
        """A dropout rate."""
        value = self.number(key)
        if not 0 <= value < 1:
            raise ValueError(f"{self.where}: {key} must be at least 0 and below 1, not {value!r}")
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._take(key)
        if not isinstance(value, bool):
            raise ValueError(f"{self.where}: {key} must be true or false, not {shown(value)}")
        return value

    def choice(self, key: str, known: Mapping[str, V]) -> V:
        """Our name for their value."""
        value = self._take(key)
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{self.where}: {key} is {shown(value)}; known are {', '.join(known)}")
        return known[value]

    def table(self, key: str) -> Mapping[str, Any] | None:
        """A nested table, or None."""
        self._read.add(key)
        value = self.plain.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"{self.where}: {key} must be a table, not {shown(value)}")
        return value

    def part(self, key: str, model_type: str, values: Mapping[str, Any]) -> "Keys":
        """A nested table to be read like a configuration of its own; `finish` then finishes it, too."""
        self._read.add(key)
        told = {"model_type": model_type, "defaults": HALF_DEFAULTS[model_type]}
        self._parts[key] = Keys(values, f"{self.where}, {key}", self.tensors, **told)  # type: ignore[arg-type]
        return self._parts[key]

    def text(self, key: str) -> str:
        """A word."""
        value = self._take(key)
        if not isinstance(value, str):
            raise ValueError(f"{self.where}: {key} must be text, not {shown(value)}")
        return value

    def must(self, key: str, *allowed: Any) -> None:
        """A setting that is supported with these values only.

        Absent, it has its published default; a key that the published code no longer knows may be absent. Null stands
        for a switch that is off, or for a default of null.
        """
        self._read.add(key)
        if key not in self.plain and key not in self.defaults:
            return
        value = self.plain[key] if key in self.plain else self.defaults[key]
        if value is None and (self.defaults.get(key) is None or not all(allowed)):
            return
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in allowed):
            expected = " or ".join(repr(one) for one in allowed)
            given = f"{key} is {shown(value)}"
            if key not in self.plain:
                given = f"{key} is not there, for which the published code takes {shown(value)}"
            raise ValueError(f"{self.where}: {given}, and only {expected} is supported")

    def padding(self) -> None:
        """The id of the padding must be a row of the embedding table, where the published code marks it."""
        self._read.add("pad_token_id")
        number, rows = self.plain.get("pad_token_id", self.defaults["pad_token_id"]), self.size("vocab_size")
        if number is None:
            return
        if isinstance(number, bool) or not isinstance(number, int) or not -rows <= number < rows:
            raise ValueError(
                f"{self.where}: pad_token_id must be one of {rows} tokens, not {shown(number)}"
                + ("" if "pad_token_id" in self.plain else ", which the published code takes where it is not there")
            )

    def shape(self, ending: str, *expected: int) -> None:
        """If the weights have this tensor, which follows from config.json, it must have this shape."""
        for name, found in (self.tensors or {}).items():
            if name.endswith(ending) and tuple(found) != expected:
                wanted, given = ("×".join(map(str, one)) for one in (expected, found))
                raise ValueError(f"{self.where} asks for a table {name} of {wanted}, but the weights have {given}")

    def ignore(self, *keys: str) -> None:
        """Keys of this family that do not change the result."""
        self._read.update(keys)

    def finish(self) -> None:
        """Refuse keys that no reader asked for: they may change the result."""
        for name, part in self._parts.items():
            part.finish()
            self.assumed |= {f"{name}.{key}": value for key, value in part.assumed.items()}
        unknown = sorted(key for key in self.plain if key not in self._read | HARMLESS)
        if unknown:
            raise ValueError(
                f"{self.where} has {', '.join(unknown)}, which the reader for {self.model_type or 'this format'} does "
                "not know; it may change the result, so the file is refused"
            )

    def _take(self, key: str) -> Any:
        self._read.add(key)
        if key in self.plain:
            return self.plain[key]
        value = self.defaults[key]
        if value is not None:  # an absent key whose default is null is not an assumption worth reporting
            self.assumed[key] = value
        return value

    def _whole(self, key: str, value: Any, most: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{self.where}: {key} must be a whole number of at least 1, not {shown(value)}")
        if value > most:
            raise ValueError(
                f"{self.where}: {key} is {shown(value)}, more than the {most} that any model needs; refused"
            )
        return value


def finite(value: Any, name: str) -> float:
    """A finite number, or an error that begins with `name`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{name} must be a number, not {shown(value)}")
    return float(value)


def positive(value: Any, name: str) -> float:
    """A finite number above 0, or an error that begins with `name`."""
    if finite(value, name) <= 0:
        raise ValueError(f"{name} must be above 0, not {shown(value)}")
    return float(value)


def shown(value: Any) -> str:
    """A value from a foreign file, short enough for a sentence."""
    spelt = repr(value)
    return spelt if len(spelt) <= _LONGEST_SHOWN else f"{spelt[:_LONGEST_SHOWN]}…"


def label_names(plain: Mapping[str, Any]) -> list[str]:
    """The names of the classes, in the order of their numbers."""
    labels = plain.get("id2label")
    if labels is None:
        return [f"LABEL_{number}" for number in range(_label_count(plain))]
    if not isinstance(labels, Mapping) or not all(str(key).isdigit() for key in labels):
        raise ValueError("config.json: id2label must give a name to each number")
    by_number = {int(key): str(name) for key, name in labels.items()}
    if sorted(by_number) != list(range(len(by_number))):
        raise ValueError("config.json: id2label must number the classes from 0 without gaps")
    if plain.get("num_labels", len(labels)) != len(labels):
        raise ValueError(f"config.json: num_labels is {shown(plain['num_labels'])}, but id2label names {len(labels)}")
    return [by_number[number] for number in range(len(by_number))]


def outcome_of(plain: Mapping[str, Any]) -> Outcome:
    """What a class head's numbers mean: problem_type says it, and one output that nobody named a class is a number."""
    kind = plain.get("problem_type")
    if kind is not None and (not isinstance(kind, str) or kind not in PROBLEMS):
        raise ValueError(f"config.json: problem_type {shown(kind)} is none of {', '.join(PROBLEMS)}")
    if kind is None:
        return Outcome(kind="number" if len(label_names(plain)) == 1 else "one")
    return Outcome(kind=PROBLEMS[kind])


def _label_count(plain: Mapping[str, Any]) -> int:
    count = plain.get("num_labels", 2)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 1 << 20:
        raise ValueError(f"config.json: num_labels must be a whole number of at least 1, not {shown(count)}")
    return count
