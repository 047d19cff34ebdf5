"""Limits of time as no user would bear them: tests are about what is told, not about how soon on a busy machine.

Tests of a limit set it themselves."""

from claude_mem_lite.limits import Limits

PATIENT = Limits(
    check_s=10.0,
    check_within_s=10.0,
    check_share=1.0,
    branches_s=10.0,
    hint_check_s=10.0,
    answer_check_s=10.0,
    answer_check_within_s=10.0,
    link_s=10.0,
    detect_s=10.0,
    start_patience_s=1.0,  # the hook itself waits for no more than 1.5
    drain_poll_s=0.02,  # each test would wait for 0.2
    import_quiet_s=60.0,
)
