"""English sentences that put something right: one thing in the place of another, or how it is in truth."""

import re

from claude_mem_lite.compress.lessons.english_no_lessons import is_for_once
from claude_mem_lite.compress.lessons.leads import Body, telling
from claude_mem_lite.compress.lessons.lesson import HINTED, ONCE, Lesson, of_the_user, order, small_first
from claude_mem_lite.patterns import lazy

_NOT_BUT = lazy(
    r"not [\w./-]+(?: again)?,? (?:we use|use) \w|not (?:as|in|to|with|on|from|by|the|a|an|for) .{2,150}?(?:,? but "
    r"|[,;.:–—-] (?:put|use|the|in|but|as|it)\b)"
)
_INSTEAD = lazy(r"instead of (.{1,120}?),? (?:we|you|it|i) (?:should|want to|must|could|have to) (?:do |use |be )?")
_VERB = (
    r"(?:use|take|put|call|name|write|run|go with|do(?! not)|import|return|store|keep|make it|pick|choose"
    r"|stick (?:to|with))"
)
_DO = lazy(rf"(?:let's |we should |you should |you can |better |i want (?:you to |to )?)?({_VERB}) ")
_YOU_SHOULD = lazy(r"you (?:should|must|need to|have to|are supposed to) (?:be )?\w+ ")
_EXISTS = lazy(r".{3,100}\b(?:already|exists?)\b.{0,100}?, (?:so |please |just )*(?:use|reuse|call|extend) ")
_NAMED = lazy(r"i (?:want|need|'d like|would like|wanted|asked for|meant) (?:the |it |this |that |my |a |an |only )")
# "I want the header to be sticky, not fixed" is a task.
_OF_THE_PROGRAM = lazy(
    r"i (?:want|need|'d like|would like) (?:the|it|this|that|my|a|an) (?:[\w-]+ ){0,5}?to (?!be (?:called|named)\b)\w+"
)
_RATHER = lazy(
    r"(?:,| and|,? but)? (?:not|instead of|rather than|in place of) (?=\S)(?!only\b|just\b|sure\b|to |urgent|bad)"
)
_INSTEAD_LAST = lazy(r",? instead[.! ]*$")
_DONT_USE_BUT = lazy(r"(?:don't|do not|never) use (.{1,80}?)(?:[,;.]| -| –) (?:but |please |rather )?use ")
# What a program does is told by its own verbs: "it should return 404 instead of 500" reports a bug.
_SHOULD_BE = lazy(
    r"(?:it|that|this|these|those|they|both|the [\w./-]+(?: [\w./-]+){0,3}) (?:should|must|has to|have to|needs to"
    r"|(?:is|are) (?:supposed|meant) to) (be|go|live|stay|use|come|sit|stand|have been|happen in) (?!visible"
    r"|shown|hidden|displayed|(?:sort|order|group|align|center|render|filter|highlight|round|colou?r|enabl|disabl"
    r"|load|print|clos)ed"
    r"|bold|sticky|clickable|open|left|right|above|below|at the|first|last|red|green|blue|gr[ae]y|black|white|\w+er\b)"
)
_IT_IS = lazy(
    r"(?:we're|we are|it's|it is|they're|they are|that's|[\w./-]+(?: [\w./-]+){0,4} (?:is|are|goes|go|lives?"
    r"|belongs?|runs?|sits?))"
    r" [^,]{1,80}, not (?=\S)(?!sure|urgent|bad|yet)"
)
_MEANT = lazy(
    r"(?:my|the) point (?:is|was)[,:]? |(?:what )?i (?:mostly |actually |really |only )?(?:meant)(?: is"
    r"| was)?[,:]? (?!that's)"
)
_WRONG = lazy(
    r"(?:\b(?:that|this|it|your \w+|the (?:\w+ )?(?:part|line|sentence|section|example|description|comment|name|title))"
    r"(?:(?:'s| is| was)(?: just| still| simply| also| exactly)? (?:wrong|incorrect|what i (?:did not|didn't"
    r"|don't) want|not)|"
    r" (?:isn't|wasn't))(?: (?:correct|right|true|how (?:we|i) [\w ]{2,20}|what i (?:asked|wanted|meant"
    r"|said)(?: for| to)?))?|^wrong(?: \w+){0,2}|\b(?:that|this|it)(?:'s"
    r"| is) the wrong \w+|\byou (?:misunderstood|misread|got (?:it|that|this|me) wrong)[\w ]{0,20}|\byou(?:'re"
    r"| are)? \w+(?: in)? the wrong \w+(?: \w+)?)"
    r"(?:\s*[,:;–—-]+\s*|\.\s+|,? (?:because|since|as) )(?=\S+ \S+)"
)
_STILL = lazy(r"(?:(?:it|that|this|the \w+) )?(?:still|expected|fails?|does not|doesn't)\b")
_WONT_DO = lazy(
    r"(?:that |the |this |your )?(?:option|approach|variant|solution|idea|suggestion|proposal|plan|way)\b.{0,20}"
    r" (?:doesn't|does not|won't|will not|can't|cannot|wouldn't) work,? (?:since|because|as)\b"
)
_UNCLEAR = lazy(
    r"(?:i think |i find )?.{1,80} (?:is|are) (?:confusing|misleading|ambiguous|too \w+|unclear"
    r"|not clear) (?:since|because|as)\b"
)
_REPLACE = lazy(r"i would (?:rather )?replace (.{1,100}?) (?:with|by) ")
_DROP = lazy(
    r"(?:remove|drop|revert|undo) .{3,120}?(?:,| -| because| since)? (?:it|that|this|they)(?:'s| is| was|'re| are)?"
    r" (?:not|only|just|too)\b"
)
_ORDER_LEAD = lazy(r"(?i)^(?:let's|we should|you should|you can|better|i want (?:you to|to)) ")
_I_THINK = lazy(r"(?i)^i (?:think|find) ")


