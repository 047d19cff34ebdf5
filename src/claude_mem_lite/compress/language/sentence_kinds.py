"""What a sentence of a closing message is: a report, a cause, a decision, a next step, or just talk."""

import re

from claude_mem_lite.compress.language.acknowledgements import acknowledges
from claude_mem_lite.compress.language.agent_duties import SPEAKS_OF_AN_AGENT
from claude_mem_lite.compress.language.instructions import looks_like_instructions
from claude_mem_lite.patterns import lazy

_ORDER = lazy(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|all|earlier|instructions?|rules?)\b"
    r"|\b(?:you|assistant|claude)\b.{0,20}\b(?:must|should|shall|have to)\b.{0,10}\b(?:always|never|now|at once)\b"
    r"|\b(?:ai|coding|language) (?:assistant|agent|model)s?\b|\bsystem (?:prompt|message|reminder)\b"
    r"|^\W*(?:system|assistant|human|user|important)\s*:|</?(?:system|assistant|human|user|claude)"
)


def _begins(*phrases: str) -> re.Pattern[str]:
    return lazy(rf"(?i)^(?:{'|'.join(phrases)})")


def _has(*phrases: str) -> re.Pattern[str]:
    return lazy(rf"(?i)(?:{'|'.join(phrases)})")


_TALK = _begins(
    r"would you", r"do you", r"did you", r"want me", r"shall i", r"let me", r"feel free",
    r"if you(?:'d| would)? (?:like|want|prefer|need)",
    r"i can (?:also|now|help|then)", r"i could", r"happy to", r"just (?:say|tell)",
    r"please (?:let|tell|confirm|review)", r"ready (?:to|for)\b",
    r"here's", r"here (?:is|are)", r"below (?:is|are)", r"i'll", r"i will now", r"i'm going to", r"now i\b",
    r"now let", r"looking at",
    r"(?:good|great|excellent) (?:idea|question|point|catch|thinking|news|call)", r"thanks", r"thank you", r"sorry",
    r"ah\b", r"hmm",
    r"you're (?:absolutely |totally )?(?:right|welcome|correct)",
    r"(?:that|this)(?:'s| is) (?:a |an )?(?:right|correct|good|great|excellent|fair|nice|interesting)\b",
    r"no response requested", r"api error", r"i see\b", r"i understand", r"sounds good",
    r"to (?:clarify|answer|summarize)\b", r"sources?:",
    r"options?:", r"for example", r"what (?:do|would) you", r"which (?:one|option|approach)", r"stopped\b", r"got it",
    r"(?:try|please try) (?:it|again|starting|running)\b", r"you can (?:now )?(?:try|test|run|see|also)",
    r"i (?:think|believe|hope)\b.*\?",
    r"is there anything", r"does (?:this|that)", r"makes sense", r"i (?:need|would need) (?:more|your|to know)",
    r"could you",
    r"i've (?:read|reviewed|looked|checked|analyzed|got)\b", r"(?:ok|okay|yes|no|sure|understood|right)[,.! ]*$",
    r"agreed\b", r"claude code\b.{0,40}$", r"(?:good|great|perfect|excellent|nice|awesome|cool)\s*[-–—!,:]\s",
    r"now for\b",
)  # fmt: skip
_TO_THE_USER = _has(
    r"\byour call\b", r"\bup to you\b", r"\blet me know\b", r"\bfeel free\b",
    r"\bif you(?:'d| would) (?:like|prefer)\b",
    r"\b(?:as )?you(?:'ve)? (?:just |can |already )*(?:saw|see|seen|typed|pasted|mentioned|asked|said|noticed)\b",
    r"\byou were (?:right|correct)\b",
)  # fmt: skip
_CHECKED = (
    r"(?:tests?|builds?|lint(?:ing|er)?|checks?|code|everything|type ?checks?|ci|(?:test )?suite|project|formatting)"
)
_CHECKS_PASS = lazy(
    rf"(?i)^(?:now |and )?(?:(?:all|the|both|every|unit|integration|existing|full|new|\d+)\s+)*{_CHECKED}"
    rf"(?:(?:,| and|, and)\s+(?:the\s+)?(?:unit |integration )?{_CHECKED})*"
    r"\s+(?:(?:all|now|still|is|are|also|have|has)\s+)*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|work(?:s|ing)?|clean"
    r"|green|compiles?|builds?|successful)\b.{0,60}$"
)
_TICKED = lazy(
    rf"(?i)^(?:(?:all|unit|integration|full)\s+)*{_CHECKED}\s*:\s*\W{{0,3}}\s*(?:all |no |0 )?"
    r"(?:pass\w*|clean|ok|green|issues?|errors?|success\w*)?$"
)
_WORK = (
    r"(?:changes?|tasks?|work|implementation|fix(?:es)?|features?|plan|steps?|items?|points?|issues?|bugs?|everything|it"
    r"|this|refactor(?:ing)?|clean-?up|updates?|tests?|code|migration)"
)
_THE = r"(?:(?:all|the|both|every|these|those|your|requested|planned|of|new|\d+|\w+ion)\s+)"
_ALL_IN_PLACE = lazy(
    rf"(?i)^{_THE}*{_WORK}(?:(?:,| and|, and)\s+(?:the\s+)?{_WORK})*"
    r"\s+(?:(?:is|are|has|have|been|was|were|now|all|fully|successfully|should be)\s+)+"
    r"(?:complete[d]?|done|implemented|verified|in place|ready|working|finished|applied|made|fixed|addressed|resolved"
    r"|committed|good to go)(?:,? (?:and|successfully|now|with|all) ?[\w ]{0,40})?$"
    r"|^(?:i|we)(?:'ve| have)? (?:now |successfully )?(?:fixed|implemented|completed|made|done|finished|addressed"
    rf"|updated) {_THE}+{_WORK}$"
    r"|^(?:(?:i|we)(?:'ve| have)? )?(?:found|identified|fixed|resolved)(?: and (?:fixed|resolved))? the (?:root )?"
    r"(?:cause|issue|bug|problem)(?: of the \w+)?$"
)
_CAUSE = _has(
    r"^(?:the )?(?:root )?(?:cause|issue|problem|bug)\b[^.:]{0,20}: ",
    r"\broot cause", r"\b(?:the|its|main|actual|real) (?:cause|culprit|reason)\b", r"\bcaused by\b", r"\bbecause\b",
    r"\bdue to\b",
    r"\bturn(?:s|ed) out\b", r"\b(?:that|this|which) (?:was|is) why\b", r"\bstem(?:s|med) from\b",
    r"\bas a result of\b",
    r"\b(?:the|this) (?:issue|problem|bug|error|failure|crash|leak|tests?)s? (?:was|is|were|came|comes|happened"
    r"|occurred|fail(?:s|ed)|stems?)\b",
)  # fmt: skip
_FINDING = _has(
    r"^(?:the )?(?:root )?(?:cause|issue|problem|bug)\b[^.:]{0,20}: ",
    r"\broot cause", r"\b(?:the|actual|real) cause\b", r"\bcaused by\b", r"\bturn(?:s|ed) out\b", r"\bculprit\b",
    r"\bfound (?:that|the (?:bug|issue|problem|cause))", r"\bthat was a bug\b", r"\bfail(?:s|ed|ing) because\b",
    r"\bhappen(?:s|ed) because\b",
    r"\bthe (?:actual |real |main |core |underlying )?(?:issue|problem|bug) (?:was|is) (?:that|in|caused|a|the"
    r"|likely|not)\b",
    r"\bmisdiagnos", r"^(?:i )?found (?:it|the|a|an)\b", r"\bthe key (?:insight|difference|point) is\b",
    r"\bthe reason (?:is|was|why)\b",
)  # fmt: skip
_DECIDED = _has(
    r"^decision\b", r"\bdecided (?:to|on|against|not)\b",
    r"\b(?:i|we) (?:have )?(?:also )?(?:decided|chose|opted|agreed|picked|went with)\b",
    r"^(?:decided|chose|opted|picked|went with|settled on)\b", r"\bthe decision (?:was|is|to)\b", r"\bsettled on\b",
    r"\bopted (?:for|to)\b",
    r"\b(?:we|i)(?:'ll| will) (?:use|go with|keep|stick (?:with|to))\b", r"\bchose .{2,80} over\b",
    r"\bwas chosen (?:over|because|since|to)\b",
    r"^(?:(?:i|we)\s+)?(?:deliberately|intentionally)\b", r"\bgoing with\b",
)  # fmt: skip
_RATHER = _has(r"\binstead of\b", r"\brather than\b", r"\bas opposed to\b", r"\bin favou?r of\b")
_CHOICE = _begins(
    r"(?:i|we|i've|used?|using|kept|keep|stored?|switched|moved|made|put|picked|replaced|implemented|wrote|set"
    r"|avoid(?:ed)?|prefer(?:red)?)\b"
)
_WHY = _has(
    r"\bbecause\b", r"\bsince\b", r"\bso that\b", r"\bso (?:the|it|we|they|that)\b",
    r"\bto (?:avoid|keep|prevent|ensure|allow|reduce)\b",
    r"\bas (?:it|this|the)\b", r"\bdue to\b", r"\bwhich (?:avoids|keeps|prevents|lets|allows|is)\b",
)  # fmt: skip
_NEXT = _has(
    r"^next(?: steps?| up)?\s*[:,-]", r"^to-?dos?\b\s*[:(-]", r"^still (?:to do|open|missing|needed|left|pending)\b",
    r"^remaining\b(?! \S+ (?:usages?|references?))",
    r"^left to do\b", r"^follow[- ]?ups?\b",
    r"^not (?:yet )?(?:done|implemented|covered|addressed|fixed|included)\b", r"^(?:pending|outstanding)\b",
    r"^open (?:issue|question|item|point)s?\b",
    r"\bstill (?:needs?|has to|have to|missing|outstanding|unresolved|failing|fails|broken|to be done)\b",
    r"\bremains? (?:to be|open|unresolved|undone|failing|unfixed)\b", r"\byet to be\b",
    r"\b(?-i:TODO)\b(?! tool|s? list|s? in\b)",
    r"\b(?:should|must|needs? to|will need to|has to|have to) (?:be )?\w+(?: \S+){0,12} (?:(?:next|later"
    r"|afterwards)(?=[.,;]|$)|in a follow[- ]?up\b|before (?:merging|the release|releasing|deploying|shipping)\b)",
    r"\bleft (?:for (?:later|a follow[- ]?up|future|next)|as a follow[- ]?up)\b",
    r"\bin a (?:separate|future|follow[- ]?up) (?:pr|change|commit|session|step)\b",
    r"\byou(?:'ll| will)? (?:still )?need to\b",
    r"^next,? (?:i|we|you|step|add|write|implement|fix|run|test|up|is|comes)\b",
    r"\bthe next steps? (?:is|are|would be|will be)\b",
    r"\b(?:not yet|haven't been|hasn't been|not been|haven't|hasn't) (?:implemented|done|tested|covered|committed"
    r"|pushed|merged|deployed|wired|handled|verified|updated|fixed)\b",
)  # fmt: skip
# A mark that was dealt with is none that is left.
_DEALT_WITH = lazy(
    r"(?i)\b(?:replac|remov|resolv|complet|implement|finish|clear|fix|address|delet|dropp|fill|clean)ed\b"
    r"[^.;]{0,60}?\b(?-i:TODO)s?\b"
)
_OPINION = _begins(
    r"i(?:'d| would) (?:lean|go|suggest|recommend|prefer|say|vote|opt|pick|choose|start|keep|probably)\b",
    r"i (?:think|believe|lean|recommend|suggest|prefer)\b",
    r"my (?:recommendation|preference|suggestion|vote|take)\b",
)
_NEXT_LABEL = _begins(
    r"next(?: steps?| up)?\s*(?::|[–—-]\s)",
    r"to[- ]?dos?\b\s*[:(–—-]",
    r"(?-i:TODO)\b",
    r"(?:what(?:'s| is) )?(?:left|remaining|outstanding|pending|open)(?: (?:to do|work|items?|steps?|points?|issues?"
    r"|questions?|tasks?|for later))?\s*(?::|[–—-]\s)",
    r"follow[- ]?ups?\s*(?::|[–—-]\s)",
    r"(?:for )?later\s*:",
    r"not (?:yet )?done(?: yet)?\s*:",
    r"still (?:to do|missing|open|left|needed|pending|outstanding)\b",
)
_NEXT_HEADING = _begins(
    r"(?:suggested |recommended |possible |what's )?(?:next(?: steps?| up)?|to-?dos?|remaining(?: \w+){0,2}"
    r"|left(?: to do)?|follow[- ]?ups?(?: \w+)?"
    r"|open (?:items|issues|questions|points|work)|outstanding(?: \w+)?|still (?:to do|open|missing)"
    r"|not (?:yet )?(?:done|covered|implemented)"
    r"|future work|pending(?: \w+)?)\s*:?$"
)
_FOR_REVIEWERS = _begins(r"test plan", r"checklist", r"how to (?:test|verify)", r"verification", r"testing\b")
_ALL_DONE = _has(
    r"\bnothing (?:else|more)?\s*(?:is left|left|remains|remaining|outstanding|to do)\b",
    r"\bno (?:remaining|outstanding|open|further) (?:work|items?|issues?|tasks?|steps?|to-?dos?)\b",
    r"\ball (?:of the |the |\w+ )?(?:next steps|remaining|to-?dos?|tasks?|items?|steps?"
    r"|follow-?ups?)(?: \w+){0,2} (?:(?:is|are|have been|were|now) )*"
    r"(?:done|complete|completed|finished|addressed|implemented|resolved)\b",
)
_BLOCKED = _begins(
    r"still failing: ", r"blocked: ",
    r"(?:(?:this|it|that|work|the work|we|i|the (?:release|deploy\w*|merge|task|feature|pr|fix|rest|migration))"
    r"(?:'m|'re|'s| is| are| am| remains?| stays?) )?(?:still |currently |now )*blocked (?:by|on|until|for)\b",
    r"(?:still |currently |now |i'm |we're )*waiting (?:for|on) (?:you\b|your|(?:a |the )?(?:review|approval|access"
    r"|answer|reply|credentials|permission|decision|upstream|release|other team|vendor|ops|admin|infra))",
    r"(?:i|we|this|it|that)(?: still)? (?:can't|cannot|couldn't|could not) (?:proceed|continue|go on|finish"
    r"|be (?:finished|tested|verified|deployed|merged|released))\b.*\b(?:until|without|because|before)\b",
)  # fmt: skip
_REFERRING = _begins(
    r"(?:now )?(?:this|these|that|those|it|they|but|both|however|also|then|there|here|such|same|result|otherwise|and"
    r"|or|you(?:'re|'ve|r)?|so|which|instead|another)\b"
)
_HEDGED = _begins(
    r"if\b", r"when\b", r"once\b", r"unless\b", r"optionally\b", r"you (?:could|may|might)\b", r"consider\b",
    r"we could\b", r"this could\b", r"could\b",
    r"maybe\b", r"perhaps\b", r"should\b",
)  # fmt: skip


