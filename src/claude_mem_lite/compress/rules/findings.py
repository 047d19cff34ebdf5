"""What a turn found out, decided or could not get to work -> memories. Better none than one nobody wants to read."""

import re
from collections.abc import Sequence

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.closing import Closing, read_closing
from claude_mem_lite.compress.language.drafts import as_list, make_draft, prompt_text, whole_sentences, why
from claude_mem_lite.compress.language.prose import capital, plain, sentences
from claude_mem_lite.compress.language.sentence_kinds import is_talk, refers_back
from claude_mem_lite.compress.language.verbs import impersonal, resolved, without_lead
from claude_mem_lite.compress.rules.fixes import FAILS, cause_of, failing_tests, title_of_failure
from claude_mem_lite.compress.tools.fingerprints import anchor_of_tool, anchors_of_run
from claude_mem_lite.compress.tools.steps import Answered, Called, Looked, Ran
from claude_mem_lite.models import Draft, Origin
from claude_mem_lite.patterns import lazy
from claude_mem_lite.words import overlap, within

_LEAST_PROSE = 160
_LEAST_FINDING = 60
_LEAST_REPORT = 80
_LEAST_IN_COMMON = 0.25
_MANY_LOOKS = 4
_LONGEST_LIST = 250
_LONGEST_SUMMARY = 320
_OPINION = lazy(
    r"(?i)^(?:i(?:'d| would)?\s+(?:think|suggest|recommend|propose|lean|prefer|say)|in my opinion|my recommendation"
    r"|personally)\b"
)
_ABOUT_SELF = lazy(
    r"(?i)^(?:i(?:'ve| have|'m| am|'d)?\b|now\b|perfect\b|excellent\b|great\b|based on (?:my|the) (?:analysis|review"
    r"|findings)|after (?:reviewing|analyzing)|this (?:report|document)"
    r"|yes[.,!]? *$|no[.,!]? *$|done\b)"
)
_ASIDE = lazy(
    r"(?i)^(?:currently it|minor|nice|note|if|my|let's|why|only|when|one|a (?:potential|possible|simple|better)|because"
    r"|see|once|after|before|while|for|prevented|option \S+)\b"
)
_QUESTION = lazy(
    r"(?i)^(?:why|what|how|where|when|which|who|is|are|does|do|did|will|has|have|should|can (?!you|we)|could (?!you"
    r"|we))\b"
)
_LABEL = lazy(r"^[A-Z][A-Za-z /-]{1,28}:\s+(?=\S)")
_LOCATING = lazy(
    r"(?i)^(?:location|files?|path|target|branch|status|severity|priority|impact|effort|review target|scope|date"
    r"|author|lines?|type|name|commit)\b"
)
_CODE = lazy(r"[{};]\s*$|[{}]{2}|\s//\s|\w+\s*:=|=>|^\W*(?:type|func|def|class|const|let|var|import|return) \w+")
_BARE_HEADING = lazy(r"(?i)^(?:what|why|how|when|where|next|recommend\w*|option|overview|conclusion)\b")
_WHY_ASKED = lazy(
    r"(?i)\b(?:why|cause|reason|explain|debug|investigate|diagnose|find out|figure out|what(?:'s| is) wrong)\b"
)
_PROCEDURAL = lazy(
    r"(?i)what (?:would|should) (?:you|i|we)|like to do next|how (?:would|should) (?:you|i|we) (?:like|proceed)"
    r"|ready|proceed|continue\b|next step|update the plan"
)
_CLAUSE = lazy(r"\s*[;:–—]\s|\s-\s|,? (?=so )")
_RECOMMENDED = lazy(r"\s*\((?:Recommended|recommended)\)")
_REASON = lazy(r"(?i)\b(?:because|since|so that|as it|due to|to avoid|to keep|in order to)\b")


def discovery(prompt: str, closing: Closing, looks: int, origin: Origin) -> Draft | None:
    """What a turn without edits found out; `looks` counts the files read, commands run and sub-agents sent."""
    told = closing.told
    prose = sum(map(len, told)) + sum(map(len, closing.points))
    causes = closing.causes() if _WHY_ASKED.search(prompt_text(prompt)) else []
    found = [text for text in dict.fromkeys([*closing.findings(), *causes]) if text in told[:12]]
    if prose < (_LEAST_FINDING if found else _LEAST_PROSE) or not (looks or _asks_for_facts(prompt)):
        return None
    if closing.ends_with_offer() and not found and looks < _MANY_LOOKS:
        return None
    chosen = next((text for text in [*found, *told[: 5 if looks else 2]] if _is_telling(text)), "")
    stated = _without_yes(_without_label(chosen))
    title = titles.from_statement(stated) if chosen else _question(prompt) or _heading(closing)
    if not title:
        return None
    steps = closing.next_steps()
    rest = [text for text in told if text != chosen and text not in steps and not _ABOUT_SELF.match(text)]
    summary = _beyond_title(title, stated, rest or closing.points) or chosen
    return make_draft(
        "discovery",
        title,
        f"{summary} {why(prompt, f'{title} {summary}')}",
        detail=as_list(_not_in(summary, closing.points), _LONGEST_LIST),
        facts=_not_in(f"{chosen} {summary}", closing.causes())[:2],
        origin=origin,
        confidence=0.6 if looks else 0.5,
    )


