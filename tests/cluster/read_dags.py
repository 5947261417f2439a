"""Run by test_airflow.py with the Python of Airflow: the DAGs of a folder, as JSON."""

from __future__ import annotations

import json
import sys

from airflow.dag_processing.dagbag import DagBag


def main(folder: str) -> None:
    bag = DagBag(folder)
    (dag,) = bag.dags.values()
    commands = {
        task.task_id: task._get_hook()._build_spark_submit_command(task.application)
        for task in dag.tasks
    }
    after = {task.task_id: sorted(task.upstream_task_ids) for task in dag.tasks}
    found = {"errors": bag.import_errors, "after": after, "commands": commands}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
