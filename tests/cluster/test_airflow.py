"""The DAG of conf/deploy, read by Airflow itself, which wants an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("apache-airflow==3.3.2", "apache-airflow-providers-apache-spark==6.3.4")


@pytest.mark.cluster  # it downloads Airflow
def test_airflow_reads_the_dag(tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    dags = tmp_path / "dags"
    dags.mkdir()
    shutil.copy(ROOT / "conf" / "deploy" / "airflow_dag.py", dags / "anonymize_people.py")
    done = subprocess.run(
        [python, Path(__file__).with_name("read_dags.py"), str(dags)],
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        | {"AIRFLOW_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shutil.rmtree(tmp_path / "venv")  # two thirds of a gigabyte
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["errors"] == {}
    assert found["after"] == {"doctor": [], "anonymize": ["doctor"], "audit": ["anonymize"]}
    for name, command in found["commands"].items():
        assert command[0] == "spark-submit"
        job = next(i for i, part in enumerate(command) if part.endswith(f"/jobs/{name}.py"))
        assert (ROOT / "jobs" / f"{name}.py").is_file()
        assert command[-1] == "--json"
        assert command[job + 1].startswith(("hdfs:", "--output"))
        assert "spark.io.encryption.enabled=true" in command[:job]
