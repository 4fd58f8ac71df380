"""Which code a step runs, as a digest, and the manifest that says what made an output.

The digest covers the modules that a step imports, directly or not, without their comments and docstrings, and the data files
(prompts, price lists) that those modules name. Snakemake alone does not see an edited import.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from vivavoce.files import sha256, write_json

VERSIONS = ("vivavoce", "duckdb", "nltk", "numpy", "onnxruntime", "pypdfium2", "rapidfuzz", "rouge-score", "tantivy")


def code_digest(script: Path, modules: Iterable[str] = ()) -> str:
    """Hex digest of the code that `script` and the named modules reach, installed packages and standard library apart."""
    pending = [*_imports(script, "")]
    pending += modules
    reached: dict[str, str] = {script.name: _source_digest(script)}
    while pending:
        module = pending.pop()
        path = None if module in reached else _locate(module)
        if path is None:
            continue
        reached[module] = _source_digest(path)
        pending += _imports(path, module if path.name == "__init__.py" else module.rpartition(".")[0])
        pending.append(module.rpartition(".")[0])
        for data in _data_files(path):
            reached[f"{module}:{data.name}"] = _file_digest(data)
    return hashlib.sha256("\n".join(f"{name} {reached[name]}" for name in sorted(reached)).encode()).hexdigest()


def write_manifest(
    output: Path, *, step: str, key: Mapping[str, str], inputs: Mapping[str, Path], digest: str, **facts: Any
) -> None:
    """Write `<output>.manifest.json`, last of all: what made the output (digests of inputs, code and configuration; versions).

    `facts` are the step's counts, metrics and artifacts, which the tracker mirrors.
    """
    manifest = {
        "step": step,
        "key": dict(key),
        "inputs": {name: sha256(path) for name, path in sorted(inputs.items())},
        "output": {"name": output.name, "sha256": sha256(output)},
        "digest": digest,
        "versions": versions(),
        **facts,
    }
    write_json(manifest_path(output), manifest)


def manifest_path(output: Path) -> Path:
    """Where the manifest of an output stands."""
    return output.with_name(output.name + ".manifest.json")


@cache
def versions() -> dict[str, str]:
    """The installed versions of the libraries that can change a number."""
    found = {}
    for package in VERSIONS:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "absent"
    return found


@cache
def _locate(module: str) -> Path | None:
    """The source file of a module of this project or of its user; None for others."""
    top = module.partition(".")[0]
    if not top or top in sys.stdlib_module_names or (top != "vivavoce" and _installed(top)):
        return None
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _installed(package: str) -> bool:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return True
    return spec is None or not spec.origin or "site-packages" in Path(spec.origin).parts


@cache
def _tree(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                first.value.value = ""
    return tree


@cache
def _source_digest(path: Path) -> str:
    return hashlib.sha256(ast.dump(_tree(path)).encode()).hexdigest()


@cache
def _file_digest(path: Path) -> str:
    return sha256(path)


@cache
def _imports(path: Path, package: str) -> tuple[str, ...]:
    found = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = f"{parent}.{base}".rstrip(".")
            found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(found)


@cache
def _data_files(path: Path) -> tuple[Path, ...]:
    """The data files beside a module that it names: by their own name, or by the name of the folder they stand in."""
    if path.name == "__init__.py":
        return ()
    words = {node.value for node in ast.walk(_tree(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    beside = [item for item in sorted(path.parent.iterdir()) if item.name in words]
    files = [item for item in beside if item.is_file() and item.suffix != ".py"]
    for folder in (item for item in beside if item.is_dir()):
        files += [item for item in sorted(folder.rglob("*")) if item.is_file() and item.suffix not in (".py", ".pyc")]
    return tuple(files)
