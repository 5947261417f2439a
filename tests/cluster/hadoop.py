"""How Hadoop's daemons are started: a folder of settings, a class, a little memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from jars import jars

_LOG = """log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""


def write_site(conf: Path, name: str, settings: Mapping[str, object]) -> None:
    """A file like core-site.xml in a folder of settings."""
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "log4j.properties").write_text(_LOG)
    entries = "".join(
        f"  <property><name>{key}</name><value>{escape(str(value))}</value></property>\n"
        for key, value in settings.items()
    )
    (conf / f"{name}-site.xml").write_text(f"<configuration>\n{entries}</configuration>\n")


def java(conf: Path, name: str, *arguments: str, memory: str = "256m") -> list[str]:
    """The command for a class of `org.apache.hadoop`."""
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Xmx{memory}"]
    path = f"{conf}:{jars()}/*"
    return ["java", *quick, "-cp", path, f"org.apache.hadoop.{name}", *arguments]
