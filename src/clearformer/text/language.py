"""Is this text in another language than it should be? A small detector that rather stays silent than errs.

A translator writes fluent nonsense for a text in a language that it never saw, so somebody should say so. Where
languages have scripts of their own, the script decides. Where they share one, their most frequent short words decide:
articles, pronouns, prepositions. A word that two languages have ("in", "die") counts half for each. Short texts, texts
without such words and languages that are not listed here are "don't know", and nothing is said of them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.text.scripts import scripts_of

_WORD = re.compile(r"[^\W\d_]+['’]?")  # an apostrophe stays with what stands before it: l', don'

# Frequent words of languages that are written in Latin letters.
WORDS = {
    "en": """
        the a an of to and in is it you that he was for on are with as i his they be at this have from or
        had by but what there we can out were all your when up how she which their if will do many then them
        would so her him has more could no my than who did me about not just been any where our very don'
        doesn' didn' isn' wasn' won' can' couldn' i' it' he' she' that' you' we' they' there' what' let'
        into only some these those because should people want know like one two get go going went said think
        am us always never here good must too over met may hat man come time see make back off down much now
        take still again haven' die year day before after other first last home work open door left
        """,
    "de": """
        der die das und ist in zu den nicht sie es ein eine mit sich auf dem ich du er wir ihr für von im
        des auch als an wie so war hat haben wird sind bei oder aber einen einem einer eines noch nur nach
        aus wenn mich mir dich dir ihn ihm uns euch mein meine meinen dein deine sein seine kann kein keine
        hatte habe bin bist was wer wo warum über vor zum zur durch um wurde werden mehr sehr schon doch man
        dass daß möchte muss musst will willst hast immer nie hier dort gut heute morgen etwas nichts alle
        vom beim unter gegen ohne zwei da sei u am her still los jetzt mal ja nein dann diese dieser dieses
        waren würde konnte musste wollte
        """,
    "fr": """
        le la les de des du un une et est à en que qui dans il elle on nous vous je tu ils elles ne pas pour
        par sur avec se ce cette ces son sa ses mon ma mes ton ta tes leur leurs plus mais ou où au aux été
        être avoir ai as a sont était avait ont suis es sommes êtes très bien tout tous toute comme si quand
        y moi toi lui c' l' d' j' qu' n' s' m' t' fait peut deux aussi sans sous entre cela ça votre vos
        notre nos jamais toujours ici rien même faire dit temps après avant chez donc pourquoi quoi non oui
        me te faut
        """,
    "es": """
        el la los las de que y en un una es no por con para su se lo le al del más pero sus me ya o este
        esta sí porque muy sin sobre también hasta hay donde quien desde todo nos yo tú él ella ellos mi te
        qué cómo está están estaba fue son era tengo tiene usted eso esto ese esa ha he sólo solo cuando ser
        nada algo siempre nunca aquí dos bien
        """,
    "it": """
        il lo la gli le di che e un una uno per non con sono è del della dei delle nel nella da al alla in
        si mi ti ci vi ma come più anche io tu lui lei noi voi loro questo questa quello quella ho hai ha
        abbiamo hanno era sei cosa perché dove quando chi mio mia tuo tua suo sua molto tutto tutti se o
        sempre mai qui bene due dell' l' un' c' nell' all'
        """,
    "pt": """
        o a os as de que e em um uma é não por com para se do da dos das no na nos nas ao à mais mas eu você
        ele ela nós eles meu minha seu sua isso isto este esta está estão foi era ser ter tem tenho muito
        também já quando como onde quem porque até sem sobre só ou me te lhe foram são aqui bem dois sempre
        nunca
        """,
    "nl": """
        de het een van en in is dat op te zijn met voor niet aan er maar om hem ook als ze hij zij wij jij
        ik je u mijn jouw haar was had heb hebt heeft hebben wordt worden naar bij dan nog wat wie waar hoe
        deze dit die door over uit kan kunnen geen meer zo wel we ons onze mij jullie moet goed altijd nooit
        hier daar twee
        """,
}
_LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _language, _words in WORDS.items():
    for _word in dict.fromkeys(_words.split()):
        _LANGUAGES_OF[_word] = (*_LANGUAGES_OF.get(_word, ()), _language)

# The scripts of further languages. A script that several languages share tells them from the others only.
SCRIPTS = {
    **dict.fromkeys(WORDS, "Latin"),
    **dict.fromkeys(("zh", "ja", "lzh"), "Han/Kana"),
    **dict.fromkeys(("ru", "uk", "bg", "sr", "be"), "Cyrillic"),
    **dict.fromkeys(("ar", "fa", "ur"), "Arabic"),
    **dict.fromkeys(("hi", "mr", "ne"), "Devanagari"),
    "el": "Greek",
    "he": "Hebrew",
    "ko": "Hangul",
    "th": "Thai",
    "ka": "Georgian",
    "hy": "Armenian",
    **dict.fromkeys(("cs", "da", "fi", "hu", "no", "pl", "ro", "sv", "tr", "vi"), "Latin"),
}
NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese"} | {
    "nl": "Dutch", "zh": "Chinese", "ja": "Japanese", "el": "Greek", "he": "Hebrew", "ko": "Korean", "th": "Thai",
    "lzh": "Classical Chinese", "ru": "Russian", "uk": "Ukrainian", "pl": "Polish", "cs": "Czech", "sv": "Swedish",
    "da": "Danish", "no": "Norwegian", "fi": "Finnish", "hu": "Hungarian", "ro": "Romanian", "tr": "Turkish",
    "vi": "Vietnamese", "ar": "Arabic", "fa": "Persian", "hi": "Hindi", "bg": "Bulgarian",
}  # fmt: skip
_CODES = {name.lower(): code for code, name in NAMES.items()} | {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "zho": "zh", "chi": "zh",
    "cmn": "zh", "jpn": "ja", "rus": "ru", "deutsch": "de", "中文": "zh", "英文": "en", "英语": "en", "德语": "de",
    "文言文": "lzh",
}  # fmt: skip

# Found on sentences of known language (tests/text/test_language.py): fewer than one in a thousand is taken for another.
LEAST = 1.5  # words that speak for a language
TIMES = 3.0  # times as many as speak for the language that it should be
SHARE = 0.2  # of all words: a quoted title does not make a language
NAMED = 1.5  # times as many as speak for any other language, to be called by name
KANA = 0.3  # of all letters: a Japanese title in a Chinese text does not make it Japanese


@dataclass(frozen=True)
class Guess:
    """What a text seems to be written in. language: None where only the script is known."""

    language: str | None
    script: str

    def __str__(self) -> str:
        if self.language is not None:
            return NAMES.get(self.language, self.language)
        return "another language" if self.script == "Latin" else f"the {self.script} script"


def guess(text: str) -> Guess | None:
    """The language or at least the script of a text; None is "don't know"."""
    scripts = scripts_of(text)
    if len(scripts) != 1:
        return None
    [script] = scripts
    if script != "Latin":
        return Guess(_only_language(text, script), script)
    votes, words = _votes(text)
    best, most = max(votes.items(), key=lambda item: item[1], default=("", 0.0))
    others = max((count for language, count in votes.items() if language != best), default=0.0)
    return Guess(best if most >= max(LEAST, TIMES * others, SHARE * words) else None, script)


def guess_other(text: str, expected: str | None) -> Guess | None:
    """What a text is written in, where that is surely not the expected language (a code such as en or zh-Hans)."""
    language = re.split(r"[-_]", expected or "")[0].lower()
    scripts = scripts_of(text)
    if language not in SCRIPTS or not scripts:
        return None
    if SCRIPTS[language] not in scripts:
        return guess(text) or Guess(None, "/".join(sorted(scripts)))
    if language in WORDS and len(scripts) == 1:
        return _other_words(text, language)
    found = guess(text)
    return found if found is not None and {found.language, language} == {"zh", "ja"} else None


def _other_words(text: str, language: str) -> Guess | None:
    votes, words = _votes(text)
    own = votes.pop(language, 0.0)
    if max(votes.values(), default=0.0) < max(LEAST, TIMES * own, SHARE * words):
        return None
    (best, most), *others = votes.most_common(2)
    clear = not others or most >= NAMED * others[0][1]
    return Guess(best if clear else None, "Latin")


def _only_language(text: str, script: str) -> str | None:
    """The language that has a script to itself, or None."""
    if script == "Han/Kana":
        kana, letters = len(re.findall(r"[\u3041-\u3096\u30a1-\u30fa]", text)), sum(map(str.isalpha, text))
        return "ja" if kana >= KANA * letters else "zh"
    owners = [language for language, own in SCRIPTS.items() if own == script]
    return owners[0] if len(owners) == 1 else None


def _votes(text: str) -> tuple[Counter[str], int]:
    """How many words speak for each language, and how many words there are."""
    words = [word.replace("’", "'") for word in _WORD.findall(text.lower())]
    votes: Counter[str] = Counter()
    for word in words:
        for language in (languages := _LANGUAGES_OF.get(word, ())):
            votes[language] += 1 / len(languages)  # type: ignore[assignment]
    return votes, len(words)


def code_of(language: str) -> str:
    """zh of zh, zh-CN, zh_Hans or Chinese; what is not known here is only made shorter and lower-cased."""
    word = language.strip().lower()
    return _CODES.get(word) or _CODES.get(short := re.split(r"[-_]", word)[0], short)


def name_of(language: str) -> str:
    """German for de; a code that is not listed here names itself."""
    return NAMES.get(code_of(language), language)


class LanguageWatch:
    """Watches a stream of texts for those that are surely not in the expected language."""

    def __init__(self, expected: str | None) -> None:
        self._expected = expected
        self._lines = 0
        self.seen = self.others = 0  # texts that are not blank, and those among them in another language
        self.first: tuple[int, Guess] | None = None  # number from 1 over all that was seen, and what it is in
        self.first_text = ""

    def see(self, texts: Sequence[str]) -> list[Guess | None]:
        """Of each text, the other language that it is in; None for what may well be in the expected one."""
        found = [guess_other(text, self._expected) for text in texts]
        for number, other in enumerate(found, start=self._lines + 1):
            if other is not None and self.first is None:
                self.first, self.first_text = (number, other), texts[number - self._lines - 1]
        self._lines += len(texts)
        self.seen += sum(bool(text.strip()) for text in texts)
        self.others += sum(other is not None for other in found)
        return found
