"""A real standalone cluster of two workers, one of them killed while its tasks run: the scores are the local engine's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from frontrank.errors import InputError
from frontrank.spark.session import check_java

CLUSTER = Path(__file__).parents[1] / "examples" / "spark_cluster.py"


def test_a_worker_killed_in_mid_job_changes_nothing() -> None:
    try:
        check_java()
    except InputError as error:
        pytest.skip(str(error))
    command = [sys.executable, str(CLUSTER), "--try", "--kill", "--pages", "20000"]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worker 0 killed, with tasks running" in done.stdout and "the same pages and scores as here" in done.stdout
