"""What a sentence of a closing message is: a report, a cause, a decision, a next step, or just talk."""

import re

_TALK = re.compile(
    r"(?i)^(?:would you|do you|did you|want me|shall i|should (?:i|we)\b.*\?$|let me know|let me\b|feel free|if you(?:'d|’d| would)? "
    r"(?:like|want|prefer|need)|i can (?:also|now|help|then)|i could|happy to|just (?:say|tell)|please (?:let|tell|confirm|review)"
    r"|ready (?:to|for)\b|here(?:'|’)s|here (?:is|are)|below (?:is|are)|i(?:'|’)ll|i will now|i(?:'|’)m going to|now i\b"
    r"|now let|looking at|good (?:idea|question|point|catch|thinking)|great (?:question|idea|point)|thanks|thank you|sorry"
    r"|you(?:'|’)re (?:absolutely )?(?:right|welcome)|that(?:'|’)s (?:a )?(?:right|correct|good|great)|no response requested"
    r"|api error|i see\b|i understand|sounds good|to (?:clarify|answer|summarize)|sources?:|options?:|for example|note:?$"
    r"|what (?:do|would) you|which (?:one|option|approach)|stopped\b|try (?:it|starting|running)\b|you can (?:now )?(?:try|test|run|see))"
)
_CHECKS_PASS = re.compile(
    r"(?i)^(?:now )?(?:all |the |both |every |unit |integration |existing |full |\d+ )*(?:tests?|builds?|lint(?:ing|er)?|checks?|code"
    r"|everything|it|type checks?|ci|test suite|suite|project)(?:(?:,| and|, and) (?:the )?(?:tests?|builds?|lint(?:ing|er)?|checks?"
    r"|type checks?))*\s+(?:(?:all|now|still|is|are|also|have|has)\s+)*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|work(?:s|ing)?|clean"
    r"|green|compiles?|builds?|successful)\b[^.]{0,60}$"
)
_CAUSE = re.compile(
    r"(?i)\b(?:root cause|(?:the|its|main|actual|real) (?:cause|culprit|reason)\b|caused by|because\b|due to|turn(?:s|ed) out"
    r"|(?:the|this) (?:issue|problem|bug|error|failure|test|crash|leak)s? (?:was|is|were|came|comes|happened|occurred|fail(?:s|ed)|stems?)\b"
    r"|(?:that|this|which) (?:was|is) why|stem(?:s|med) from|as a result of|the reason)"
)
_FINDING = re.compile(r"(?i)\b(?:root cause|(?:the|actual|real) cause|caused by|turn(?:s|ed) out|culprit|found (?:that|the (?:bug|issue|problem)))")
_DECIDED = re.compile(
    r"(?i)(?:^decision\b|\b(?:i|we|was|been) (?:have )?(?:also )?(?:decided|chose|chosen|opted|agreed|settled on|picked|went with|going with)\b"
    r"|^(?:decided|chose|opted|picked|went with|settled on)\b|\bdecided (?:to|on|against|not)\b|\bthe decision\b"
    r"|\b(?:we|i)(?:'|’)?(?: wi)?ll (?:use|go with|keep|stick (?:with|to))\b|\bchose .{2,80} over\b|\bin favou?r of\b"
    r"|\bsettled on\b|\bopted (?:for|to)\b|\bdeliberately\b|\bintentionally\b|\bby design\b)"
)
_RATHER = re.compile(r"(?i)\b(?:instead of|rather than|as opposed to)\b")
_CHOICE_START = re.compile(
    r"(?i)^(?:i|we|i(?:'|’)ve|used?|using|kept|keep|stored?|switched|moved|made|put|picked|replaced|implemented|added|wrote|set|avoid(?:ed)?)\b"
)
_WHY = re.compile(r"(?i)\b(?:because|since|so that|to avoid|to keep|to prevent|as it|as this|due to|which (?:avoids|keeps|prevents|lets|allows))\b")
_NEXT = re.compile(
    r"(?i)(?:^(?:next(?: steps?| up)?\b|to-?dos?\b\s*[:(-]|still (?:to do|open|missing|needed|left|pending)|remaining\b|left to do"
    r"|follow[- ]?ups?\b|not (?:yet )?(?:done|implemented|covered|addressed|fixed|included)\b|pending\b|outstanding\b|open (?:issue|question|item|point)s?\b)"
    r"|\b(?:still|yet) (?:need(?:s|ed)?|has|have|missing|open|outstanding|unresolved|failing|fails?|broken|to be)\b|\bremains? (?:to|open|unresolved|undone|failing)\b"
    r"|\b(?:should|must|needs? to|will need to|has to|have to) (?:be )?\w+(?: \S+){0,12} (?:next|later|afterwards|in a follow[- ]?up|before (?:merging|release|the release|deploying|shipping))\b"
    r"|\bleft (?:for|to|as) (?:later|a follow[- ]?up|another|you|future|next)\b|\bin a (?:later|separate|future|follow[- ]?up)\b"
    r"|\byou(?:(?:'|’)ll| will)? (?:still )?need to\b|\bnext,? (?:i|we|you|the|step|add|write|implement|fix|run|test|up)\b"
    r"|\bnot (?:yet|been) (?:implemented|done|tested|covered|committed|pushed|merged|deployed|wired|handled|verified)\b|\bTODO\b)"
)
_NEXT_HEADING = re.compile(
    r"(?i)^(?:(?:suggested |recommended |possible |what(?:'|’)?s )?(?:next(?: steps?| up)?|to-?dos?|remaining(?: \w+){0,2}|left(?: to do)?|follow[- ]?ups?(?: \w+)?"
    r"|open (?:items|issues|questions|points|work)|outstanding(?: \w+)?|still (?:to do|open|missing)|not (?:yet )?(?:done|covered|implemented)"
    r"|future work|pending(?: \w+)?))\b"
)
_ALL_DONE = re.compile(
    r"(?i)\b(?:nothing (?:else |more )?(?:is |to do |remains |left|remaining|outstanding)|no (?:remaining|outstanding|open|further) (?:work|items?|issues?|tasks?|steps?|to-?dos?)"
    r"|all (?:of the |the |\w+ )?(?:next steps|remaining|to-?dos?|tasks?|items?|steps?|follow-?ups?)(?: \w+){0,2} (?:is|are|have been|were|now)?\s*(?:done|complete|completed|finished|addressed|implemented|resolved))\b"
)
_HEDGED = re.compile(r"(?i)^(?:if|when|once|unless|optionally|you (?:could|may|might)|consider|we could|this could|could|maybe|perhaps)\b")


