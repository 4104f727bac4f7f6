"""How text is split before pieces are looked up."""

import pytest

from clearformer.text.assemble import words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (" Two dogs", [" Two", " dogs"]),
        (" don't l’homme", [" don't", " l’homme"]),
        ("dogs.", ["dogs", "."]),
        (" 1984", [" 1", "9", "8", "4"]),
        (" doesn &apos;t", [" doesn", " &apos;", "t"]),
        (" a @-@ b", [" a", " @-@", " b"]),
        ("a<pad>b", ["a", "<", "pad", ">", "b"]),
        ("a <b", ["a", " ", "<", "b"]),
        ("a   b", ["a", "  ", " b"]),
        ("a\t\n", ["a", "\t\n"]),
        ("हिन्दी", ["हिन्दी"]),
        ("机器学习。", ["机器学习", "。"]),
    ],
)
def test_words_are_split_where_the_rule_says(text, parts):
    assert [part for part, _ in words().pre_tokenize_str(text)] == parts
