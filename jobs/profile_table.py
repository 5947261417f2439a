"""spark-submit jobs/profile_table.py ...: the same arguments as `sparkanon profile`.

Not profile.py: beside the other jobs that would hide the standard library's own module.
"""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["profile", *sys.argv[1:]])