def is_talk(sentence: str) -> bool:
    """Addressed to the user or leading on to something else: nothing that was done or found out."""
    text = sentence.strip()
    if text.endswith(("?", ":")) or len(text.split()) < 3:
        return True
    return _TALK.match(text) is not None or _TO_THE_USER.search(text) is not None or acknowledges(text)


def refers_back(sentence: str) -> bool:
    """Whether it begins with a word that only what stands before it explains: "This …", "But …"."""
    return _REFERRING.match(sentence) is not None


def is_check_result(sentence: str) -> bool:
    """Whether it only says that tests, build or lint are fine, or that the work is done."""
    bare = sentence.strip().rstrip(".!✓✔✅ ")
    return (
        _CHECKS_PASS.match(bare) is not None or _ALL_IN_PLACE.match(bare) is not None or _TICKED.match(bare) is not None
    )


def states_cause(sentence: str) -> bool:
    """Whether it says why something is or went wrong."""
    return not is_talk(sentence) and _CAUSE.search(sentence) is not None


def states_finding(sentence: str) -> bool:
    """Whether it names a cause that was found out, not just any "because"."""
    return not is_talk(sentence) and _FINDING.search(sentence) is not None


def states_decision(sentence: str) -> bool:
    """Whether it says what was chosen; "instead of" counts when the choice and its reason are both there."""
    if is_talk(sentence) or _HEDGED.match(sentence) or _NEXT.search(sentence):
        return False
    if _DECIDED.search(sentence):
        return True
    return bool(_RATHER.search(sentence) and _CHOICE.match(sentence) and _WHY.search(sentence))


