"""spark-submit jobs/profile.py ...: the same arguments as `sparkanon profile`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["profile", *sys.argv[1:]])
