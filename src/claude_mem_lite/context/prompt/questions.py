"""Recognises a prompt that asks about the project's past or state: it is answered like a search. Pure."""

import re

MAX_LENGTH = 400
"""A longer prompt tells what to do, or pastes something, and asks in passing."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_PREFACE = r"(?:(?:and|but|so|ok|okay|hm+|well|also|again|wait|actually|remind me|tell me|do you remember)\b[,:]?\s+)*"
# What is asked of the agent is a task; "how do I" may be one about the project.
_REQUEST = re.compile(
    rf"(?i)^\s*{_PREFACE}(?:can|could|would|will|shall|do|did|are|have|may)\s+(?:you|i|we start|we begin)\b"
    r"|\bplease\b|\b(?:can|could|would|will) you\b|\bwhat do you (?:think|mean|suggest|need|want)\b"
    r"|\bhow about\b|\bwhat about\b|\bwhat if\b|^\s*why (?:not|don'?t (?:you|we))\b|\bwhat(?:'s| is) next\b"
)
_ASKED = re.compile(
    rf"(?i)(?:^|[,;:–-]\s*|\band\s+){_PREFACE}(?:in |on |at |to |for |from |since |with |by )?"
    r"(?:what|which|why|how|when|where|who|whose|was|were|is|are|does|did|do|has|have|had|may|must|should)\b"
)


def is_question(prompt: str) -> bool:
    """Return whether a prompt asks for what is known: a short one that ends with a question and requests nothing."""
    told = prompt.strip()
    if not told.endswith("?") and not re.search(r"\?[\s\w,.'-]{0,40}$", told):
        return False
    if len(told) > MAX_LENGTH or _REQUEST.search(told):
        return False
    return any(one.endswith("?") and _ASKED.search(one.lstrip()) for one in _SENTENCE.findall(told))
