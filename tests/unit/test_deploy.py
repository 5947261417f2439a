"""The examples of conf/deploy, read by the libraries that read them in earnest.

The DAG of Airflow is read in tests/cluster, because Airflow wants an environment of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from databricks.sdk.service.jobs import JobSettings
from kubeflow_spark_api.models import SparkV1beta2SparkApplication

from sparkanon.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "conf" / "deploy"


def is_command(arguments: Sequence[str]) -> bool:
    """Whether the command line takes these arguments; nothing is run."""
    import typer

    command: Any = typer.main.get_command(app)
    name, *rest = arguments
    one = command.commands[name]
    one.make_context(name, list(rest), resilient_parsing=False)
    return True


def kubernetes() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / "kubernetes.yaml").read_text())
    return content


def test_kubernetes() -> None:
    content = kubernetes()
    application = SparkV1beta2SparkApplication.from_dict(content)
    assert application.to_dict() == content, "a key that the operator does not know"
    spec = content["spec"]
    job = Path(spec["mainApplicationFile"]).name
    assert (ROOT / "jobs" / job).is_file()
    assert spec["sparkVersion"] == version("pyspark")
    assert spec["image"].endswith(":" + version("sparkanon"))
    mounted = {mount["name"] for mount in spec["executor"]["volumeMounts"]}
    assert mounted == {volume["name"] for volume in spec["volumes"]}


def test_kubernetes_finds_a_misspelt_key() -> None:
    content = kubernetes()
    content["spec"]["executor"]["memoryOverheat"] = "4g"
    assert SparkV1beta2SparkApplication.from_dict(content).to_dict() != content


def databricks() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DEPLOY / "databricks.json").read_text())
    return content


def test_databricks() -> None:
    content = databricks()
    assert JobSettings.from_dict(content).as_dict() == content, "a key that the SDK does not know"
    keys = {cluster["job_cluster_key"] for cluster in content["job_clusters"]}
    for task in content["tasks"]:
        assert task["job_cluster_key"] in keys
        (library,) = task["libraries"]
        assert library["pypi"]["package"] == f"sparkanon=={version('sparkanon')}"


def test_databricks_finds_a_misspelt_key() -> None:
    content = databricks()
    content["tasks"][0]["max_retires"] = 0
    assert JobSettings.from_dict(content).as_dict() != content


@pytest.mark.parametrize(
    "arguments",
    [
        ["anonymize", *kubernetes()["spec"]["arguments"]],
        *(task["python_wheel_task"]["parameters"] for task in databricks()["tasks"]),
    ],
)
def test_commands(arguments: list[str]) -> None:
    assert is_command(arguments)
