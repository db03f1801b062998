"""The names of sources, models, frameworks and machines, as pages show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from dlperf.catalog.hardware import Hardware
from dlperf.catalog.model import Case, Framework
from dlperf.messages import Language
from dlperf.report.data.contents import MEASURED, PUBLISHED, SiteContents
from dlperf.report.data.names import printed_names

FAMILIES = {
    "jax": "JAX",
    "mindspore": "MindSpore",
    "mxnet": "MXNet",
    "oneflow": "OneFlow",
    "paddle": "PaddlePaddle",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
}
"""Names of the frameworks that logs reveal (``evidence.names.FRAMEWORKS``), whatever the version."""


@dataclass(frozen=True)
class NamedContents(SiteContents):
    """Contents whose parts have names."""

    def source_title(self, language: Language, source: str) -> str:
        """Return the name of a campaign, a public report or a source, as plain text."""
        report = self.published.get(source)
        if report:
            return report.title.localized(language.code)
        if source.startswith(MEASURED):
            return language.gettext("our measurements, protocol {protocol}", protocol=source.removeprefix(MEASURED))
        return source.removeprefix(PUBLISHED)

    def report_title(self, language: Language, source: str, case: str) -> str:
        return f"{self.case_title(case)} – {self.source_title(language, source)}"

    def metric_title(self, language: Language, metric: str) -> str:
        known = self.metrics.get(metric)
        return known.localized(language.code).title if known else metric

    def case_title(self, case: str) -> str:
        return _title(self.cases, case) or self._printed_names.get(("case", case, "")) or case

    def framework_title(self, framework: str, campaign: str = "") -> str:
        """Return the name of a framework: as printed in a published report, elsewhere as in the catalogue.

        The framework of an imported log has no known version, and so no catalogue entry.
        """
        if self.lacks_version(framework, campaign):
            return FAMILIES[framework]
        printed = self._printed_names.get(("framework", framework, campaign))
        return printed if printed and campaign else _title(self.frameworks, framework) or printed or framework

    def lacks_version(self, framework: str, campaign: str) -> bool:
        """Tell whether the framework is known from imported logs only."""
        return framework in FAMILIES and self.is_imported(campaign)

    def hardware_title(self, hardware: str, campaign: str = "") -> str:
        printed = self._printed_names.get(("hardware", hardware, campaign))
        return printed if printed and campaign else _title(self.hardware, hardware) or printed or hardware

    @cached_property
    def _printed_names(self) -> dict[tuple[str, str, str], str]:
        return printed_names(self.published, self.language)


def _title(entries: Mapping[str, Hardware] | Mapping[str, Framework] | Mapping[str, Case], name: str) -> str | None:
    entry = entries.get(name)
    return entry.title if entry else None
