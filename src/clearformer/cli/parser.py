"""argparse, but a mistake gets one sentence, with the nearest word that exists.

argparse prints the usage of the whole program and its own shorthand ("the following arguments are required: what").
Here a mistake becomes a `UsageError`, whose sentence `main` prints; the exit code stays 2.
"""

import argparse
import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, TypeVar

from clearformer.cli.usage import UsageError

N = TypeVar("N", int, float)

# argparse's messages that a stranger cannot read, and what to say instead. Others are passed on as they are.
_WORDINGS = (
    (re.compile(r"argument (?P<name>\S+?): expected (?:one|at least one) argument"), "{option} needs a value"),
    (re.compile(r"argument (?P<name>\S+?): expected (?P<count>\d+) arguments"), "{option} needs {count} values"),
    (
        re.compile(r"argument (?P<name>\S+?): invalid int value: (?P<value>.*)"),
        "{option} must be a whole number, not {value}",
    ),
    (
        re.compile(r"argument (?P<name>\S+?): invalid float value: (?P<value>.*)"),
        "{option} must be a number, not {value}",
    ),
    (re.compile(r"argument (?P<name>\S+?): ignored explicit argument (?P<value>.*)"), "{option} takes no value"),
    (
        re.compile(r"ambiguous option: (?P<name>\S+) could match (?P<value>.*)"),
        "{option} could be {value}; write it in full",
    ),
    (re.compile(r"argument (?P<name>[^:\s]+): (?P<value>.*)"), "{option} {value}"),
)
_REQUIRED = re.compile(r"the following arguments are required: (?P<names>.*)")
_CHOICE = re.compile(r"argument (?P<name>\S+?): invalid choice: '?(?P<value>.*?)'? \(choose from .*")


class CommandParser(argparse.ArgumentParser):
    """The parser of one verb."""

    def read(self, given: Sequence[str]) -> argparse.Namespace:
        """Read the words behind the verb. Options and other words stand in any order; behind `--` all are words."""
        end = given.index("--") if "--" in given else len(given)
        if {"-h", "--help"}.intersection(given[:end]):
            self.print_help()
            self.exit()
        self._refuse_unknown_options(given[:end])
        chosen, words = self._read_options(self._fill_in(given[:end]))
        chosen, late = self._read_words([*words, *given[end + 1 :]], chosen)
        if late:
            self.error(f"{late[0]!r} is one word too many: put a text of several words between quotation marks")
        return chosen

    def _fill_in(self, given: Sequence[str]) -> list[str]:
        """An option whose value may be left out takes the next word only if that is one of its values, or nearly: in
        `--why "A gripping film."` the text stays a text."""
        filled = []
        for word, following in zip(given, [*given[1:], ""], strict=False):
            action = self._option_string_actions.get(word)
            if action is not None and action.nargs == "?":
                values = [str(value) for value in action.choices or ()]
                taken = following in values or suggestion(following, values)
                filled.append(word if taken else f"{word}={action.const}")
            else:
                filled.append(word)
        return filled

    def _read_options(self, given: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """argparse takes a list of words in one piece only, so options are read first, and alone."""
        positionals = self._get_positional_actions()
        kept = [(action, action.nargs, action.default) for action in positionals]
        for action in positionals:
            action.nargs = action.default = argparse.SUPPRESS
        try:
            return self.parse_known_args(given)
        finally:
            for action, nargs, default in kept:
                action.nargs, action.default = nargs, default

    def _read_words(self, words: list[str], chosen: argparse.Namespace) -> tuple[argparse.Namespace, list[str]]:
        required = [action for action in self._get_optional_actions() if action.required]
        for action in required:
            action.required = False  # the first reading has seen to them
        try:
            return self.parse_known_args(["--", *words] if words else [], chosen)
        finally:
            for action in required:
                action.required = True

    def format_help(self) -> str:
        """The whole help; its first line names the words and the options that have to be there."""
        if self.usage is None:
            needed = [f"{_shown_name(one)} {_metavar(one)}" for one in self._get_optional_actions() if one.required]
            words = [_usage_of(action) for action in self._get_positional_actions()]
            self.usage = " ".join([self.prog, *words, *needed, "[options]"]).replace("%", "%%")
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Refuse what was asked for, in one sentence."""
        raise UsageError(f"{self._in_words(message)} (see `{self.prog} --help`)")

    def _in_words(self, message: str) -> str:
        if found := _REQUIRED.fullmatch(message):
            return self._missing(found["names"].split(", "))
        if found := _CHOICE.fullmatch(message):
            return self._no_choice(found["name"], found["value"])
        for pattern, wording in _WORDINGS:
            if found := pattern.fullmatch(message):
                return wording.format(option=_longest(found["name"]), **found.groupdict())
        return message

    def _missing(self, names: list[str]) -> str:
        """The arguments that have to be there, each with what it is for."""
        known = {_shown_name(action): action for action in self._actions}
        described = []
        for name in names:
            action = known.get(_longest(name))
            if action is None or action.nargs not in ("*", "?"):  # argparse names the words that may be left out, too
                described.append(f"{name} ({action.help})" if action and action.help else name)
        return f"{' and '.join(described)} {'is' if len(described) == 1 else 'are'} missing"

    def _no_choice(self, name: str, value: str) -> str:
        name = _longest(name)
        action = next((one for one in self._actions if _shown_name(one) == name), None)
        choices = [str(choice) for choice in (action.choices if action and action.choices else [])]
        return f"{name} cannot be {value!r}{suggestion(value, choices) or f'; choose {either(choices)}'}"

    def _refuse_unknown_options(self, given: Sequence[str]) -> None:
        """Before argparse counts words: a misspelt option shifts all the others."""
        known = [*self._option_string_actions]
        for word in given:
            name = word.partition("=")[0]
            if not re.match(r"--?[^\W\d]", name) or " " in word or name in known:
                continue
            if name.startswith("--") and any(option.startswith(name) for option in known):
                continue  # argparse takes a beginning that only one option has
            nearest = suggestion(name, known) if name.startswith("--") else ""
            self.error(f"there is no option {name}{nearest or '; a text that begins with a dash goes behind --'}")


def suggestion(word: str, known: Iterable[str]) -> str:
    """A question after the nearest known word, to be put behind a sentence; empty where none is near."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def either(names: Sequence[str]) -> str:
    """a, b or c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def number_between(least: N, most: N) -> Callable[[str], N]:
    """An option's type: a number, both ends included, whole if they are."""
    kind, name = type(least), "a whole number" if isinstance(least, int) else "a number"

    def read(word: str) -> N:
        try:
            number = kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {name}, not {word!r}") from None
        if not least <= number <= most:  # nan is neither
            raise argparse.ArgumentTypeError(f"must be at least {least:,} and at most {most:,}, not {word}")
        return number

    return read


def _usage_of(action: argparse.Action) -> str:
    name = _shown_name(action)
    return {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}.get(str(action.nargs), name)


def _metavar(option: argparse.Action) -> str:
    return str(option.metavar or "|".join(map(str, option.choices or [])) or option.dest.upper())


def _longest(name: str) -> str:
    """argparse names an option by all its spellings: -h/--help."""
    return max(name.split("/"), key=len)


def _shown_name(action: argparse.Action) -> str:
    if action.option_strings:
        return max(action.option_strings, key=len)
    return str(action.metavar or action.dest)
