"""What stands before the thing that a user says: "no, …", "I told you to …", "please". It tells how it is meant."""

import re
from dataclasses import dataclass

_MOST = 10
_LEAST_WORDS = 3
_POINTS_BACK = re.compile(r"\b(?:it|them|that|this|those)[.! ]*$")
_NO = re.compile(
    r"(?:no|nope|nah|nein|nee)(?:\s*[,.!:;–—-]+\s*|\s+(?=no[\s,]+no\b|no,)|\s+(?=wait\b|please\b|i\b|don't\b"
    r"|do not\b|use\b|it\b|we\b|you\b"
    r"|the\b|that\b|this\b|not\b))"
)
_SAID = re.compile(
    r"(?:(?:(?:as|like) )?i(?:'ve| have)? (?:already |just |clearly |explicitly |literally )*(?:said|told you"
    r"|asked you)"
    r"|(?:as|like) (?:i )?(?:mentioned|wrote|asked|discussed|explained|agreed))(?: (?:before|already|earlier|again"
    r"|above|twice|once|yesterday|last (?:time|week)|this morning"
    r"|(?:many|several|multiple|three) times))*(?:\s*[,:–—-]+\s*|\s+)(?:that\s+|to\s+(?=\w)|you (?:should|must)\s+)?"
    r"|ich hab(?:e)? (?:(?:doch|dir|es|dir doch|schon|bereits|ja|\w+mal|mehrfach) )*gesagt,? (?:dass )?"
    r"|wie gesagt[,:]? "
    r"|how (?:often|many times) (?:do|must|should) i .{0,40}[?!:,] "
)
_AGAIN = re.compile(r"(?:again|once more|nochmal|schon wieder)\s*[,:–—-]+\s*")
_FILLER = re.compile(
    r"(?:hm+|ok(?:ay)?|well|sorry|actually|wait|please|pls|but|so|also|hey|oh|ah|ugh|right|then|claude|just|btw|and"
    r"|thanks|all good|good|great|bitte|just so you know|as a reminder|reminder|one (?:more )?thing|side note|ach"
    r"|doch|also|aber|na ja)\b[\s,.!:;–—-]+"
)


@dataclass(frozen=True, slots=True)
class Body:
    """A sentence without its leads: as it was written, and in lower case with quotations blotted out."""

    text: str
    masked: str
    says_no: bool = False
    is_reminder: bool = False
    """It was said before, by the user's own word: whatever follows is meant as an order."""
    is_again: bool = False
    is_general: bool = False
    is_polite: bool = False
    """It says "please"."""

    def after(self, at: int) -> "Body":
        """The same from a place on."""
        return Body(
            self.text[at:],
            self.masked[at:],
            self.says_no,
            self.is_reminder,
            self.is_again,
            self.is_general,
            self.is_polite,
        )


def without_leads(text: str, masked: str) -> Body:
    """The sentence from where it says what it is about."""
    at = 0
    says_no = is_reminder = is_again = is_polite = False
    for _ in range(_MOST):
        if found := _NO.match(masked, at):
            says_no = True
        elif found := _SAID.match(masked, at):
            is_reminder = True
        elif found := _AGAIN.match(masked, at):
            is_again = True
        else:
            found = _FILLER.match(masked, at)
            is_polite = is_polite or (found is not None and found[0].startswith(("please", "pls", "bitte")))
        if not found or found.end() >= len(masked):
            break
        at = found.end()
    return Body(text[at:], masked[at:], says_no, is_reminder, is_again, is_polite=is_polite)


def telling(body: Body, at: int) -> str:
    """The sentence from a place on; all of it when what follows is too short to be understood alone: "don't do it"."""
    rest = body.text[at:]
    return body.text if len(rest.split()) < _LEAST_WORDS or _POINTS_BACK.search(body.masked, at) else rest
