"""Whether a text gives orders to the agent that reads it, as planted ones do. Pure; asked of every text that others
wrote before it becomes a memory.

It goes by form and cannot be complete: what others wrote is given to nobody unasked in any case. Here is decided what
is not even found by search before the user has seen it, so ordinary documentation must pass: "you must set a password"
and "always use HTTPS" are no orders to an agent."""

import unicodedata

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.agent_directives import DUTIES
from claude_mem_lite.safety.injection_patterns import MARKS, SENTENCES

_MAX_READ_LENGTH = 40_000
_MANY_HIDDEN = 3

# What cannot be seen and says something all the same: tags that spell letters, and marks that turn writing around.
_SPELLING = lazy("[\U000e0020-\U000e007e]")
_TURNING = lazy("[\u202a-\u202e\u2066-\u2069]")
_UNSEEN = lazy("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_INSIDE_A_WORD = lazy("(?<=[A-Za-z])[\u00ad\u200b-\u200d\u2060\ufeff](?=[A-Za-z])")
_EMPHASIS = lazy(r"[*`_~]{1,3}(?=\w)|(?<=\w)[*`_~]{1,3}(?!\w)")
_JOINED = lazy(r"(?<=[^\W\d_])[-_./+]{1,2}(?=[^\W\d_])")
_MIXED = lazy(r"\w*(?:[A-Za-z][\u0370-\u04ff]|[\u0370-\u04ff][A-Za-z])\w*")
_LOOK_ALIKE = str.maketrans(
    "асеоріхуѕјһԁԛԝАВЕКМНОРСТХІЅЈοαειρυνκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aceopixysjhdqwABEKMHOPCTXISJoaeipuvkABEZHIKMNOPTYX"
)
_MARKED = lazy("(?<=[A-Za-z])[\u0300-\u036f]+")
_WIDE = lazy(r"\s{2,}")
_LETTERS = lazy(r"(?<!\S)\w(?: \w)+(?!\S)")
_SPACED_OUT = lazy(r"(?<!\S)\w(?: \w){4,}(?!\S)")


def looks_like_instructions(text: str) -> str:
    """Why a text is taken for orders to an agent; '' when it is not."""
    return _why(text, attacks_only=False)


def looks_like_an_attack(text: str) -> str:
    """The same for what is said to be the user's own words: only what nobody writes to their own agent counts."""
    return _why(text, attacks_only=True)


def head_and_tail(text: str, most: int) -> str:
    """The beginning and the end of a text that is longer than is read of it."""
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-(most // 2) :]}"


def _why(text: str, *, attacks_only: bool) -> str:
    text = head_and_tail(text, _MAX_READ_LENGTH)
    if _SPELLING.search(text) or _TURNING.search(text) or len(_INSIDE_A_WORD.findall(text)) >= _MANY_HIDDEN:
        return "has hidden characters"
    plain = _plain(text)
    lowered = plain.lower()
    for mark in MARKS:
        if mark.fits(plain, lowered):
            return mark.reason
    flat = " ".join(_EMPHASIS.sub("", plain).split())
    written = [flat]
    if _JOINED.search(flat):
        written.append(_JOINED.sub(" ", flat))  # `docs/ignore-all-previous-instructions.md`
    if _SPACED_OUT.search(flat):
        # Two spaces may stand between words, so it is read before they are taken for one.
        spaced = _LETTERS.sub(lambda found: found[0].replace(" ", ""), _WIDE.sub("  ", _EMPHASIS.sub("", plain)))
        written.append(" ".join(spaced.split()))
    if bare := _without_marks(flat):
        written.append(bare)
    pairs = [(one, f" {one.lower()}") for one in written]
    for form in (*SENTENCES, *DUTIES):
        if (form.is_attack or not attacks_only) and any(form.fits(*pair) for pair in pairs):
            return form.reason
    return ""


def _without_marks(text: str) -> str:
    """The text without what is put on its letters, where there is any; ''."""
    if text.isascii():
        return ""
    bare = _MARKED.sub("", unicodedata.normalize("NFD", text))
    return bare if bare != text else ""


def _plain(text: str) -> str:
    """The text as it is read: one way of writing, and nothing in it that cannot be seen."""
    if text.isascii():
        return text
    seen = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).replace("’", "'").replace("‘", "'")
    return _MIXED.sub(lambda found: found[0].translate(_LOOK_ALIKE), seen)
