"""The adversarial citation cases: passages, claims and right verdicts, from `citation_cases.yaml` or a file of that form."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec
import yaml

from vivavoce.errors import DataError

KINDS = (
    "supported", "paraphrased", "on_topic", "contradicted", "title_only", "stuffed", "shuffled", "number_changed",
    "negation_flipped", "numeric_evidence", "non_english",
)  # fmt: skip
# Neutral sentences that stand around a passage in the length audit: they say nothing about any claim.
PADDING = (
    "This section first gives the background that readers from other fields may need. Definitions follow common usage, and "
    "symbols are listed in the appendix. The text is organised as follows. ",
    " Further details of the procedure are given in the supplement. We thank the reviewers for their remarks on an earlier "
    "version. The remaining sections turn to other matters, which can be read independently of this one. ",
)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case: whether `title` and `passage` support `claim`. `paper` groups the cases of one invented paper."""

    id: str
    paper: str
    kind: str
    title: str
    passage: str
    claim: str
    verdict: Literal["supported", "contradicted", "unrelated"]


def load_cases(path: Path | None = None) -> list[Case]:
    """The cases of a file (the packaged one if None), with ids `<paper>/<kind>/<number>`. DataError if one is malformed."""
    source = path or Path(str(files("vivavoce").joinpath("audit", "citation_cases.yaml")))
    cases: list[Case] = []
    try:
        for entry in yaml.safe_load(source.read_text(encoding="utf-8")):
            for number, raw in enumerate(entry["cases"]):
                case = {"title": entry["title"], "passage": entry["passage"], **raw}
                case |= {"paper": entry["id"], "id": f"{entry['id']}/{raw['kind']}/{number}"}
                cases.append(msgspec.convert(case, Case))
    except (yaml.YAMLError, msgspec.ValidationError, KeyError, TypeError) as error:
        raise DataError(f"{source}: malformed cases: {error!r}. Expected papers with id, title, passage and cases.") from None
    if unknown := {case.kind for case in cases} - set(KINDS):
        raise DataError(f"{source}: unknown kinds {', '.join(sorted(unknown))}; expected some of {', '.join(KINDS)}.")
    return cases


def padded(passage: str) -> str:
    """A passage with neutral sentences around it; an empty one stays empty."""
    return PADDING[0] + passage + PADDING[1] if passage else passage