def report(task: str, closing: Closing, origin: Origin) -> Draft | None:
    """What a sub-agent came back with, when it is more than a word."""
    told = [text for text in closing.told if not _ABOUT_SELF.match(text) and "I'll " not in text]
    if sum(map(len, told)) + sum(map(len, closing.points)) < _LEAST_REPORT:
        return None
    chosen = next((text for text in [*closing.findings(), *told[:8]] if _is_telling(text)), "")
    if not chosen:
        return None
    asked = f"A sub-agent was sent to: {task}." if task else ""
    stated = _without_label(chosen)
    title = titles.from_statement(stated)
    beyond = _beyond_title(title, stated, [text for text in told[:3] if text != chosen])
    return make_draft(
        "discovery",
        title,
        f"{beyond} {asked}".strip() or chosen,
        detail=as_list(_not_in(beyond, closing.points), _LONGEST_LIST),
        origin=origin,
        confidence=0.5,
    )


def decisions(closing: Closing, answers: Sequence[Answered], prompt: str) -> list[Draft]:
    """What was decided: said in the closing message, or chosen by the user when asked."""
    found: list[Draft] = []
    said = [one.text for one in closing.said]
    for text in closing.decisions()[:3]:
        bare = re.sub(r"(?i)^(?:the )?decision(?: was)?:?\s*", "", without_lead(text))
        title = titles.from_statement(resolved(bare)) or titles.from_report(bare) or titles.from_statement(bare)
        at = said.index(text)
        # "Keep it free of dependencies because …": worth keeping with the sentence that says what "it" is.
        before = said[at - 1 : at] if titles.weight(title) < 3 and _REASON.search(text) else []
        if (titles.weight(title) < 3 and not before) or titles.weight(title) < 1 or len(title.split()) < 3:
            continue
        reasons = [] if _REASON.search(text) else [after for after in said[at + 1 : at + 2] if _REASON.search(after)]
        summary = whole_sentences([impersonal(bare), *reasons, *before], 600)
        asked = "" if _REASON.search(summary) else why(prompt, summary)
        found.append(make_draft("decision", title, f"{summary} {asked}", confidence=0.7))
    for answer in answers[:4]:
        if draft := _choice(answer):
            found.append(draft)
    return found


def _choice(answered: Answered) -> Draft | None:
    question, answer = plain(answered.question), plain(_RECOMMENDED.sub("", answered.answer)).rstrip(".")
    if answer.startswith("/") or (_PROCEDURAL.search(question) and len(answer.split()) < 9):
        return None
    topic = titles.shorten(sentences(question)[-1].rstrip("?"), 12) if question else ""
    title = (
        titles.from_statement(answer) if len(answer.split()) > 8 else f"Choose {answer}: {topic[:1].lower()}{topic[1:]}"
    )
    return make_draft(
        "decision",
        title,
        f"Asked “{within(question, 400)}”, the user chose: {within(answer, 400)}.",
        origin="user",
        confidence=0.9,
    )


def failure(ran: Ran, closing: Closing, prompt: str) -> Draft:
    """A command that still failed when the turn ended."""
    code = f" with exit code {ran.code}" if ran.code not in (None, 1) else ""
    totals = f" ({ran.run.totals()})" if ran.run else ""
    seen = f"{ran.command} {cause_of(ran)} {' '.join(ran.errors)}"
    # The closing message may explain something else than this failure.
    about_it = [said for said in (*closing.findings(), *closing.causes()) if overlap(said, seen) >= _LEAST_IN_COMMON]
    explained = whole_sentences(about_it[:1], 300)
    title, cause = title_of_failure(ran), within(cause_of(ran), 300).rstrip(".")
    # The title has told what fails; how it fails is left to say.
    rest = cause.removeprefix(title.partition(FAILS)[2]).strip(" :")
    told = f": {rest}" if rest else "" if code or totals or explained else f": {cause}"
    summary = f"{ran.command} failed{code}{totals}{told}. {explained}"
    return make_draft(
        "failure",
        title,
        f"{summary} {why(prompt, summary)}",
        facts=[*failing_tests(ran), *(f"Error: {error}" for error in ran.errors[:3])],
        anchors=anchors_of_run(ran),
        origin="web" if ran.fetched else "command",
        confidence=0.6,
    )


