"""From a published checkpoint to one of our model folders: read, compare, rename, build, check.

Nothing is written until everything has been read and fits; no code from the checkpoint is run.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Outcome, Preprocessing
from clearformer.folder.rounded_weights import Kept
from clearformer.foundation import storage
from clearformer.interop import certificate as certificates
from clearformer.interop import openai_whisper, plain_folders, vocabularies
from clearformer.interop.chat_templates import find_template, kept_template
from clearformer.interop.config_keys import Keys, label_names, outcome_of
from clearformer.interop.cross_encoders import scored
from clearformer.interop.foreign_files import check_folder, read_json
from clearformer.interop.hf.model_types import family_of, prefix_of, processor_of
from clearformer.interop.imported import Imported, assemble
from clearformer.interop.language_marks import spoken
from clearformer.interop.other_formats import refusal
from clearformer.interop.picture_preparation import read_picture_facts
from clearformer.interop.resized_positions import for_pictures_of
from clearformer.interop.sentence_files import read_vector_facts
from clearformer.interop.sound_preparation import read_sound_facts
from clearformer.interop.tensor_files import Safetensors, open_weights
from clearformer.model.config import ModelConfig

log = logging.getLogger(__name__)


def import_checkpoint(
    source: Path | str,
    out: Path | str,
    family: str | None = None,
    *,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
    origin: Mapping[str, Any] | None = None,
    prose: bool = True,
    dtype: Kept | None = None,
) -> Bundle:
    """Import a checkpoint into a model folder `out`; its provenance says how well it agrees with the published program.

    split: where vocab.txt lists whole tokens, the pattern that finds them in a text. languages: of a translator among
    many, the two that are wanted. origin: where the checkpoint was fetched from, for the provenance. prose: whether a
    language model is expected to find sentences likely. dtype: how the weights are to be kept, by default as they are;
    they are rounded after the comparison with the published program.
    """
    source = Path(source)
    found = read_checkpoint(source, family, split=split, languages=languages)
    for key, value in found.assumed.items():
        log.info("%s: %s is not there; the published code takes %r", source, key, value)
    for name, reason in found.aside.items():
        log.info("%s: %s is not used: %s", source, name, reason)
    for note in found.notes:
        log.info("%s: %s", source, note)
    certificate = certificates.certify(found.bundle, source, prose=prose)
    if certificate.fault:
        raise ValueError(f"{source}: the imported model is not the published one: {certificate.fault}; nothing written")
    provenance = {
        **found.bundle.provenance,
        **(origin or {}),
        "assumed": found.assumed,
        "left_aside": sorted(found.aside),
        "notes": list(found.notes),
        "certificate": certificate.as_json(),
    }
    complete = replace(found.bundle, provenance=provenance)
    bundle.save(complete, Path(out), dtype=dtype)
    return complete if dtype is None else bundle.load(Path(out), as_kept=True)


def read_checkpoint(
    source: Path,
    family: str | None = None,
    *,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
) -> Imported:
    """Open a checkpoint of any supported format."""
    from clearformer.interop import from_ctranslate2, gguf

    if source.is_dir():
        check_folder(source)
    if split is not None or languages is not None:
        return read_hugging_face(source, family, split=split, languages=languages)
    if family is None and gguf.can_read(source):
        return gguf.read(source)
    if not source.is_dir():
        if source.is_file() and (why := refusal(source)) is not None:
            raise ValueError(why)
        raise ValueError(f"{source} is not a folder; give the folder that holds config.json, or a .gguf file")
    if family is None and (known := plain_folders.recognise(source)) is not None:
        return known(source)
    if family is None and from_ctranslate2.can_read(source):
        return from_ctranslate2.read(source)
    if family is None and openai_whisper.find(source) is not None:
        return openai_whisper.read(source)
    if not (source / "config.json").exists() and (why := refusal(source)) is not None:
        raise ValueError(why)
    return read_hugging_face(source, family)


def read_hugging_face(
    folder: Path,
    family: str | None = None,
    *,
    split: str | None = None,
    languages: tuple[str, str] | None = None,
) -> Imported:
    """A folder with config.json, weights and a vocabulary, as Hugging Face's library writes it."""
    plain = read_json(folder / "config.json")
    known = family_of(plain, family)
    with open_weights(folder) as store:
        kept = store.kept if isinstance(store, Safetensors) else "float32"
        keys = Keys(plain, str(folder / "config.json"), store.shapes, model_type=family)
        try:
            config = known.read_config(keys)
            seen = config.of_pictures.front
            picture, not_said = read_picture_facts(folder, seen, **processor_of(known))
            if picture is not None and picture.size != seen.picture:
                config, store, said = for_pictures_of(config, store, picture.size)
                not_said = (*not_said, said)
            spoken_of = config.of_texts
            texts = vocabularies.read(
                folder, plain, spoken_of, split=split, languages=languages
            )  # before the large file
            sound = read_sound_facts(folder, spoken_of, texts.source)
            model, aside = assemble(config, known.names(config), store, prefix_of(known, config.family))
        except ValueError as error:
            raise ValueError(_placed(str(error), folder)) from error
    template, not_understood = _template(folder, config, texts)
    texts_have_classes = config.head.kind == "class" and config.front.kind == "tokens"
    found = Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(
            outcome=scored(outcome_of(plain), plain) if texts_have_classes else Outcome(),
            tokenizer=texts.source,
            target_tokenizer=texts.target,
            markers=texts.markers,
            labels=tuple(label_names(plain)) if config.head.kind in ("class", "tags") else (),
            chat_template=template,
            picture=picture,
            sound=sound,
            vectors=read_vector_facts(folder, texts.source) if config.head.kind == "states" else None,
        ),
        provenance=_provenance(folder, plain, family) | ({} if languages is None else spoken(languages)),
        kept=kept,
    )
    return Imported(bundle=found, assumed=keys.assumed, aside=aside, notes=(*texts.notes, *not_understood, *not_said))


def _template(folder: Path, config: ModelConfig, texts: vocabularies.Texts) -> tuple[str | None, tuple[str, ...]]:
    """How a model that continues texts is told of a conversation, where its folder says it."""
    if config.shape != "decoder" or config.head.kind != "language-model" or texts.source is None:
        return None, ()
    return kept_template(find_template(folder), texts.source.special)


def _provenance(folder: Path, plain: Mapping[str, Any], family: str | None) -> dict[str, Any]:
    named = plain.get("_name_or_path")
    return {
        "imported_from": named if isinstance(named, str) and named else folder.resolve().name,
        "format": "huggingface",
        "model_type": family or plain.get("model_type"),
        "architectures": plain.get("architectures"),
        "files": {path.name: storage.sha256(path) for path in sorted(folder.glob("*.safetensors"))},
    }


def _placed(sentence: str, folder: Path) -> str:
    """The sentence, with the folder in front if it does not name it."""
    return sentence if str(folder) in sentence else f"{folder}: {sentence}"
