"""spark-submit jobs/doctor.py ...: the same arguments as `sparkanon doctor`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["doctor", *sys.argv[1:]])
