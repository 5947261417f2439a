"""The command line: teaches by --help, prints for people, or one JSON object for schedulers."""

from sparkanon.cli.app import main

__all__ = ["main"]
