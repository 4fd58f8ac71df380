"""What all scripts share: their common arguments, logging, and one message instead of a traceback for a user's mistake."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from vivavoce.errors import VivavoceError

ROOT = Path(__file__).resolve().parents[2]
TROUBLE = {  # what a file system may say that no code can help, and what to do about it
    errno.ENOSPC: "Free some space and run again",
    errno.EDQUOT: "The quota is used up: free some space and run again",
    errno.EFBIG: "A limit on the size of files is reached: raise it and run again",
    errno.EROFS: "Make the folder writable, or run where it is, and run again",
    errno.EACCES: "Make it readable and writable for this user and run again",
    errno.EPERM: "Make it readable and writable for this user and run again",
    errno.EIO: "Check the disk, then run again",
}


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
    """Parse, log, run; a VivavoceError or trouble with a disk ends it with a message and exit code 1, Ctrl-C with 130."""
    options = arguments.parse_args()
    logging.raiseExceptions = False  # a log on a full disk is no reason for a traceback
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[logging.StreamHandler(sys.stderr)])
    try:
        if getattr(options, "log", None):
            options.log.parent.mkdir(parents=True, exist_ok=True)
            logging.getLogger().addHandler(logging.FileHandler(options.log, mode="w", encoding="utf-8"))
        main(options)
    except VivavoceError as error:
        logging.getLogger(__name__).error("error: %s", error)
        sys.exit(1)
    except OSError as error:
        if error.errno not in TROUBLE:
            raise
        logging.getLogger(__name__).error("error: %s", _trouble(error, getattr(options, "output", None)))
        sys.exit(1)
    except KeyboardInterrupt:
        logging.getLogger(__name__).error("stopped; what was finished is kept")
        sys.exit(130)


def _trouble(error: OSError, output: Path | None) -> str:
    place = error.filename if isinstance(error.filename, str) else f"{output or 'a file'} (or a temporary file for it)"
    todo = TROUBLE[error.errno or 0]
    return f"{place}: {os.strerror(error.errno or 0)}. {todo}: what was finished is kept, and no call is paid twice."


def mirror() -> Path | None:
    """The folder of VIVAVOCE_MIRROR, if set."""
    folder = os.environ.get("VIVAVOCE_MIRROR")
    return Path(folder) if folder else None


def store(*parts: str) -> Path:
    """The call store of one job: VIVAVOCE_STORE or .vivavoce/calls, outside of everything that Snakemake may delete."""
    return Path(os.environ.get("VIVAVOCE_STORE", ".vivavoce/calls"), *parts[:-1], f"{parts[-1]}.sqlite")
