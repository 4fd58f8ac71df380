"""What all scripts share: their common arguments, logging, and one message instead of a traceback for a user's mistake."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from vivavoce.errors import VivavoceError

ROOT = Path(__file__).resolve().parents[2]


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the arguments of every step."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument(
        "--config", type=Path, required=True, help="the frozen experiment, results/experiments/<name>/config.yaml"
    )
    arguments.add_argument(
        "--digest", default="", help="digest of code and configuration, for the manifest (Snakemake gives it)"
    )
    arguments.add_argument("--log", type=Path, help="a file for the full log")
    return arguments


def run(main: Callable[[argparse.Namespace], None], arguments: argparse.ArgumentParser) -> None:
    """Parse, log, run; a VivavoceError ends the script with its message and exit code 1, Ctrl-C with 130."""
    options = arguments.parse_args()
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if getattr(options, "log", None):
        options.log.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(options.log, mode="w", encoding="utf-8"))
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers)
    try:
        main(options)
    except VivavoceError as error:
        logging.getLogger(__name__).error("error: %s", error)
        sys.exit(1)
    except KeyboardInterrupt:
        logging.getLogger(__name__).error("stopped; what was finished is kept")
        sys.exit(130)


def mirror() -> Path | None:
    """The folder of VIVAVOCE_MIRROR, if set."""
    folder = os.environ.get("VIVAVOCE_MIRROR")
    return Path(folder) if folder else None


def store(*parts: str) -> Path:
    """The call store of one job: VIVAVOCE_STORE or .vivavoce/store, outside of everything that Snakemake may delete."""
    return Path(os.environ.get("VIVAVOCE_STORE", ".vivavoce/store"), *parts[:-1], f"{parts[-1]}.sqlite")
