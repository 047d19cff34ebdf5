"""Split of text into word pieces, as BERT's uncased tokenizer does, in plain Python. Used by `embedder` and by the
scripts in `embedding/`. Never raises, whatever the text."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

MAX_PIECES = 512
MAX_WORD_CHARACTERS = 100
# The end of a longer text is ignored: the first 3,000 characters hold some 512 pieces.
MAX_CHARACTERS = 8_192
CACHED_WORDS = 20_000

# The blocks that the model's authors split into single characters: CJK ideographs, neither kana nor hangul.
CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
JOINED = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")


class Splitter:
    """Vocabulary with a cache of split words. Threads may share a splitter: a lost cache entry is only computed
    again."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._longest = max(map(len, ids), default=0)
        self._cache: dict[str, Sequence[int]] = {}

    def split(self, text: str, limit: int = MAX_PIECES) -> list[int]:
        """Return the ids of the first `limit` pieces, without words that have no pieces."""
        pieces: list[int] = []
        for line in text[:MAX_CHARACTERS].split("\n"):  # by lines: the end of a long text is not needed
            for word in words(line):
                pieces_of_word = self._cache.get(word)
                pieces.extend(self._remember(word) if pieces_of_word is None else pieces_of_word)
            if len(pieces) >= limit:
                break
        return pieces[:limit]

    def _remember(self, word: str) -> Sequence[int]:
        if len(word) > MAX_WORD_CHARACTERS:
            return ()
        if len(self._cache) >= CACHED_WORDS:
            self._cache.clear()
        pieces_of_word = self._cache[word] = self._longest_first(word)
        return pieces_of_word

    def _longest_first(self, word: str) -> Sequence[int]:
        pieces = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return ()
            pieces.append(piece)
            start, prefix = end, "##"
        return pieces


def unjoined(text: str) -> str:
    """Insert a space before each capital inside a word: `getUserName` is three words, where BERT sees one."""
    return JOINED.sub(" ", text)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case without accents; each punctuation mark and ideograph is a word."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ASCII_WORD.findall(text.lower())
    spaced = "".join(map(_cleaned, text))
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_punctuation(c) else c for c in plain.lower()).split()


def _cleaned(c: str) -> str:
    if c in "\t\n\r":
        return " "
    category = unicodedata.category(c)
    if c in "\0\ufffd" or category[0] == "C":
        return ""
    if category == "Zs":
        return " "
    return f" {c} " if any(first <= ord(c) <= last for first, last in CJK) else c


def _is_punctuation(c: str) -> bool:
    return (
        33 <= ord(c) <= 47
        or 58 <= ord(c) <= 64
        or 91 <= ord(c) <= 96
        or 123 <= ord(c) <= 126
        or (unicodedata.category(c)[0] == "P")
    )
