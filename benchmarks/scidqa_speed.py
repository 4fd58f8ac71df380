"""How long the whole SciDQA experiment takes, reading included: wall time, CPU time of all steps, peak memory of the largest.

    VIVAVOCE_MIRROR=... python benchmarks/scidqa_speed.py [cores]

CPU time divided by the cores is what the wall time would be on cores that nothing else uses. Runs in a new folder each time.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(cores: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--directory", folder, "--quiet", "all"]
        command += ["--cores", str(cores), "--config", "experiment=scidqa_published", "tracking=none"]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        wall = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime
        rollouts = list(Path(folder, "results/rollouts").rglob("s0.jsonl"))
    print(f"{len(rollouts)} response files on {cores} cores: {wall:.0f} s wall, {cpu:.0f} s CPU ({cpu / cores:.0f} s a core)")
    print(f"peak memory of the largest process {used.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
