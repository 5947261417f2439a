"""spark-submit jobs/audit.py ...: the same arguments as `sparkanon audit`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["audit", *sys.argv[1:]])
