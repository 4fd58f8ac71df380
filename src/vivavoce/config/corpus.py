"""The typed form of `conf/corpus/<name>.yaml`: how papers become tables and a search index."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from vivavoce.config.base import Strict
from vivavoce.config.benchmark import Asset
from vivavoce.corpus.download import DownloadSettings


class ChunkConfig(Strict):
    """`characters` of size 512 is what the published corpus was cut by; `tokens` (words and marks) is what its paper says."""

    unit: Literal["characters", "tokens"] = "characters"
    size: int = Field(512, ge=16, le=16000)
    overlap: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> ChunkConfig:
        if self.overlap >= self.size:
            raise ValueError(f"overlap {self.overlap} must be below size {self.size}")
        return self


class IndexConfig(Strict):
    """What is searchable, as `table.column`; `metadata.title_abstract` is title and abstract in one.

    `uri` empty: files beside the tables. `opensearch+http://host:9200/prefix` (or +https): a search server that holds the
    index.
    """

    uri: str = Field("", pattern=r"^$|^opensearch\+https?://[^/\s]+/[a-z0-9][a-z0-9_-]*$")
    lexical: tuple[str, ...] = (
        "chunks.text_content",
        "equations.equation_content",
        "images.image_caption",
        "metadata.abstract",
        "metadata.bibtex",
        "metadata.title",
        "metadata.title_abstract",
        "pages.page_content",
        "reference.reference_content",
        "sections.section_content",
        "sections.section_title",
        "tables.table_caption",
        "tables.table_content",
    )
    embedding: tuple[str, ...] = (
        "chunks.text_content",
        "images.image_caption",
        "metadata.title_abstract",
        "sections.section_title",
        "tables.table_caption",
        "tables.table_content",
    )
    max_tokens: int = Field(256, ge=8, le=512)  # where the embedding model cuts a text


class CorpusConfig(Strict):
    """`source: pdfs` reads PDFs (with a catalogue if there is one), `catalogue` titles and abstracts alone.

    `assets` are pinned files (`catalogue`), `pdfs` is a folder in this project or an absolute one. `download: true` fetches
    what the catalogue names by `pdf_url` into results/data/pdfs/<name>/ instead; a block there sets how gently.
    """

    name: str
    source: Literal["pdfs", "catalogue"]
    assets: dict[str, Asset] = {}
    pdfs: str = ""
    download: bool | DownloadSettings = False
    chunks: ChunkConfig = ChunkConfig()
    index: IndexConfig = IndexConfig()
    text_cap: int = Field(16000, ge=512)  # characters a stored string may have (spec 4.5)
    seconds_per_pdf: float = Field(300.0, gt=0)  # a PDF that takes longer is skipped and named
    citation: str = ""
    licence: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _pdfs_have_one_source(self) -> CorpusConfig:
        if self.download and (self.source != "pdfs" or self.pdfs or "catalogue" not in self.assets):
            raise ValueError("download needs source: pdfs, a catalogue among assets, and no folder `pdfs`")
        return self

    @property
    def download_settings(self) -> DownloadSettings | None:
        """How to download, None where nothing is."""
        if isinstance(self.download, DownloadSettings):
            return self.download
        return DownloadSettings() if self.download else None
