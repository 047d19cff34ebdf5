"""Start of the worker by hooks and the command line: `python -m claude_mem_lite.worker`."""

import gc
import os
import sys

if __name__ == "__main__":
    # Before the imports: they make no garbage, and collections took a tenth of their time. `worker/loading.py` switches
    # the collection on again.
    gc.disable()
    # Without OpenSSL, whose library takes 3.4 MB: hashlib has functions of its own for all that the worker hashes.
    sys.modules["_hashlib"] = None  # type: ignore[assignment]
    import hashlib  # noqa: F401
    import hmac  # noqa: F401

    del sys.modules["_hashlib"]
    import logging

    from claude_mem_lite.paths import find_home
    from claude_mem_lite.worker.process import run

    status = run(find_home())
    logging.shutdown()
    # At once: all files are closed, and the tear-down of modules would hold the lock for another second.
    os._exit(status)
