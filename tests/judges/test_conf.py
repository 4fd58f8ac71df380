"""conf/judge/*.yaml: each file is valid, names code and a model that exist, and pins tasks in their current version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from vivavoce.config.base import load
from vivavoce.config.judge import JudgeConfig
from vivavoce.judges.prompts import load_task

FILES = sorted((Path(__file__).parents[2] / "conf/judge").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_judge_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# @package judge.{path.stem}\n")
    config = JudgeConfig.model_validate_json(json.dumps(yaml.safe_load(text) | {"name": path.stem}))
    load(config.judge, str(path))
    assert config.model is None or (path.parents[1] / f"model/{config.model}.yaml").is_file()
    for task, version in config.versions.items():
        assert load_task(task).version == version


def test_audit_cases_are_pinned(root: Path) -> None:
    from vivavoce.files import sha256

    asset = yaml.safe_load((root / "conf/benchmark/judge_audit.yaml").read_text(encoding="utf-8"))["assets"]["cases"]
    assert sha256(root / asset["path"]) == asset["sha256"]
