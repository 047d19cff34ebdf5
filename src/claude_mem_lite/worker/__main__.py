"""`python -m claude_mem_lite.worker`: how hooks and the command line start the worker."""

import logging
import os

from claude_mem_lite.paths import find_home
from claude_mem_lite.worker.process import run

if __name__ == "__main__":
    status = run(find_home())
    logging.shutdown()
    # At once: everything is closed, and tearing down the imported modules takes a second in which the lock is held.
    os._exit(status)
