"""Every night on YARN: is the cluster ready, anonymize, audit what went out.

For Airflow 3 with apache-airflow-providers-apache-spark; copy it into the folder of DAGs. The
connection `spark_default` is yarn in cluster mode. The seed is in a file that the policy names.
"""

from datetime import datetime

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG

JOBS = "/opt/sparkanon/jobs"
POLICY = "hdfs:///policies/people.yaml"
OUTPUT = "hdfs:///lake/people_k5"
SETTINGS = {
    "spark.io.encryption.enabled": "true",
    "spark.network.crypto.enabled": "true",
    "spark.authenticate": "true",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # the Python of the archive (make env.tar.gz), on the driver and on executors
    "spark.pyspark.python": "env/bin/python",
    "spark.executor.memoryOverhead": "4g",  # Python workers: one block each
}


def job(name: str, *arguments: str) -> SparkSubmitOperator:
    """Not tried again: exit code 2 or 3 says no, and would say it again."""
    return SparkSubmitOperator(
        task_id=name,
        application=f"{JOBS}/{name}.py",
        application_args=[*arguments, "--json"],
        archives="hdfs:///envs/env.tar.gz#env",
        conf=SETTINGS,
        executor_memory="8g",
        executor_cores=4,
        num_executors=4,
        retries=0,
    )


with DAG(
    dag_id="anonymize_people",
    schedule="0 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
):
    job("doctor", "--output", OUTPUT) >> job("anonymize", POLICY) >> job("audit", POLICY)