def web(looked: Sequence[Looked]) -> Draft | None:
    """At most one memory of all a turn read on the web."""
    best = max(looked, key=lambda one: len(one.answer), default=None)
    if best is None or len(best.answer) < _LEAST_PROSE:
        return None
    closing = read_closing(best.answer)
    told = [text for text in closing.told if len(text.split()) > 4]
    subject = titles.shorten(plain(best.subject) or best.place, 12)
    summary = whole_sentences(told[:3] or closing.points[:3], 400)
    if not summary or len(subject.split()) < 2:
        return None
    return make_draft(
        "discovery",
        f"Web: {subject}",
        summary,
        detail=as_list(_not_in(summary, closing.points), _LONGEST_LIST),
        facts=[f"Source: {place}" for one in looked for place in (one.place, *one.sources) if place][:5],
        origin="web",
        confidence=0.4,
    )


def foreign(called: Sequence[Called]) -> list[Draft]:
    """Calls to other tools that changed something by name, or failed for good."""
    found: list[Draft] = []
    for call in called:
        parts = [part for part in re.split(r"__|[_-]", call.tool.removeprefix("mcp__")) if part]
        name = " ".join(parts)[:80]
        if call.error and not any(other.tool == call.tool and not other.error for other in called):
            summary = f"{name} failed: {within(call.error, 400)}."
            found.append(
                make_draft(
                    "failure",
                    f"{name} fails: {titles.cut(call.error, 12)}",
                    summary,
                    anchors=[anchor_of_tool(call)],
                    origin="mcp",
                    confidence=0.4,
                )
            )
        elif call.changes and len(call.subject.split()) > 2:
            action = call.tool.rsplit("__", 1)[-1].replace("_", " ").replace("-", " ")
            server = parts[0] if call.tool.startswith("mcp__") and parts else "a tool"
            title = f"{capital(action)}: {titles.shorten(call.subject, 12)}"
            made = f" {call.result}" if call.result else ""
            found.append(make_draft("change", title, f"{title}, through {server}.{made}", origin="mcp", confidence=0.5))
    return found[:2]


def _not_in(told: str, texts: Sequence[str]) -> list[str]:
    return [text for text in texts if text.rstrip(".") not in told]


def _beyond_title(title: str, stated: str, rest: Sequence[str]) -> str:
    """A summary that goes on where the title stops: the end of the sentence it was made from, then the rest."""
    at = stated.lower().find(title.lower())
    after = stated[at + len(title) :] if at >= 0 else stated
    if at >= 0 and (clause := _CLAUSE.match(after)):
        first = capital(after[clause.end() :])
    else:
        first = "" if overlap(stated, title) >= 0.95 else stated
    telling = [impersonal(text) for text in rest if len(text.split()) > 4 and not _LOCATING.match(text)]
    return whole_sentences([first, *telling[:2]], _LONGEST_SUMMARY)


def _is_telling(text: str) -> bool:
    text = _without_label(text)
    if not text or _CODE.search(text) or "I'll " in text:
        return False
    if is_talk(text) or refers_back(text) or len(text) > 400:
        return False
    if _OPINION.match(text) or _ABOUT_SELF.match(text) or _ASIDE.match(text):
        return False
    title = titles.from_statement(_without_yes(text))
    return len(title.split()) >= 4 and titles.weight(title) >= 3.0


def _question(prompt: str) -> str:
    """A question as the title of its answer, when nothing in the answer can be one."""
    said = prompt_text(prompt)
    asked = next((part for part in sentences(said)[:3] if part.endswith("?") and _QUESTION.match(part)), "")
    title = titles.from_statement(asked.rstrip("? "))
    return title if asked and len(title.split()) >= 4 and titles.weight(title) >= 2.5 else ""


def _heading(closing: Closing) -> str:
    """The heading over a list or table that is the whole answer."""
    if closing.told or len(closing.points) < 3:
        return ""
    return next(
        (text for text in closing.headings[:2] if titles.weight(text) >= 3 and not _BARE_HEADING.match(text)), ""
    )


def _without_label(text: str) -> str:
    """ "Key insight: X is Y" without its label; '' when the label only locates or rates something."""
    found = _LABEL.match(text)
    if not found:
        return text
    rest = text[found.end() :]
    return "" if _LOCATING.match(text) or len(rest.split()) < 5 else rest


def _without_yes(text: str) -> str:
    return re.sub(
        r"(?i)^(?:(?:yes|no|right(?: -)?|correct|exactly|indeed|overall|in short|in summary)[,.!:–—-]+|so)\s+(?=\w)",
        "",
        text,
    )


def _asks_for_facts(prompt: str) -> bool:
    """A question that has an answer, not one for an opinion."""
    said = prompt_text(prompt)
    if re.search(
        r"(?i)\b(?:what|how) (?:do you think|about|if|would)|suggest|thoughts|opinion|should (?:we|i)|could we|naming",
        said,
    ):
        return False
    return (
        re.search(r"(?i)\b(?:why|what|how|where|when|which|who|explain|describe|does|is it|are there)\b", said)
        is not None
    )
