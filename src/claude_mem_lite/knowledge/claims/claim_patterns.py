"""The forms of sentences that lay something down, and the words that matter in them. Read by stances."""

import re

from claude_mem_lite.lazy_regex import lazy

FILLERS = frozenset(
    """the a an our your my this that these only always just please version instead now again ever any all plain simply
    anymore more everywhere here they it is are""".split()  # noqa: SIM905
)
GENERAL = frozenset(
    "project projects repo repository codebase code everything everywhere here now always".split()  # noqa: SIM905
)
_TAKE = r"(?:use|uses|using|used|prefer|prefers|choose|chose|chosen|pick|picked|adopt|adopted|adopting|go with"
_TAKE += r"|went with|stick (?:with|to)|stay (?:with|on)|keep using|want|take|nutze|nutzen|benutze|benutzen"
_TAKE += r"|verwende|verwenden|nimm)"
_GO = r"(?:switch|switched|switching|move|moved|moving|migrate|migrated|migrating|change|changed|changing|go|going|went"
_GO += r"|convert|converted|wechsle|wechseln)"
# Where something is put, or as what: that is one place, and only one thing can be there.
_STORE = r"(?:stor|sav|persist|represent|encod|serializ)(?:e|es|ed|ing|s)?"
_KEEP = rf"(?:{_STORE}\s+(?P<role>.+?)\s+(?:as|in|into|on|under)|(?:keep|kept|hold|held)s?\s+(?P<kept>.+?)\s+as"
# What is cached somewhere is stored somewhere else.
_KEEP += r"|(?P<cached>cach(?:e|es|ed|ing)\s+.+?)\s+(?:as|in|into|on|under))"
_NOT = r"(?:do not|don['’]?t|dont|never|must not|mustn['’]t|should not|shouldn['’]t|no longer|stop|quit|not)"
FORMS: tuple[re.Pattern[str], ...] = tuple(
    lazy(form, re.I)
    for form in (
        rf"\b{_GO}\b(?P<about>[^,;]*?)\bfrom\s+(?P<drop>.+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        r"\b(?:replac\w+|swap\w*|substitut\w+)\s+(?P<drop>.+?)\s+(?:with|by|for)\s+(?P<take>.+)",
        rf"\binstead of\s+(?P<drop>[^,;]+?)\s*[,;]\s*{_TAKE}\s+(?P<take>.+)",
        rf"\b{_NOT}\s+(?:ever\s+)?{_TAKE}\s+(?P<drop>[^,;]+?)(?:\s*[,;]|\.\s|\s+but)\s*(?:{_TAKE}\s+)?"
        r"(?P<take>[^,;]+)",
        r"\bnot\s+(?P<drop>[^,;]+?)\s*,?\s+but\s+(?P<take>.+)",
        rf"\b{_TAKE}\s+(?P<take>[^;]+?)\s*,?\s+"
        r"(?:instead of|rather than|and not|not|never|no longer|statt|anstatt|nicht)"
        rf"\s+(?:{_TAKE}\s+)?(?P<drop>.+)",
        r"\b(?:prefer|prefers|choose|chose|pick|picked)\s+(?P<take>.+?)\s+over\s+(?P<drop>.+)",
        r"(?:改用|换成|使用|用)\s*(?P<take>[\w.+#-]+?)\s*[,，]?\s*(?:而不是|不要用|别用|不用|代替)\s*(?P<drop>[\w.+#-]+)",
        r"(?:不要|别|不再|禁止)(?:再)?(?:使用|用)\s*(?P<drop>[\w.+#-]+)",
        r"(?:改用|换成|改回|用回|使用|用)\s*(?P<take>[\w.+#-]+)",
        rf"\b{_NOT}\s+(?:ever\s+)?{_TAKE}\s+(?P<drop>.+)",
        r"^(?:avoid|drop|dropped|stop with)\s+(?:using\s+)?(?P<drop>.+)",
        r"\bkeine?n?\s+(?P<drop>\S+)\s+(?:mehr\s+)?(?:nutzen|verwenden|benutzen)",
        rf"\b(?:{_GO}\s+(?:back\s+|over\s+)?to|back to|zurück zu)\s+(?P<take>.+)",
        rf"\b(?:{_GO}|set|sets|setting)\s+(?P<role>[^,;]+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        rf"\b{_KEEP}\s+(?P<take>[^,;]+?)\s+"
        r"(?:instead of|rather than|and not|not|statt)\s+(?P<drop>.+)",
        rf"\b{_KEEP}\s+(?P<take>.+)",
        r"^(?P<role>.+?)\s+(?:listens? on|lives? in|defaults? to|is set to|are set to"
        r"|(?:is|are)\s+(?:stored|saved|kept|held|represented|encoded)\s+(?:in|as|on|under))\s+"
        r"(?P<take>.+)",
        rf"\b{_TAKE}\s+(?P<take>.+)",
        r"^(?P<about>.+?)\s+(?:is|are|must be|should be)\s+(?P<take>.+)",
    )
)
TAIL = lazy(
    r"\s+(?P<by>for|in|on|as|inside|within|when|für|because|since|so|with|from|by|to|until|via|and|or|but|which|that)\s+"
    r"|\s*[,;:.(!?–—](?:\s|$)|\s-\s",
    re.I,
)
PLACES = ("in", "on", "inside", "within", "when")
ABOUT = ("for", "in", "on", "as", "inside", "within", "when", "für")
NUMBER = lazy(r"v?\d[\d.]*[a-z%]{0,3}")
SEVERAL_AT_ONCE = frozenset(("matrix", "suite"))
"""Where versions stand beside each other."""


def stem(word: str) -> str:
    """A word without the ending for several."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
