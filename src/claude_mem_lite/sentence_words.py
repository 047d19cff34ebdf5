"""The words of a sentence, and whether it denies something. Pure."""

from functools import lru_cache

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import MAX_TITLE_LENGTH

DENIALS = frozenset(
    """not no never nor don't dont doesn't isn't aren't won't can't cannot mustn't shouldn't without avoid stop
    nicht kein keine keinen nie""".split()  # noqa: SIM905
)
WORD = lazy(r"[\w+#][\w.+#/@'’-]*[\w+#]|\w")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a sentence in order, names and versions whole."""
    return _words_of_title(text) if len(text) <= MAX_TITLE_LENGTH else _split(text)


@lru_cache(maxsize=2_048)  # what is new is held against the same titles again and again, several times each
def _words_of_title(title: str) -> tuple[str, ...]:
    return _split(title)


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.lower().replace("’", "'").rstrip(".") for word in WORD.findall(text))


def denials(text: str) -> list[str]:
    """The words of a text that deny, in order of the alphabet."""
    return sorted(word for word in words_of(text) if word in DENIALS)


def denies(text: str) -> bool:
    """Whether a text says what is not, or is not to be."""
    return not DENIALS.isdisjoint(words_of(text))
