"""A closing message read once: its plain sentences and what each of them is good for."""

import re
from dataclasses import dataclass

from claude_mem_lite.compress.language import sentence_kinds as kinds
from claude_mem_lite.compress.language.clean import clean, clip
from claude_mem_lite.compress.language.prose import PassageKind, passages, sentences, small

_LONGEST = 40_000


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence with the sort of passage it stands in and the heading above it."""

    text: str
    kind: PassageKind
    under: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """What an assistant said at the end of a turn."""

    said: tuple[Said, ...] = ()
    headings: tuple[str, ...] = ()

    @property
    def told(self) -> list[str]:
        """Sentences of running text that tell something which is so by now, not what is still to be done."""
        return [said.text for said in self.said if said.kind == "text" and _tells(said.text) and not _is_open(said)]

    @property
    def points(self) -> list[str]:
        """List items and table rows that tell something which is so by now."""
        telling = [said for said in self.said if said.kind in ("item", "row") and len(said.text.split()) > 1]
        return [said.text for said in telling if not _is_open(said)]

    def joined(self) -> list[str]:
        """A lead-in that needs its list, with the first item of it: "The cart now holds" + "several orders"."""
        found: list[str] = []
        for lead, item in zip(self.said, self.said[1:], strict=False):
            if lead.kind == "text" and lead.text.endswith(":") and item.kind == "item" and "following" not in lead.text:
                first = re.split(r"\s(?:-|–|—)\s|: |\s\(", item.text, maxsplit=1)[0]
                if len(first.split()) < 2:
                    continue
                found.append(f"{lead.text.rstrip(': ')} {small(first)}")
        return found

    def findings(self) -> list[str]:
        """Causes that were found out; "I found the bug." gives way to the sentence after it."""
        found: list[str] = []
        for at, said in enumerate(self.said):
            if said.kind == "row" or not kinds.states_finding(said.text):
                continue
            if len(said.text.split()) > 6:
                found.append(said.text)
            elif at + 1 < len(self.said) and self.said[at + 1].kind == "text" and _tells(self.said[at + 1].text):
                found.append(self.said[at + 1].text)
        return list(dict.fromkeys(found))

    def causes(self) -> list[str]:
        return [said.text for said in self.said if said.kind != "row" and kinds.states_cause(said.text)]

    def decisions(self) -> list[str]:
        return [said.text for said in self.said if said.kind != "row" and kinds.states_decision(said.text)]

    def next_steps(self) -> list[str]:
        """Sentences that say what is still to be done, and all that stands under a heading which does."""
        steps: list[str] = []
        announced = False
        for said in self.said:
            if kinds.announces_next_steps(said.under):
                if not kinds.is_talk(said.text) or said.kind in ("item", "todo"):
                    steps.append(said.text)
            elif said.kind == "text":
                announced = said.text.endswith(":") and (
                    kinds.announces_next_steps(said.text.rstrip(":")) or kinds.states_next_step(said.text.rstrip(":"))
                )
                if kinds.states_next_step(said.text):
                    steps.append(said.text)
            elif said.kind == "todo" and kinds.is_for_reviewers(said.under):
                continue
            elif said.kind == "todo" or (said.kind == "item" and (announced or kinds.is_labelled_next(said.text))):
                steps.append(said.text)
        return [step for step in dict.fromkeys(steps) if not step.endswith("?")]

    def blocks(self) -> list[str]:
        """Sentences that say what keeps the work from going on."""
        return [said.text for said in self.said if said.kind != "row" and kinds.states_block(said.text)]

    def ends_with_offer(self) -> bool:
        """Whether its last words ask the user what to do."""
        return any(said.text.endswith("?") for said in self.said[-2:]) or (
            len(self.said) > 3 and any(said.text.endswith("?") for said in self.said[-5:] if said.kind == "text")
        )

    def says_all_done(self) -> bool:
        return any(kinds.says_all_done(said.text) for said in self.said)


def read_closing(message: str | None) -> Closing:
    """The closing message in plain sentences; empty for none."""
    if not message:
        return Closing()
    said: list[Said] = []
    headings: list[str] = []
    for passage in passages(clip(clean(message), _LONGEST)):
        if passage.kind == "heading":
            headings.append(passage.text)
        elif passage.kind == "text":
            said += (Said(text, "text", passage.under) for text in sentences(passage.text))
        else:
            said.append(Said(passage.text, passage.kind, passage.under))
    return Closing(tuple(said), tuple(headings))


def _is_open(said: Said) -> bool:
    """Whether it is put as a step to come, by its own label or by the heading it stands under."""
    return kinds.is_labelled_next(said.text) or kinds.announces_next_steps(said.under)


def _tells(sentence: str) -> bool:
    return not kinds.is_talk(sentence) and not kinds.is_check_result(sentence)
