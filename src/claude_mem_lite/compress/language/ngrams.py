"""N-grams of a sentence, the words that learned models weigh.

Words of code are replaced by their class, so that no weight depends on the names of one project. Pure."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"(?P<url>https?://\S+)|(?P<hash>\b(?=[a-f]*\d)[0-9a-f]{7,40}\b)|(?P<path>[\w.~-]*/[\w./~-]+|\w+\.(?:[a-z]{1,4})\b)"
    r"|(?P<code>`[^`\n]+`|\w+\(\)?|\w*[a-z][A-Z]\w*|\w+_\w+|--?[a-z][\w-]+|\w+(?:\.\w+)+|[A-Z]{2,}[A-Z0-9]*\b)"
    r"|(?P<number>\d[\d,.%]*\w*)|(?P<word>[A-Za-z]+(?:'[a-z]+)?)|(?P<mark>[?!:;→✓✅❌—–=]|->)"
)


def ngrams(text: str, prefix: str = "") -> Iterator[str]:
    """Yield the words and pairs of words of a text, names of code as their class; the first words are marked."""
    tokens = list(word_classes(text))
    for at, token in enumerate(tokens[:60]):
        yield prefix + token
        if at < 3:
            yield f"{prefix}^{token}"
        if at + 1 < len(tokens):
            yield f"{prefix}{token} {tokens[at + 1]}"
    if len(tokens) > 1:
        yield f"{prefix}^{tokens[0]} {tokens[1]}"


def word_classes(text: str) -> Iterator[str]:
    """Yield the words and marks of a text in lower case, names of code, paths and numbers as their class."""
    for found in _TOKEN.finditer(text[:600]):
        kind = found.lastgroup or "word"
        yield found[0].lower() if kind in ("word", "mark") else f"<{kind}>"