def right_and_wrong(body: Body) -> Lesson | None:
    """One thing in the place of another."""
    text = body.masked
    if found := _DONT_USE_BUT.match(text):
        wrong = body.text[found.start(1) : found.end(1)]
        return Lesson("correction", f"{order('use ' + body.text[found.end() :])}, not {wrong}", ONCE)
    if found := _INSTEAD.match(text):
        wrong = body.text[found.start(1) : found.end(1)]
        return Lesson("correction", f"{order(body.text[found.end() :])}, not {wrong}", ONCE)
    if _NOT_BUT.match(text) and not is_for_once(text):
        return Lesson("correction", order(body.text, with_why=True), ONCE)
    if found := _REPLACE.match(text):
        return Lesson("correction", order(f"Replace {body.text[found.start(1) :]}"), ONCE)
    done = _DO.match(text)
    told = done or _should_be(body) or _NAMED.match(text) or _YOU_SHOULD.match(text)
    if told and _OF_THE_PROGRAM.match(text) and not body.says_no and not body.is_reminder:
        return None
    if told and (found := _RATHER.search(text, told.end())):
        right = order(of_the_user(_ORDER_LEAD.sub("", body.text[: found.start()])), with_why=True)
        return Lesson("correction", f"{right}, not {small_first(order(body.text[found.end() :]))}", ONCE)
    if done and (found := _INSTEAD_LAST.search(text)):
        return Lesson("correction", order(body.text[done.start(1) : found.start()]), ONCE)
    is_told = _IT_IS.match(text) or _EXISTS.match(text)
    return Lesson("correction", order(body.text, with_why=True), ONCE) if is_told else None


def _should_be(body: Body) -> re.Match[str] | None:
    """How something ought to be; what a program should use is how it behaves, unless a "no" corrects the agent."""
    found = _SHOULD_BE.match(body.masked)
    return None if found and found[1] == "use" and not body.says_no and not body.is_reminder else found


def put_right(body: Body) -> Lesson | None:
    """What was said or done is wrong, and how it is."""
    text = body.masked
    if (found := _WRONG.search(text)) and not _STILL.match(text, found.end()):
        return Lesson("correction", order(telling(body, found.end()), with_why=True), ONCE)
    if (found := _MEANT.match(text)) and len(text[found.end() :].split()) > 3:
        return Lesson("correction", f"Meant: {small_first(order(body.text[found.end() :], with_why=True))}", HINTED)
    if _WONT_DO.match(text) or _UNCLEAR.match(text) or _DROP.match(text):
        return Lesson("correction", order(_I_THINK.sub("", body.text), with_why=True), HINTED)
    return None
