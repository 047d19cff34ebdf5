"""Limits of time and number that the worker is started with. The defaults are for users; tests pass others."""

import math

from claude_mem_lite.values import frozen


@frozen
class Limits:
    """Limits of one worker."""

    check_s: float = 0.03
    """CPU time of a context for checks of the checkout: enough for the memories shown, except before the first scan and
    right after a `git switch` of thousands of files."""
    check_within_s: float = 0.24
    """Wall-clock limit of the checks, from the start of the context: layers check in turn, and the last layer late."""
    check_share: float = 0.5
    """Share of a caller's patience for the checks."""
    branches_s: float = 0.25
    """Time of a scan for questions to git about branches: the first questions take longer than all later ones."""
    long_branches_s: float = 0.6
    """Time of a scan after a scan that lacked time, as for a branch with changes in thousands of files."""
    search_s_per_file: float = 5e-6
    """Estimated cost of a walk over the index for new paths and tracked files, and of reading the file states."""
    scan_step_s: float = 0.02
    """Time of one step of the background scan: a hook may have to wait for the step."""
    stale_s: float = 10.0
    """CPU time and wall-clock time of an answer with all stale memories of a project."""
    hint_check_s: float = 0.03
    """Time for checks of code before a hook is answered about a prompt or a tool call."""
    answer_check_s: float = 0.02
    """CPU time of an answer to the user for checks of code."""
    answer_check_within_s: float = 0.06
    link_s: float = 0.5
    """Time to link a memory to the code that the memory names: 1,000 files take 60 ms, and the user waits."""
    detect_s: float = 0.03
    """Time to look for touched files of a checkout, if no caller waits."""
    turns_s: float = 0.1
    """Time in which layers take turns. With 10,000 memories, all turns take about this long. The rest of the time is
    for layers that wait behind a hanging layer: beside each other, layers take longer."""
    first_request_s: float = 1.0
    """Time from the start of a worker in which the hook that started it is expected to ask. The job thread leaves this
    time to the first request, and then works as if nobody would ask."""
    first_answer_s: float = 1.5
    """Most time that the job thread leaves to the first answer of a worker, once it is being made: its hook waits no
    longer."""
    start_patience_s: float = 0.5
    """Most time for the layers of a start context."""
    hook_grace_s: float = 0.0
    """Time for an answer beyond the time that its hook waits."""
    tidy_every_s: float = 600.0
    """Pause between two rounds of maintenance."""
    drain_poll_s: float = 0.2
    """Pause of a drain before the next look at the queue."""
    import_quiet_s: float = 1.0
    """Time without a request after which an import is over, or was stopped."""
    backup_quiet_s: float = 5.0
    """Time without a request after which a due backup is made."""
    rest_s: float = 60.0
    """Time without a search after which loaded vectors and code are released."""
    max_backups: int = 7
    team_min_pause_s: float = 60.0
    """Pause between synchronisations with the team while there is work."""
    team_max_pause_s: float = 600.0
    """Pause after many synchronisations without work, and after failures."""
    team_round_s: float = 120.0
    """Time of one synchronisation; the next one continues."""
    team_write_s: float = 60.0
    """Time that the synchronisation waits for the job thread."""


LIMITS = Limits()
UNLIMITED = Limits(
    check_s=math.inf,
    check_within_s=math.inf,
    branches_s=math.inf,
    long_branches_s=math.inf,
    scan_step_s=math.inf,
    stale_s=math.inf,
    hint_check_s=math.inf,
    answer_check_s=math.inf,
    answer_check_within_s=math.inf,
    link_s=math.inf,
    detect_s=math.inf,
    turns_s=math.inf,
    start_patience_s=math.inf,
    hook_grace_s=math.inf,
    tidy_every_s=math.inf,
    rest_s=math.inf,
)
"""Limits of a walk through recorded sessions: no answer depends on the load of the machine."""
