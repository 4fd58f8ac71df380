"""Model files: every shipped one is valid, a wrong one names file, key and what was expected, prices are dated or unknown."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from vivavoce.config.model import ModelConfig, listed_price
from vivavoce.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "conf" / "model").glob("*.yaml"))
GOOD = {"base_url": "http://localhost:8000/v1", "model": "m"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_file_is_valid_and_lands_under_its_own_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[0] == f"# @package model.{path.stem}"
    config = ModelConfig.parse(path.stem, yaml.safe_load(text))
    assert config.name == path.stem
    assert ModelConfig.parse(path.stem, config.model_dump(mode="json")) == config, "the frozen form reads back as the same"
    assert config.price is not None or "openai.com" not in config.base_url


def test_there_are_files_for_the_servers_and_models_of_the_published_tables() -> None:
    expected = "deepseek_r1 extractive gpt_4o gpt_4o_mini llama_3_1_70b llama_3_1_8b llama_3_3_70b llama_cpp ollama openrouter "
    expected += "prometheus_8x7b prometheus_bgb_8x7b qwen_2_5_3b qwen_2_5_72b qwen_2_5_7b qwen_2_5_vl_72b smollm2 together vllm"
    assert set(expected.split()) <= {path.stem for path in FILES}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (GOOD | {"temprature": 0.1}, r"conf/model/mine.yaml: temprature: no such key. Expected some of: .*temperature"),
        (GOOD | {"temperature": "hot"}, r"mine.yaml: temperature: .*valid number"),
        (GOOD | {"temperature": 3}, r"temperature: .*less than or equal to 2"),
        (GOOD | {"max_tokens": 0}, r"max_tokens: .*greater than 0"),
        (GOOD | {"tool_calls": "both"}, r"tool_calls: .*'native' or 'text'"),
        (GOOD | {"base_url": "localhost:8000"}, r"base_url: expected an address such as http://"),
        ({"model": "m"}, r"mine.yaml: provider openai needs base_url and model"),
        ({"provider": "local"}, r"provider local needs gguf"),
        (GOOD | {"extra_body": {"stream": True}}, r"extra_body: stream may not be set here"),
        (GOOD | {"price": {"prompt": 1}}, r"price.completion: .*required"),
        (GOOD | {"price": {"prompt": -1, "completion": 1}}, r"price.prompt: .*greater than or equal to 0"),
        (GOOD | {"api_key_env": "sk-abc"}, r"api_key_env: expected the NAME"),
        (GOOD | {"gguf_sha256": "xyz"}, r"gguf_sha256: .*pattern"),
        ("nothing", r"mine.yaml: expected a mapping"),
    ],
)
def test_a_wrong_file_is_told_with_key_and_expectation(values: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        ModelConfig.parse("mine", values)


def test_the_address_is_written_one_way() -> None:
    for url in ("http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"):
        assert ModelConfig.parse("m", {"base_url": url, "model": "m"}).base_url == "http://h:1/v1"


def test_prices_are_dated_found_by_host_and_model_and_unknown_is_none() -> None:
    price = listed_price("https://api.openai.com/v1", "gpt-4o-mini-2024-07-18")
    assert price is not None and (price.prompt, price.completion) == (0.15, 0.60)
    assert price.of(1_000_000, 500_000) == pytest.approx(0.45)
    assert listed_price("http://localhost:8000/v1", "gpt-4o-mini") is None, "the same name elsewhere has another price"
    assert listed_price("https://api.openai.com/v1", "gpt-99") is None
    own = ModelConfig.parse("m", GOOD | {"price": {"prompt": 1, "completion": 2, "date": datetime.date(2026, 1, 2)}})
    assert own.price is not None and own.price.date == "2026-01-02"
    assert ModelConfig.parse("m", GOOD).price is None


def test_every_listed_price_has_a_date() -> None:
    listed = yaml.safe_load((ROOT / "src/vivavoce/models/prices.yaml").read_text(encoding="utf-8"))["hosts"]
    for host, models in listed.items():
        for model, entry in models.items():
            price = listed_price(f"https://{host}/v1", model)
            assert price is not None and datetime.date.fromisoformat(price.date) and price.prompt > 0, (host, model, entry)
