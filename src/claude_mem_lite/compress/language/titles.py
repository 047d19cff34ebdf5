"""Short titles out of sentences, prompts and commit subjects: instruction-like, whole phrases, no final period."""

import re

from claude_mem_lite.compress.language.prose import capital, plain, sentences
from claude_mem_lite.compress.language.verbs import instruction, reported
from claude_mem_lite.models import LONGEST_TITLE
from claude_mem_lite.patterns import lazy

_GOOD_WORDS = 13
_STATEMENT_WORDS = 16
_MOST_CHARACTERS = 120

_POLITE = lazy(
    r"(?i)^(?:(?:ok(?:ay)?|great|thanks|thank you|cool|perfect|hmm+|yes|yeah|yep|no|so|and|now|then|also|alright"
    r"|right|good|hey|hi|hello"
    r"|implement the following plan|plan|on second thoughts?|coming back to[^:]{0,60}|one more thing)\b[\s,.!:;–—-]*"
    r"|(?:can|could|would|will) (?:you|we)(?: please| also| now| maybe| just| quickly| then)*\s+|please\s+|pls\s+"
    r"|let(?:'|’)?s\s+|let us\s+"
    r"|(?:we|you|i)(?: really| also| still| now)* (?:should|need to|have to|must|want to|would like to|(?:'"
    r"|’)d like to)(?: also| now| probably)*\s+"
    r"|i(?:'|’)d (?:also )?(?:like|love|want|prefer)(?: for)?(?: (?:you|us))? to\s+|i (?:would like|want"
    r"|need)(?: (?:you|us))? to\s+"
    r"|go ahead and\s+|help me(?: to)?\s+|try to\s+|make sure to\s+|your task is to\s+|(?:we|you) can\s+|just\s+"
    r"|completely\s+|also\s+)"
)
_NO_ORDER = lazy(
    r"(?i)^(?:make sure|give it|give me|take a|have a|keep in|let me|get me|set of|type of|test (?:is|was|for)"
    r"|use case|cover )"
)
_COMMIT_PREFIX = lazy(r"^(?P<type>[a-z]{2,12})(?:\((?P<scope>[^)\n]{1,60})\))?!?:\s+(?P<rest>\S.*)$")
_PLACE = lazy(r"^(?:In )?\S*[./_]\S*(?:\s\([^)]*\))?(?:\s*(?:-|–|—)\s+|:\s+)(?=[A-Z])")
_NO_OBJECT = lazy(r"^[A-Z][a-z]+ (?:in|by|with|from|for|on|at|as|and|everything|here)\b")
_PARENTHESIS = lazy(r"\s+\((?:[^()]|\([^()]*\)){0,300}\)")
_SENTENCE_TAIL = lazy(
    r"\s+(?:-|–|—)\s+|;\s+|[.?!]\s+"
    r"|, (?:which|so|and|but|since|because|where|making|allowing|giving|as|i|we|you|if|it|this|that|like)\b"
)
_ASIDE = lazy(r"\s[-–—]\s[^-–—]{3,60}\s[-–—]\s")
_CHATTER = lazy(r", (?:they|it|it's|i|i'd|we|you|because|since|as|so|this|that|but)\b")
_OPEN_END = lazy(
    r"(?:\s(?:that|which)(?: now| also)? (?:documents|explains|shows|covers|describes|includes|contains|lists|does|has"
    r"|uses|handles|checks|verifies|tests|provides|supports|allows|ensures))?"
    r"(?:\s(?:by|with|to|for|in|from|that|which|and|as|the|a|an|of|on|like))*$"
)
_COLON = lazy(r":\s+")
_SOFT_BOUNDARY = lazy(
    r"(?:, |\s)(?=(?:which|so that|because|since|when|while|where|whose|unless|after|before|instead of|rather than"
    r"|by|using|via|based on"
    r"|to (?:avoid|prevent|ensure|keep|allow|make|use|include|support|handle|accept|clarify|reflect|match)"
    r"|in order to|without|and (?:the|its|all|both|then|added?|updated?|removed?)"
    r"|for|with|in|from|into|on|as|that)\s)"
)
_DANGLING_WORDS = """
a an the and or but to of in on at for with from into by as is are was were be been that which when if it its this
these those their our your my not no than then so because while where via using per about over under between new
regardless including
i we you they he she has have had do does did will would should can could may might must only just also both all any
"""
_DANGLING = frozenset(_DANGLING_WORDS.split())
_OPERATOR = lazy(r"[=!<>+*/%&|~^→-]+")
_VAGUE = lazy(
    r"(?i)\b(?:it|this|that|them|those|these|both|same|above|below|following|everything|something|stuff|things?"
    r"|option|one|two|three"
    r"|issues?|bugs?|problems?|changes?|fix(?:es)?|errors?|comments?|feedback|suggestions?|files?|code|tests?|items?"
    r"|points?|findings?|reviews?|address|follow-?ups?|critical|minor|various|misc|works?|working|correctly|properly|successfully|verify|verified)\b"
)
_EMPTY_SUBJECT = lazy(
    r"(?i)(?:initial commit|first commit|wip|checkpoint|save|updates?|merge (?:branch|pull|remote|origin).*)\W*$"
)
_CONTENT_WORD = lazy(r"[A-Za-z_][\w./:-]{2,}|\d+\w*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def shorten(text: str, words: int = _GOOD_WORDS) -> str:
    """A phrase of about `words` words at most, cut where it still reads as a whole."""
    text = _ASIDE.sub(" ", _PARENTHESIS.sub("", text)).strip(" .,;:!-–—\t")
    text = (sentences(text) or [""])[0].rstrip(".?! ")
    # A phrase that is a little long but whole reads better than one cut short.
    if _fits(text, words) or (_fits(text, words + 5) and len(text) <= 105):
        return text
    for boundary, most in ((_SENTENCE_TAIL, words + 3), (_SOFT_BOUNDARY, words), (_COLON, words)):
        cuts = [found.start() for found in boundary.finditer(text)]
        fitting = [at for at in cuts if len(text[:at].split()) >= 4 and _fits(text[:at], most)]
        if fitting:
            return _without_dangling(text[: fitting[-1]])
    return _without_dangling(" ".join(text.split()[: words + 3])[:_MOST_CHARACTERS].rsplit(" ", 1)[0])


def cut(text: str, words: int) -> str:
    """The first words of a line that is no sentence, such as an error."""
    kept = text.split()[:words]
    while len(" ".join(kept)) > _MOST_CHARACTERS and len(kept) > 1:
        kept.pop()
    return _without_dangling(" ".join(kept)[:_MOST_CHARACTERS])


def without_place(sentence: str) -> str:
    """A sentence without the file it begins with: "src/cart.py: Added a total" -> "Added a total"."""
    return _PLACE.sub("", sentence)


def from_report(sentence: str) -> str:
    """A title from a sentence that reports work ("I've added X" -> "Add X"), or '' when it reports none."""
    title = reported(without_place(sentence))
    if " " not in title.strip() or _NO_OBJECT.match(title):
        return ""
    return _OPEN_END.sub("", capital(shorten(title)))


def from_statement(sentence: str) -> str:
    """A title from a sentence that states how something is now or was found to be."""
    return capital(shorten(sentence, _STATEMENT_WORDS))


def from_prompt(prompt: str) -> str:
    """A title from a prompt that gives an instruction in its first sentences, or ''."""
    lines = [line.strip() for line in prompt.split("\n") if line.strip()]
    for sentence in [part for line in lines[:3] for part in sentences(plain(line))][:4]:
        stripped = _without_politeness(sentence)
        if _NO_ORDER.match(stripped):
            continue
        if found := instruction(stripped.rstrip("?!. ")):
            order = _CHATTER.split(found, maxsplit=1)[0]
            title = capital(shorten(order if len(order.split()) > 3 else found))
            return title if title.count('"') == found.count('"') or title.count('"') > 1 else ""
    return ""


def from_commit(subject: str) -> tuple[str, str]:
    """The title of a commit's subject without its conventional prefix, and that prefix ('fix', 'feat', …)."""
    subject = plain(subject)
    found = _COMMIT_PREFIX.match(subject)
    if not found:
        return capital(subject.rstrip(". "))[:LONGEST_TITLE], ""
    rest = capital(found["rest"].rstrip(". "))
    scope = found["scope"] or ""
    if scope and scope.lower() not in rest.lower():
        rest = f"{rest} ({scope})"
    return rest[:LONGEST_TITLE], found["type"]


def weight(title: str) -> float:
    """How much a title tells: its words that mean something, less what only the moment could explain."""
    if _EMPTY_SUBJECT.match(title):
        return 0.0
    words = {word.lower() for word in _CONTENT_WORD.findall(title)} - _DANGLING
    telling = [word for word in words if not _VAGUE.fullmatch(word)]
    marked = sum(1 for word in telling if re.search(r"[_./:\d]|[a-z][A-Z]", word)) * 0.5
    penalty = (
        1.0 if re.search(r"(?i)\b(?:it|this|that|them|those|these|both|following|same|above|there)\b", title) else 0.0
    )
    # "Add it to the list": the thing itself is missing.
    penalty += (
        2.0 if re.match(r"(?i)\w+ (?:it|this|that|them|those|these|both|all|what|me|us)\b(?! \w+s\b)", title) else 0.0
    )
    return min(len(telling), 7) + min(marked, 1.0) - penalty


def _without_politeness(sentence: str) -> str:
    for _ in range(6):
        stripped = _POLITE.sub("", sentence, count=1)
        if stripped == sentence:
            break
        sentence = stripped
    return sentence


def _fits(text: str, words: int) -> bool:
    return len(text) <= _MOST_CHARACTERS and len(text.split()) <= words and text.count('"') % 2 == 0


def _without_dangling(text: str) -> str:
    if text.count('"') % 2:
        before = text[: text.rindex('"')]
        text = before if len(before.split()) >= 4 else text.replace('"', "")
    for opening, closing in ("[]", "()"):
        if text.count(opening) > text.count(closing):
            text = text[: text.rindex(opening)]
    parts = text.split()
    while len(parts) > 2 and (_OPERATOR.fullmatch(parts[-1]) or parts[-1].strip(".,;:()'\"").lower() in _DANGLING):
        parts.pop()
    return " ".join(parts).rstrip(" .,;:!-–—(")
