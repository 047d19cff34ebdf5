"""Start of the worker by hooks and the command line: `python -m claude_mem_lite.worker`."""

import logging
import os

from claude_mem_lite.paths import find_home
from claude_mem_lite.worker.process import run

if __name__ == "__main__":
    status = run(find_home())
    logging.shutdown()
    # At once: all files are closed, and the tear-down of modules would hold the lock for another second.
    os._exit(status)
