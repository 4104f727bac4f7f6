"""Which characters get a piece, and the bytes that spell the rest."""

from collections import Counter

from clearformer.text.vocabulary import ALL_BYTES, ASCII, FALLBACK_BYTES, choose_alphabet, count_characters


def test_the_fallback_bytes_are_exactly_those_of_non_ascii_utf8():
    every = {byte for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000 for byte in chr(code).encode()}
    assert [f"<0x{byte:02X}>" for byte in sorted(every)] == FALLBACK_BYTES
    assert ALL_BYTES[0x41] == "<0x41>"


def test_frequent_characters_win_and_ties_go_by_code_point():
    counts = Counter({"ü": 5, "ö": 5, "ä": 9, "ß": 1})
    assert choose_alphabet(counts, room=2, min_frequency=2, always=()) == ["ä", "ö"]
    assert choose_alphabet(counts, room=9, min_frequency=2, always=()) == ["ä", "ö", "ü"]


def test_ascii_is_always_there_however_little_room():
    assert choose_alphabet(Counter("üü"), room=0, min_frequency=1) == ASCII


def test_counting_reads_every_text():
    assert count_characters(["aab", "", "b"]) == {"a": 2, "b": 2}
