"""The floor below which prompts are given nothing: chosen by how many of them speak, on other sessions too."""

from collections.abc import Sequence

from claude_mem_lite.evaluation.prompt_use import JudgedPrompt


def highest_floor(floors: Sequence[float], shares: Sequence[float], least: float) -> int | None:
    """The place of the highest floor at which at least so many prompts are given something."""
    enough = [place for place, share in enumerate(shares) if share >= least]
    return max(enough, key=lambda place: floors[place], default=None)


def held_out(
    curve: Sequence[Sequence[JudgedPrompt]], floors: Sequence[float], least: float, folds: int = 5
) -> list[JudgedPrompt]:
    """Each prompt at the floor that the sessions of the other folds choose: the highest where so many speak."""
    sessions = list(dict.fromkeys(one.session for one in curve[0]))
    fold_of = {session: place % folds for place, session in enumerate(sessions)}
    kept: list[JudgedPrompt] = []
    for fold in range(folds):
        others = [[one for one in judged if fold_of[one.session] != fold] for judged in curve]
        place = highest_floor(floors, [_share(judged) for judged in others], least)
        if place is not None:
            kept += [one for one in curve[place] if fold_of[one.session] == fold]
    return kept


def _share(judged: Sequence[JudgedPrompt]) -> float:
    return sum(bool(prompt.useful) for prompt in judged) / len(judged) if judged else 0.0


def score_floor(best: Sequence[float], share: float) -> float:
    """The score that the best item of so many prompts reaches."""
    ranked = sorted(best, reverse=True)
    return ranked[min(max(round(share * len(ranked)) - 1, 0), len(ranked) - 1)]
