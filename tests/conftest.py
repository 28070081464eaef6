"""Properties are checked on the same examples in every run, so that a verdict does not depend on luck.

No test reads or writes the user's cache of certificates.
"""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
os.environ["DPWORDS_CACHE"] = ""
