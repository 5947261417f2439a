"""spark-submit jobs/sample_data.py ...: the same arguments as `sparkanon sample-data`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["sample-data", *sys.argv[1:]])
