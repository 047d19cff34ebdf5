"""Program that agents run for every event. Finds the compiled kernel beside it and hides all failures."""

import posix
import sys

try:
    sys.path.insert(0, __file__.rpartition("/")[0] or ".")
    import kernel  # type: ignore[import-not-found]

    kernel.main()
except BaseException:
    pass
posix._exit(0)
