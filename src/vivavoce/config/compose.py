"""Compose an experiment with Hydra, check it with pydantic, and freeze it as one canonical file that every step reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from vivavoce.config.experiment import ExperimentConfig
from vivavoce.errors import ConfigError
from vivavoce.files import canonical, write_text

LISTS = ("benchmark", "agent", "model", "judge", "table", "plot")  # groups of which an experiment selects several
NAMES = ("experiment", "tracking")
NUMBERS = ("seeds", "limit", "budget_calls", "budget_usd", "offline")


def compose(conf: Path, choices: Mapping[str, Any]) -> ExperimentConfig:
    """The experiment that `choices` select, as `snakemake --config` carries them: names and whole numbers.

    Several names are joined by commas. The corpora that benchmarks name and the models that judges name come with them.
    Raises ConfigError that names the file and key, or lists the names that exist.
    """
    choices = dict(choices)
    name = str(choices.pop("experiment", "specimen"))
    overrides = [f"experiment={_known(conf, 'experiment', name)}", *_overrides(conf, choices)]
    raw = _hydra(conf, overrides)
    players = sorted(raw.get("model", {}))
    corpora = [_known(conf, "corpus", corpus) for corpus in _named(raw.get("benchmark", {}), "corpus")]
    judges = [_known(conf, "model", model) for model in _named(raw.get("judge", {}), "model") if model not in players]
    if corpora or judges:
        overrides = [item for item in overrides if not item.startswith("model=")]
        raw = _hydra(conf, [*overrides, f"corpus=[{','.join(corpora)}]", f"model=[{','.join([*players, *judges])}]"])
    return check({**raw, "name": name, "players": players}, conf)


def check(raw: dict[str, Any], conf: Path = Path("conf")) -> ExperimentConfig:
    """Validate a composed experiment; the first mistake becomes a ConfigError that names its file and key."""
    for group in (*LISTS, "corpus"):
        for name, block in raw.get(group, {}).items():
            if not (conf / group / f"{name}.yaml").is_file() or not isinstance(block, dict):
                raise ConfigError(
                    f"conf/{group}: '{name}' is not the name of a file there. The first line of each file must be "
                    f"'# @package {group}.<file name without .yaml>'."
                )
            block["name"] = name
    try:
        return ExperimentConfig.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise ConfigError(_explain(error, raw)) from None


def freeze(config: ExperimentConfig, path: Path, *, busy: bool = False) -> None:
    """Write the canonical form (sorted keys, normalised numbers), only if it differs from what is there.

    `busy` says that a workflow is running in this folder: then a difference is a ConfigError, for its steps read the file.
    """
    text = yaml.safe_dump(json.loads(canonical(config.model_dump(mode="json"))), sort_keys=True, allow_unicode=True, width=120)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        if busy:
            raise ConfigError(
                f"{path}: another workflow runs in this folder with another configuration, or was killed. Wait for it, or run "
                "`snakemake --unlock` with the same --config if it is gone."
            )
        write_text(path, text)


def thaw(path: Path) -> ExperimentConfig:
    """Read a frozen experiment."""
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader, in C
        return ExperimentConfig.model_validate_json(json.dumps(raw))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no frozen configuration. Snakemake writes it when it reads the Snakefile.") from None
    except (yaml.YAMLError, ValidationError) as error:
        raise ConfigError(f"{path}: not a frozen configuration ({error}). Delete it and run snakemake again.") from None


def block(config: BaseModel) -> dict[str, Any]:
    """A configuration block as plain data, for digests."""
    return config.model_dump(mode="json")


def names(conf: Path, group: str) -> list[str]:
    """The names that a group offers."""
    return sorted(path.stem for path in (conf / group).glob("*.yaml"))


def _named(blocks: dict[str, Any], key: str) -> list[str]:
    """The names that the blocks of a group give under `key`."""
    return sorted({str(item[key]) for item in blocks.values() if isinstance(item, dict) and item.get(key)})


def _known(conf: Path, group: str, name: str) -> str:
    if name not in names(conf, group):
        raise ConfigError(f"unknown {group} '{name}'. Known: {', '.join(names(conf, group))}. Each is a file in conf/{group}/.")
    return name


def _overrides(conf: Path, choices: Mapping[str, Any]) -> list[str]:
    overrides = []
    for key, value in sorted(choices.items()):
        if key in LISTS:
            selected = [_known(conf, key, part.strip()) for part in str(value).split(",")]
            overrides.append(f"{key}=[{','.join(selected)}]")
        elif key in NAMES:
            overrides.append(f"{key}={_known(conf, key, str(value))}")
        elif key in NUMBERS:
            try:
                number = int(str(value))
            except ValueError:
                raise ConfigError(f"--config {key}={value}: expected a whole number.") from None
            overrides.append(f"{key}={bool(number)}" if key == "offline" else f"{key}={number}")
        else:
            allowed = ", ".join((*NAMES, *LISTS, *NUMBERS))
            raise ConfigError(
                f"--config {key}={value}: unknown key. Known: {allowed}. Anything else belongs in a file of conf/."
            )
    if {"model", "judge"} & set(choices) and "offline" not in choices:
        overrides.append("offline=false")  # another model cannot be replayed from the calls recorded of this one
    return overrides


def _hydra(conf: Path, overrides: list[str]) -> dict[str, Any]:
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
            composed = OmegaConf.to_container(hydra_compose("config", overrides=overrides), resolve=True)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError(f"conf/: {error}") from None
    assert isinstance(composed, dict)
    return {str(key): value for key, value in composed.items()}


def _explain(error: ValidationError, raw: dict[str, Any]) -> str:
    lines = []
    for problem in error.errors():
        location = [str(part) for part in problem["loc"]]
        if len(location) > 1 and location[0] in (*LISTS, "corpus"):
            file, key = f"conf/{location[0]}/{location[1]}.yaml", ".".join(location[2:])
        elif location[0] == "tracking":
            file, key = "conf/tracking/", ".".join(location[1:])
        else:
            file, key = f"conf/experiment/{raw.get('name')}.yaml or conf/config.yaml", ".".join(location)
        wanted = (
            "no such key is known here"
            if problem["type"] == "extra_forbidden"
            else problem["msg"].removeprefix("Value error, ")
        )
        given = "" if problem["type"] in ("missing", "extra_forbidden") else f" (given: {problem['input']!r})"
        lines.append(f"{file}: {key or 'the file'}: {wanted}{given}")
    return "\n".join(lines)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The C loader where libyaml is there: frozen files are read once a step."""
