"""What is no lesson in English: questions, conditions, answers, what holds for one step, how a program behaves."""

from claude_mem_lite.compress.language.verbs import BASES
from claude_mem_lite.patterns import lazy

_QUESTION = lazy(
    r"(?:(?:can|could|would|will|shall|should|do|does|did|is|are|was|were|has|have|am|isn't|aren't|don't|doesn't|didn't"
    r"|couldn't|shouldn't|can't|won't) (?:you|we|i|it|the|this|that|these|there|they|he|someone|anyone|my|our)\b"
    r"|(?:what|how|why|which|who|where|when is|when does|when do|any|maybe|perhaps|wonder|i wonder|i'm wondering"
    r"|wondering|not sure|i guess|for now)\b)"
)
_CONDITION = lazy(r"(?:if|when(?! you \w+)|once|unless|in case|while|although|even if|then|because|since)\b")
_ANSWER = lazy(r"(?:yes|yeah|yep|yup|sure|exactly|correct|agreed)\b|\d+[.)]?(?:\s|$)")
_ASKS_AT_LAST = lazy(r"[,.;–—-] (?:any (?:ideas?|clues?|thoughts?|hints?)|ideas|thoughts|how come|what now)\b[^,]*$")
# A question that is an order all the same: "could you please always …", "can you stop adding …?".
POLITE_ORDER = lazy(
    r"(?:can|could|would|will) you (?:(?:please|pls|maybe|just|also) )*(?=(?:always|never|stop \w+ing|avoid|not)\b)"
    r"|(?:why|how come) (?:do|did|are|must) (?=you (?:keep|always|still) \w+)"
)
# What others say is not the user's own word.
_HEARSAY = lazy(
    r"(?:(?:the|our|my|a) )?(?:\w+ )?(?:spec|docs?|documentation|readme|error|log|output|message|reviewer|ticket"
    r"|customer|client|manager"
    r"|colleague|manual|he|she|they|someone|somebody) (?:says?|said|wrote|writes|claims?|asks?|asked|told|reads)\b"
)
_THIS_ONCE = lazy(
    r"\b(?:yet|for now|for the moment|for this one|right now|this time|at the moment|today|tomorrow|until (?:i|we"
    r"|then|it|that|this|he|she|they|ci|the)\b"
    r"|for (?:a|one|the next) (?:sec|second|minute|min|moment|bit|while|few)\w*|(?:just )?this once|hold on"
    r"|[,;–—-] (?:i'm|im|i am) \w+ing|[,;–—-] i (?:still )?(?:want|need|have) (?:to|it|them)\b|[,;–—-] let me\b"
    r"|[,;–—-] i(?:'ll| will)\b|for later\b|somehow\b"
    r"|is (?:down|offline|busy|locked)\b|for this (?:call|run|test|task|pr|commit|page|feature|change)\b"
    r"|the (?:second|third|left|right) \w+"
    r"|before i|just (?:tell|let|show|validate|check|explain|list|answer|look|review|report)|only (?:tell|check|list"
    r"|validate|look)|anything(?! (?:in|under|inside|outside|below|of|from|that|else in)\b)|any (?:code|changes?"
    r"|files?)$|(?:on|by) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?=.*(?:please|can you))|please (?:check"
    r"|look|see|verify))"
)
_UNSAID = lazy(
    r"(?:i (?:haven't|have not|hadn't|didn't|did not|don't|do not|can't|cannot|am|'m|was|will|'ll|think|guess|only"
    r"|just|still)\b"
    r"|i'(?:m|ll|ve)\b|(?:that|this|it)(?:'s| is| was| works| will| looks)?(?: \w+)? (?:fine|ok|okay|good|right"
    r"|correct|all"
    r"|it|needed|works|enough|intended|expected|great|perfect|better)\b|not (?:yet|really|needed|necessary|now"
    r"|that|bad)\b"
    r"|thank|problem|worries|need\b|idea|nothing|nobody|never ?mind|there (?:is|are|was|were)|(?:it|that|this"
    r"|you) (?:just |only )?(?:\w{3,}ed|broke|went|got|made|did)\b|it (?:doesn't"
    r"|does not|still"
    r"|didn't|fails|was)|still\b|the (?:\w+ )?(?:error|test|build|page|issue|problem|bug)s? (?:is|are|still|does"
    r"|do|did|fail)"
    r"|(?:try|continue|show|explain|check|look|tell|go ahead|go on|do it|do that|run it|wait|fix|read|open|keep going"
    r"|leave it|leave that|let me|let's (?:see|wait|leave|continue))\b)"
)
BROKEN = lazy(
    r"\b(?:fail(?:s|ed|ing)?|broken|breaks|errors?|bugs?|crash\w*|(?:does|do|did) not work|(?:does|do|did"
    r"|is)n't work\w*"
    r"|not working|missing|problem)\b"
)
VERBS = BASES | frozenset(
    (
        "answer",
        "ask",
        "avoid",
        "call",
        "commit",
        "leave",
        "name",
        "pick",
        "prefer",
        "rebase",
        "remember",
        "speak",
        "tell",
    )
)
"""What an order begins with."""
WHENEVER = lazy(r"\b(?:if|when|whenever|once|unless|in case)\b")


def is_no_order(text: str) -> bool:
    """Whether a sentence asks, answers, or says on what condition something happens."""
    is_asked = text.rstrip(" )\"'").endswith("?") or _QUESTION.match(text) is not None
    is_asked = is_asked or _ASKS_AT_LAST.search(text) is not None
    return is_asked or any(pattern.match(text) for pattern in (_CONDITION, _ANSWER, _HEARSAY))


def is_for_once(text: str) -> bool:
    """Whether it holds for one step only."""
    return _THIS_ONCE.search(text) is not None


def is_unsaid(text: str) -> bool:
    """Whether what follows a "no" teaches nothing: an approval, an answer, a report, a step to take."""
    return _UNSAID.match(text) is not None
