"""Recognises a prompt that asks about the project's past or state: it is answered like a search. Pure."""

import re

MAX_LENGTH = 400
"""A longer prompt tells what to do, or pastes something, and asks in passing."""
# A dot within a name ends nothing.
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=[^\s.!?]))+[.!?]*")
_REMINDED = r"(?:remind me|(?:do|can) you (?:still )?(?:remember|recall))\b(?!\s+to\b)[,:]?\s+"
_PREFACE = rf"(?:{_REMINDED}|(?:and|but|so|ok|okay|hm+|well|also|again|wait|actually|tell me)\b[,:]?\s+)*"
_OPENING = re.compile(rf"(?i)\s*{_PREFACE}")
# What is asked of the agent is a task; "how do I" may be one about the project.
_REQUEST = re.compile(
    r"(?i)^(?:(?:did|have)\s+you|(?:can|could|would|will|shall|do|are|may)\s+(?:you|i|we start|we begin))\b"
    r"|\bplease\b|\b(?:can|could|would|will) you\b|\bwhat do you (?:think|mean|suggest|need|want)\b"
    r"|\bhow about\b|\bwhat about\b|\bwhat if\b|^why (?:not|don'?t (?:you|we))\b|\bwhat(?:'s| is) next\b"
)
_ASKED = re.compile(
    rf"(?i)(?:^|[,;:–-]\s*|\band\s+){_PREFACE}(?:in |on |at |to |for |from |since |with |by )?"
    r"(?:what|which|why|how|when|where|who|whose|was|were|is|are|does|did|do|has|have|had|may|must|should)\b"
)
# What begins so asks about the past, with a question mark or without.
_PLAINLY_ASKED = re.compile(
    rf"(?i)\s*{_PREFACE}(?:{_REMINDED}|(?:why|which|(?:what|when|where|who|how)\s+(?:did|was|were)"
    r"|(?:did|have)\s+(?:i|we)\s+ever)\b)"
)


def is_question(prompt: str) -> bool:
    """Return whether a prompt asks for what is known: a short one that ends with a question and requests nothing."""
    told = without_opening(prompt)
    if len(told) > MAX_LENGTH or _REQUEST.search(told):
        return False
    if is_plainly_asked(prompt):
        return True
    if not told.endswith("?") and not re.search(r"\?[\s\w,.'-]{0,40}$", told):
        return False
    return any(one.endswith("?") and _ASKED.search(one.lstrip()) for one in _SENTENCE.findall(told))


def is_plainly_asked(prompt: str) -> bool:
    """Return whether a prompt is one sentence that begins as only a question about the past does: few words of it
    will do."""
    told = prompt.strip()
    return _PLAINLY_ASKED.match(told) is not None and len(_SENTENCE.findall(told)) == 1


def without_opening(prompt: str) -> str:
    """Return a prompt without the words that only lead to its question: "do you remember", "remind me"."""
    return _OPENING.sub("", prompt, count=1).strip()
