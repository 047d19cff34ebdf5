"""What stands before the thing that a user says: "no, …", "I told you to …", "please". It tells how it is meant."""

from dataclasses import dataclass, replace

from claude_mem_lite.patterns import lazy

_MOST = 10
_LEAST_WORDS = 3
_POINTS_BACK = lazy(r"\b(?:it|them|that|this|those|your own|one|ones|another)[.! ]*$")
_NO = lazy(
    r"(?:wrong again|(?:no|nope|nah|nein|nee)(?: again)?)(?:\s*[,.!:;–—-]+\s*|\s+(?=no\b)|\s+(?=wait\b|please\b|i\b"
    r"|don't\b"
    r"|do not\b|use\b|it\b|we\b|you\b"
    r"|the\b|that\b|this\b|not\b))"
)
_SAID = lazy(
    r"(?:(?:(?:as|like) )?i(?:'ve| have)? (?:already |just |clearly |explicitly |literally )*(?:said|told you"
    r"|asked you)|(?:already )?told you"
    r"|(?:as|like) (?:i )?(?:mentioned|wrote|asked|discussed|explained|agreed))(?: (?:before|already|earlier|again"
    r"|above|twice|once|yesterday|last (?:time|week)|this morning"
    r"|(?:many|several|multiple|three) times))*(?:\s*[,:–—-]+\s*|\s+)(?:that\s+|to\s+(?=\w)|you (?:should|must)\s+)?"
    r"|ich hab(?:e)? (?:(?:doch|dir|es|dir doch|schon|bereits|ja|\w+mal|mehrfach) )*gesagt,? (?:dass )?"
    r"|wie gesagt[,:]? "
    r"|how (?:often|many times) (?:do|must|should) i .{0,40}[?!:,] "
)
_AGAIN = lazy(
    r"(?:again|once more|once and for all|(?:for )?the (?:last|second|third|\w+th) time(?: now)?|(?:second|third"
    r"|last) time"
    r"(?: now)?|nochmal|schon wieder|zum letzten mal|zum \w+ten mal)\s*[,:–—-]+\s*"
)
# How somebody speaks who sees the agent do it wrong; nothing that a title should tell.
_ANNOYED = lazy(
    r"(?:je+z+|jeesh|geez|ffs|omg|omfg|wtf|argh+|a+rgh|dude|man|bro|bruh|seriously|come on|christ|jesus"
    r"|damn(?: it)?|dammit"
    r"|sigh|oh (?:my god|come on|man)|(?:oh )?for (?:\w+'?s'?|the love of \w+) sake|for the love of god|good grief"
    r"|hell no"
    r"|verdammt|mensch|mann)\b[\s,.!:;–—-]+"
)
_FILLER = lazy(
    r"(?:hm+|ok(?:ay)?|well|sorry|actually|wait|please|pls|but|so|also|hey|oh|ah|ugh|right|then|claude|just|btw|and"
    r"|thanks|all good|good|great|bitte|just so you know|as a reminder|reminder|one (?:more )?thing|side note|ach"
    r"|doch|also|aber|na ja"
    r"|let's (?:go|switch|move|change)(?: back)? to [\w./-]{1,40}(?: again)?(?=\s*[,;:–—-]+\s*use\b))\b[\s,.!:;–—-]+"
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
    is_kept: bool = False
    """The user asks for it to be remembered: what it says of the agent is what the agent is to do."""
    is_complaint: bool = False
    """It asks why the agent does something."""
    is_annoyed: bool = False

    def after(self, at: int) -> "Body":
        """The same from a place on."""
        return replace(self, text=self.text[at:], masked=self.masked[at:])


def without_leads(text: str, masked: str) -> Body:
    """The sentence from where it says what it is about."""
    at = 0
    says_no = is_reminder = is_again = is_polite = is_annoyed = False
    for _ in range(_MOST):
        if found := _NO.match(masked, at):
            says_no = True
        elif found := _SAID.match(masked, at):
            is_reminder = True
        elif found := _AGAIN.match(masked, at):
            is_again = True
        elif found := _ANNOYED.match(masked, at):
            is_annoyed = True
        else:
            found = _FILLER.match(masked, at)
            is_polite = is_polite or (found is not None and found[0].startswith(("please", "pls", "bitte")))
        if not found or found.end() >= len(masked):
            break
        at = found.end()
    return Body(text[at:], masked[at:], says_no, is_reminder, is_again, is_polite=is_polite, is_annoyed=is_annoyed)


def telling(body: Body, at: int) -> str:
    """The sentence from a place on; all of it when what follows is too short to be understood alone: "don't do it"."""
    rest = body.text[at:]
    return body.text if len(rest.split()) < _LEAST_WORDS or _POINTS_BACK.search(body.masked, at) else rest
