"""clearformer export: a model folder for another program."""

import argparse
from pathlib import Path

from clearformer.cli.named_models import ModelName
from clearformer.cli.usage import UsageError
from clearformer.cli.use import check_folder

TARGETS = ("huggingface", "ctranslate2", "onnx", "clearformer")
QUANTIZATIONS = ("float32", "int16", "int8", "int8_float32")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument(
        "model", type=ModelName, metavar="MODEL", help="a model folder, the name of one that ships, or hub:OWNER/NAME"
    )
    parser.add_argument("dir", type=Path, metavar="FOLDER", help="the folder to write")
    parser.add_argument(
        "--to",
        required=True,
        choices=TARGETS,
        help="the format to write (clearformer: adapters merged)",
    )
    parser.add_argument(
        "--quantization",
        choices=QUANTIZATIONS,
        default="float32",
        help="type of the weights, for ctranslate2 only (float32)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Pass the folder to the writer of that format, which first refuses a family that it does not know."""
    from clearformer.folder.description import find_model

    check_folder(arguments.dir, "FOLDER", new=True)
    if arguments.quantization != "float32" and arguments.to != "ctranslate2":
        raise UsageError(f"--quantization is for --to ctranslate2, not for {arguments.to}")
    folder = find_model(arguments.model)
    if arguments.to == "clearformer":
        from clearformer.folder import bundle

        bundle.save(bundle.load(folder), arguments.dir)
    elif arguments.to == "huggingface":
        from clearformer.interop import to_hugging_face

        to_hugging_face.export(folder, arguments.dir)
    elif arguments.to == "ctranslate2":
        from clearformer.interop import to_ctranslate2

        to_ctranslate2.convert(folder, arguments.dir, quantization=arguments.quantization)
    else:
        from clearformer.interop import to_onnx

        to_onnx.export(folder, arguments.dir)
    print(arguments.dir)
