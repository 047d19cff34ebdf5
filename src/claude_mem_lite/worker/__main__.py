"""Start of the worker by hooks and the command line: `python -m claude_mem_lite.worker`."""

import gc
import os

if __name__ == "__main__":
    # Before the imports: they make no garbage, and collections took a tenth of their time. `worker/loading.py` switches
    # the collection on again.
    gc.disable()
    import logging

    from claude_mem_lite.paths import find_home
    from claude_mem_lite.worker.process import run

    status = run(find_home())
    logging.shutdown()
    # At once: all files are closed, and the tear-down of modules would hold the lock for another second.
    os._exit(status)