def states_next_step(sentence: str) -> bool:
    """Whether it says what is still to be done; questions and offers to the user do not."""
    if is_labelled_next(sentence):
        return True
    if is_talk(sentence) or _HEDGED.match(sentence) or _OPINION.match(sentence):
        return False
    return _NEXT.search(_DEALT_WITH.sub("", sentence)) is not None


def is_labelled_next(item: str) -> bool:
    """Whether a sentence or list item says of itself that it is to be done: "TODO: …", "Next: …"."""
    return _NEXT_LABEL.match(item) is not None and not item.endswith(("?", ":"))


def announces_next_steps(heading: str) -> bool:
    """Whether what stands below a heading ("Next steps", "Remaining work") is still to be done."""
    return _NEXT_HEADING.match(heading.strip()) is not None


def is_for_reviewers(heading: str) -> bool:
    """Whether the open boxes below a heading are for those who review the work, not for who goes on with it."""
    return _FOR_REVIEWERS.match(heading.strip()) is not None


def reads_like_an_order(text: str) -> bool:
    """Whether a line, not written by user or assistant, speaks to whoever reads it: in doubt it is not repeated."""
    is_order = _ORDER.search(text) is not None or SPEAKS_OF_AN_AGENT.fits(text, f" {text.lower()}")
    return is_order or looks_like_instructions(text) != ""


def states_block(sentence: str) -> bool:
    """Whether it says what keeps the work from going on."""
    return _BLOCKED.match(sentence) is not None and not sentence.endswith("?")


def says_all_done(sentence: str) -> bool:
    """Whether it says that nothing is left to do."""
    return _ALL_DONE.search(sentence) is not None
