"""A thousand texts of every kind: scripts, emoji, numbers, quotes, and every way to waste space. Always the same."""

import random

PARTS = [
    "Two dogs play in the snow", "Der Mann läuft über die Straße", "L’homme n'a pas d'idée",
    "el niño está aquí", "他在河边看见一只白色的鸟。", "机器翻译", "私は学生です", "나는 학생입니다",
    "Привет, мир", "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Ελληνικά", "🙂",
    "👩\u200d👩\u200d👧", "🇩🇪", "3,14 €", "12345", "½", "①", "ﬁne", "Ａｂｃ", "e\u0301", "don't", "it's",
    "I'll", "``quoted''", "(a)", "[b]", "{c}", "a/b", "x=y+1", "--", "…", "!?", "&amp;", "<b>", "@user",
    "http://a.b/c?d=e", "naïve café", "ÀÉÎ", "ß", "İstanbul", "\u200b", "\u00a0", "a\tb", "MiXeD",
    "under_score", "ﷺ",
]  # fmt: skip
SPACES = [" ", " ", " ", " ", "  ", "\t", " \n ", "\u3000", "", ", "]


def mixed_texts(count: int = 1000) -> list[str]:
    """Parts in any order with any space between; some begin or end with space, one is empty."""
    chance = random.Random(17)
    texts = ["", " ", "\n", "a", " a ", "  two  spaces  "]
    while len(texts) < count:
        words = [chance.choice(PARTS) for _ in range(chance.randint(1, 12))]
        text = words[0]
        for word in words[1:]:
            text += chance.choice(SPACES) + word
        texts.append(chance.choice(["", "", "", " "]) + text + chance.choice(["", "", "", " "]))
    return texts
