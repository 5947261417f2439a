"""spark-submit jobs/anonymize.py ...: the same arguments as `sparkanon anonymize`."""

import sys

from sparkanon.cli import main

if __name__ == "__main__":
    main(["anonymize", *sys.argv[1:]])
