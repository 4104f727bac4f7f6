"""Where in a JSON file the objects of its lists begin, by line and column, which `json` does not tell.

Only who has found a fault asks, so the text is read once more then, and two numbers are kept for each object.
"""

import re
from array import array
from typing import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]')


class JsonPlace(NamedTuple):
    """Line and column, from 1."""

    line: int
    column: int


class JsonPlaces:
    """The places of all objects in lists that stand under one key, in the order of the file."""

    def __init__(self, text: str, key: str) -> None:
        self._lines, self._columns = array("q"), array("q")
        wanted, said, pending = f'"{key}"', "", ""
        inside: list[bool] = []  # of each container that is open, whether it is such a list
        line, begins = 1, 0
        for token in _TOKEN.finditer(text):
            mark = token[0]
            if mark == "\n":
                line, begins = line + 1, token.end()
            elif mark == ":":
                pending = said
            elif mark == "[":
                inside.append(pending == wanted)
                pending = ""
            elif mark == "{":
                if inside and inside[-1]:
                    self._lines.append(line)
                    self._columns.append(token.start() - begins + 1)
                inside.append(False)
                pending = ""
            elif mark == ",":
                pending = ""
            elif mark in "]}":
                del inside[-1:]
            else:
                said = mark
        self.one_line = line == 1 or (line == 2 and begins == len(text))

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> JsonPlace:
        return JsonPlace(self._lines[number], self._columns[number])

    def said(self, number: int) -> str:
        """What stands behind the name of the file: the line, and where all is in one line, the column as well."""
        place = self[number]
        return f":{place.line}:{place.column}" if self.one_line else f":{place.line}"
