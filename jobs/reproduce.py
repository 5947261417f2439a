"""spark-submit jobs/reproduce.py ...: the same arguments as `sparkanon reproduce`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["reproduce", *sys.argv[1:]])
