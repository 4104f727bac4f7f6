"""clearformer chat: converse with a model, at the keyboard or from a pipe."""

import argparse
import json
import sys
from typing import IO, TYPE_CHECKING

from clearformer.cli.named_models import ModelName
from clearformer.cli.options import add_options, read_options
from clearformer.cli.use import add_answers, add_texts, given_texts, is_typed, open_model, open_output, utf8_word
from clearformer.inference.chat_settings import OPTIONS, ChatConfig

if TYPE_CHECKING:
    from clearformer.inference.conversation import Answered, Conversation

DEFAULT = "smollm2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    add_texts(parser, "messages of one conversation")
    parser.add_argument(
        "--model",
        type=ModelName,
        default=DEFAULT,
        help="a model that converses: a model folder, the folder of a run, hub:OWNER/NAME, or the name of one that was "
        "fetched "
        f"({DEFAULT}, which `clearformer models get {DEFAULT}` fetches)",
    )
    parser.add_argument("--system", type=utf8_word, metavar="TEXT", help="what the model is told before all messages")
    add_options(parser, ChatConfig, only=OPTIONS)
    add_answers(parser, "print one JSON object per answer: message, answer, tokens, ended, dropped")
    parser.epilog = (
        "At the keyboard, /help lists what can be typed beside messages, Ctrl-C stops an answer, and Ctrl-D leaves. "
        "From a pipe or a file, every line is a message, and the answers follow one another."
    )


def run(arguments: argparse.Namespace) -> None:
    """Converse at the keyboard, or answer messages one after the other."""
    config = read_options(arguments, ChatConfig)
    from clearformer.inference.conversation import Chatter

    chatter = Chatter(open_model(arguments))
    conversation = chatter.begin(system=arguments.system)
    if is_typed(arguments):
        from clearformer.cli.chat_keyboard import Keyboard

        with open_output(arguments.output) as output:
            Keyboard(conversation, config, output, as_json=arguments.json).talk()
        return
    with open_output(arguments.output) as output:
        for number, given in enumerate(given_texts(arguments)):
            if number and not arguments.json:
                print(file=output)
            try:
                answer(conversation, given.text, config, output, as_json=arguments.json)
            except ValueError as error:
                raise ValueError(f"{given.place}: {error}") from error


def answer(
    conversation: "Conversation", text: str, config: ChatConfig, output: IO[str], *, as_json: bool = False
) -> None:
    """One message and its answer, shown piece by piece as it is chosen."""
    before = 0 if conversation.last is None else conversation.last.dropped
    for piece in conversation.say(text, config):
        if not as_json:
            print(piece, end="", file=output, flush=True)
    assert conversation.last is not None
    show_end(conversation.last, text, before, output, as_json=as_json)


def show_end(last: "Answered", message: str, before: int, output: IO[str], *, as_json: bool) -> None:
    """The end of an answer's line, or its record; and, for people, what they would not see otherwise.

    before: turns that the answer before this one did without.
    """
    if as_json:
        record = {"message": message, "answer": last.text, "tokens": last.tokens}
        print(json.dumps(record | {"ended": last.ended, "dropped": last.dropped}, ensure_ascii=False), file=output)
    else:
        print(file=output)
    output.flush()
    if last.dropped > before:
        turns = "turn is" if last.dropped == 1 else f"{last.dropped} turns are"
        print(f"(the context is full: the oldest {turns} no longer seen by the model)", file=sys.stderr)
    if last.ended == "length":
        print(f"(cut off after {last.tokens} tokens; --max-new allows more)", file=sys.stderr)
