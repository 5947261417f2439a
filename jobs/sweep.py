"""spark-submit jobs/sweep.py ...: the same arguments as `sparkanon sweep`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["sweep", *sys.argv[1:]])
