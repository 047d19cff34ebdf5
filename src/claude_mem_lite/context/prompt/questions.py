"""Recognition of prompts that ask about the past or state of the project, and are answered like a search. Pure."""

import re

MAX_LENGTH = 400
"""Maximum length of a question: a longer prompt gives a task, or pastes text, and asks in passing."""
# A dot within a name does not end a sentence.
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=[^\s.!?]))+[.!?]*")
_REMINDED = r"(?:remind me|(?:do|can) you (?:still )?(?:remember|recall))\b(?!\s+to\b)[,:]?\s+"
_PREFACE = rf"(?:{_REMINDED}|(?:and|but|so|ok|okay|hm+|well|also|again|wait|actually|tell me)\b[,:]?\s+)*"
_OPENING = re.compile(rf"(?i)\s*{_PREFACE}")
# A request to the agent is a task; "how do I" may ask about the project.
_REQUEST = re.compile(
    r"(?i)^(?:(?:did|have)\s+you|(?:can|could|would|will|shall|do|are|may)\s+(?:you|i|we start|we begin))\b"
    r"|\bplease\b|\b(?:can|could|would|will) you\b|\bwhat do you (?:think|mean|suggest|need|want)\b"
    r"|\bhow about\b|\bwhat about\b|\bwhat if\b|^why (?:not|don'?t (?:you|we))\b|\bwhat(?:'s| is) next\b"
)
_ASKED = re.compile(
    rf"(?i)(?:^|[,;:–-]\s*|\band\s+){_PREFACE}(?:in |on |at |to |for |from |since |with |by )?"
    r"(?:what|which|why|how|when|where|who|whose|was|were|is|are|does|did|do|has|have|had|may|must|should)\b"
)
# These openings ask about the past, even without a question mark.
_PLAINLY_ASKED = re.compile(
    rf"(?i)\s*{_PREFACE}(?:{_REMINDED}|(?:why|which|(?:what|when|where|who|how)\s+(?:did|was|were)"
    r"|(?:did|have)\s+(?:i|we)\s+ever)\b)"
)


def is_question(prompt: str) -> bool:
    """Return whether a prompt asks for knowledge: a short prompt that ends with a question and requests nothing."""
    question = without_opening(prompt)
    if len(question) > MAX_LENGTH or _REQUEST.search(question):
        return False
    if is_plainly_asked(prompt):
        return True
    if not question.endswith("?") and not re.search(r"\?[\s\w,.'-]{0,40}$", question):
        return False
    return any(sentence.endswith("?") and _ASKED.search(sentence.lstrip()) for sentence in _SENTENCE.findall(question))


def is_plainly_asked(prompt: str) -> bool:
    """Return whether a prompt is a single sentence that opens like a question about the past; few words are enough."""
    question = prompt.strip()
    return _PLAINLY_ASKED.match(question) is not None and len(_SENTENCE.findall(question)) == 1


def without_opening(prompt: str) -> str:
    """Return a prompt without the words before its question: "do you remember", "remind me"."""
    return _OPENING.sub("", prompt, count=1).strip()
