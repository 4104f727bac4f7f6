"""clearformer generate: a text goes on, streamed."""

import argparse
import json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("prompt", help="the text to go on with; an empty one begins anew")
    parser.add_argument("--model", required=True, help="the folder of a language model")
    parser.add_argument("--max-new", type=int, default=128, help="the most tokens to add (128)")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 takes the likeliest, 1 draws as learned (0)")
    parser.add_argument("--top-k", type=int, help="draw among the k likeliest tokens only")
    parser.add_argument("--top-p", type=float, help="draw among the likeliest that have this probability together")
    parser.add_argument("--seed", type=int, default=0, help="of the drawing (0)")
    parser.add_argument("--json", action="store_true", help="print JSON: prompt, text, tokens, log-probabilities")


def run(arguments: argparse.Namespace) -> None:
    """Go on, and show each piece as soon as it is chosen."""
    from clearformer.folder import bundle
    from clearformer.folder.description import find_model
    from clearformer.inference.generation_settings import GenerationConfig
    from clearformer.inference.text_generator import TextGenerator

    config = GenerationConfig(
        max_new=arguments.max_new,
        temperature=arguments.temperature,
        top_k=arguments.top_k,
        top_p=arguments.top_p,
        seed=arguments.seed,
    )
    generator = TextGenerator(bundle.load(find_model(arguments.model)))
    if arguments.json:
        choices = list(generator.choices(generator.encode(arguments.prompt), config))
        tokenizer = generator.tokenizer
        entry = {
            "prompt": arguments.prompt,
            "text": generator.generate(arguments.prompt, config),
            "tokens": [tokenizer.piece(choice.token) for choice in choices],
            "log_probs": [choice.log_prob for choice in choices],
        }
        print(json.dumps(entry, ensure_ascii=False))
        return
    print(arguments.prompt, end="", flush=True)
    for piece in generator.stream(arguments.prompt, config):
        print(piece, end="", flush=True)
    print()
