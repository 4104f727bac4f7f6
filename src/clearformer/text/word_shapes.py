"""What a word looks like: capitals, digits, signs. A vocabulary without capitals forgets it, and names live by it."""

SHAPES = (
    "plain",  # small letters, or letters of a script that has no capitals
    "capitalised",  # Berlin
    "capitals",  # NATO
    "mixed",  # iPhone
    "number",  # 1,984
    "with digits",  # B2B
    "mention",  # @name
    "hashtag",  # #topic
    "address",  # http://t.co/x
    "signs",  # :-)
)
_NUMBER = {name: number for number, name in enumerate(SHAPES)}


def shape_of(word: str) -> int:
    """The number of a word's shape in SHAPES."""
    return _NUMBER[_named(word)]


def _named(word: str) -> str:
    if len(word) > 1 and word[0] in "@#" and word[1].isalnum():
        return "mention" if word[0] == "@" else "hashtag"
    if word.lower().startswith(("http://", "https://", "www.")):
        return "address"
    letters = [character for character in word if character.isalpha()]
    digits = any(character.isdigit() for character in word)
    if not letters:
        return "number" if digits else "signs"
    if digits:
        return "with digits"
    capitals = [character.isupper() or character.istitle() for character in letters]
    if not any(capitals):
        return "plain"
    if all(capitals) and len(letters) > 1:
        return "capitals"
    return "capitalised" if capitals[0] and not any(capitals[1:]) else "mixed"