def is_talk(sentence: str) -> bool:
    """Addressed to the user or leading on to something else: nothing that was done or found out."""
    text = sentence.strip()
    return text.endswith(("?", ":")) or len(text.split()) < 3 or _TALK.match(text) is not None


def is_check_result(sentence: str) -> bool:
    """ "All tests pass and linting is clean." """
    return _CHECKS_PASS.match(sentence.strip().rstrip(".!")) is not None


def states_cause(sentence: str) -> bool:
    return not is_talk(sentence) and _CAUSE.search(sentence) is not None


def states_finding(sentence: str) -> bool:
    """A cause that was found out, not just any "because"."""
    return not is_talk(sentence) and _FINDING.search(sentence) is not None


def states_decision(sentence: str) -> bool:
    if is_talk(sentence) or _HEDGED.match(sentence) or _NEXT.search(sentence):
        return False
    if _DECIDED.search(sentence):
        return True
    if not _RATHER.search(sentence):
        return False
    return _CHOICE_START.match(sentence) is not None and _WHY.search(sentence) is not None


def states_next_step(sentence: str) -> bool:
    if sentence.rstrip().endswith(("?", ":")) or is_talk(sentence) or _HEDGED.match(sentence):
        return False
    return _NEXT.search(sentence) is not None


def announces_next_steps(heading: str) -> bool:
    """ "Next steps", "Remaining work", "TODO": what stands below is still to be done."""
    return _NEXT_HEADING.match(heading.strip()) is not None


def says_all_done(sentence: str) -> bool:
    return _ALL_DONE.search(sentence) is not None
