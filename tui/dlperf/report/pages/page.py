"""The context of every page: language, data and path, with links relative to it and tables of results."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import quote, urlencode

from dlperf.messages import Language, Message, Value
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.best import program_words
from dlperf.report.data import KINDS, SiteData
from dlperf.report.medians import median_figure
from dlperf.report.site import locations as at
from dlperf.report.templating import render
from dlperf.report.views import ColumnView, FigureView, Link, Prose, TableView, TextView, filled, shortened
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim

Cell = Callable[[ConfigurationResult], object]
"""Content of a cell."""
NO_CELLS: Mapping[str, Cell] = MappingProxyType({})
COLUMNS: dict[str, str] = figures.TITLES["columns"] | {f"{kind}_figures": title for kind, title in KINDS.items()}
"""Column → its title."""
FACTS: dict[str, str] = figures.TITLES["facts"]
"""Fact of a machine or framework → its name."""
FIGURE_COLUMNS = (
    *("figure", "unit", "precision", "batch_size", "axes", "nodes_gpus", "speedup", "efficiency", "mfu"),
    "protocol",
)
COUNTS = (*(f"{kind}_figures" for kind in KINDS), "without_value")
"""Columns of ``Page.counts``."""
WORDED = (
    *("source", "case", "hardware", "framework", "unit", "precision", "protocol", "accelerator", "campaign", "date"),
    *("axes", "configuration", "estimator", "aggregate", "lead", "log", "origin", "report", "rival", "verdict"),
    *("version", "changed_conditions", "compile_cache", "build"),
)
"""Columns that contain text."""
SETTINGS = {"scale": "nodes_gpus"}
"""Setting of a reason against a claim → its column, where the names differ."""
PLACED = {"figure": "value", "per_gpu": "value", "unit": "aside"}
"""Columns of a list with a special position on a telephone."""


@dataclass(frozen=True)
class Page:
    """The page that a view is made for: its language, data and path, and the links and tables that depend on them."""

    language: Language
    data: SiteData
    path: str
    stated: figures.StatedAxes = field(default_factory=dict)
    """Axes that all results of a case share on the page."""

    def render(self, template: str, /, **view: object) -> str:
        """Render the page; templates also get ``data``, the page's figures as files, ``stated`` and others."""
        schema = at.html_address(self.path, "guide/data.md")
        better = at.html_address(self.path, "guide/programs.md") + "#send-a-better-program"
        separates = at.html_address(self.path, "guide/stacks.md") + "#separates"
        common = {"data": self.data_links(), "schema": schema, "better_program": better, "separates": separates}
        common["preview"] = self.data.preview(self.path)
        return render(template, self.language, self.data.templates, **(common | {"stated": self._stated()} | view))

    def _stated(self) -> list[tuple[str, str]]:
        """Return model and axes of the cases whose results share some."""
        worded = {case: figures.axes_text(self.language, axes) for case, axes in self.stated.items()}
        return [(self.data.case_title(case), words) for case, words in worded.items() if words]

    def your_number(self, case: str = "") -> Link:
        """Return a link to the page on which readers type their number, with a model chosen."""
        chosen = f"#{urlencode({'case': self.data.case_title(case)}, quote_via=quote)}" if case else ""
        return Link(
            self._("Is your number good, and what does training cost?"),
            at.html_address(self.path, at.YOUR_NUMBER) + chosen,
        )

    def facts(self, rows: Iterable[tuple[str, str | Link | TextView]]) -> TableView:
        """Return a table of names and values without rows whose value is empty."""
        stated = tuple(row for row in rows if row[1])
        return TableView((ColumnView(self._("Item")), ColumnView(self._("Value"))), stated)

    def _(self, english: str, /, **values: str) -> str:
        """Translate a text and insert ``values``."""
        return self.language.gettext(english, **values)

    def file_link(self, target: str, label: str) -> Link:
        return Link(label, self.data_file(target))

    def data_file(self, name: str) -> str:
        """Return the relative address of a data file."""
        return at.up_from(self.language, self.path) + name

    def link(self, text: str, target: str) -> Link:
        """Return a link to another page, or its text alone on that page."""
        return Link(text, "" if target == self.path else at.html_address(self.path, target))

    def hardware_link(self, hardware: str, campaign: str = "") -> Link:
        title = md.unbroken(self.data.hardware_title(hardware, campaign))
        return self.link(title, at.hardware_page(hardware))

    def framework_link(self, framework: str, campaign: str = "") -> Link:
        title = md.unbroken(self.data.framework_title(framework, campaign))
        return self.link(title, at.framework_page(framework))

    def program_link(self, row: ConfigurationResult) -> Link:
        """Return the framework of a result, and what its name does not say of the program."""
        link = self.framework_link(row.framework, row.campaign)
        return replace(link, aside=program_words(self.language, self.data, row))

    def reason(self, found: Message) -> Prose:
        """Return why nothing may be claimed, with the titles of frameworks."""
        return Prose(self.language.render(self._titled(found)).replace(" %", f"{md.NO_BREAK}%"))

    def verdict(self, found: Claim) -> str | TextView:
        """Return a verdict for a cell: its first reason, of a long one its first clause, and the number of others."""
        first, whole = (self.reason(one) for one in (found.reasons[0] if found.reasons else found.verdict, found.brief))
        return shortened(whole, first)

    def p(self, found: Claim) -> Link:
        """Return the p of a claim with the name of its test, which Methodology explains."""
        if found.p is None:
            return Link("")
        p = f"{found.p:.2g}"
        said = self._("p = {p}, paired t test", p=p) if found.of_kind else self._("p = {p}, Welch's t test", p=p)
        return Link(said, at.html_address(self.path, at.METHODOLOGY) + "#tests")

    def reasons(self, found: Claim) -> str | TextView:
        """Return all reasons for a cell, of each long one the first clause."""
        each = [self.reason(one) for one in found.reasons or (found.verdict,)]
        return shortened(Prose(self._("; ").join(each)), *each)

    def _titled(self, found: Message) -> Message:
        parameters = {name: self._titled_value(value) for name, value in found.parameters.items()}
        if found.code == "unequal_setting":
            sides = {side: self._(str(parameters[side])) for side in "ab" if parameters["name"] == "tuning"}
            parameters |= {"name": self._setting_title(str(parameters["name"])), **sides}
        return replace(found, parameters=parameters)

    def _setting_title(self, name: str) -> str:
        """Return the title of a setting as within a sentence."""
        titles, column = COLUMNS | FACTS, SETTINGS.get(name, name)
        title = self._(titles[column]) if column in titles else name
        return f"{title[:1].lower()}{title[1:]}".replace("_", " ")

    def _titled_value(self, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(self._titled, value))
        if isinstance(value, Message):
            return self._titled(value)
        if isinstance(value, str) and value in self.data.frameworks:
            return self.data.framework_title(value)
        return value

    def subject(self, row: ConfigurationResult, among: Sequence[ConfigurationResult]) -> Link:
        """Return a link to a configuration, labelled with what distinguishes it from the others."""
        parts = [figures.point_text(self.language, row, self.stated)]
        if len({other.hardware for other in among}) > 1:
            parts.insert(0, self.data.hardware_title(row.hardware, row.campaign))
        if len({other.framework for other in among}) > 1:
            parts.insert(0, self.data.framework_title(row.framework, row.campaign))
        return self.link(md.BETWEEN.join(parts), at.configuration_page(row))

    def report_link(self, row: ConfigurationResult) -> Link:
        """Return a link to the report of a result, else to the result's own page, labelled with the campaign's name.

        A result that another superseded may have no report.
        """
        source = self.data.source(row)
        reported = (source, row.case) in self.data.reports
        page = at.report_page(source, row.case) if reported else at.configuration_page(row)
        return self.link(md.unbroken(self.data.source_title(self.language, row.campaign)), page)

    def model_links(self, case: str) -> tuple[Link, ...]:
        """Return a link to the results of all sources on a case, none where there is one source."""
        title = self._("{case}, all sources", case=self.data.case_title(case))
        return (self.link(title, at.model_page(case)),) if case in self.data.models else ()

    def settings(self, row: ConfigurationResult) -> list[str]:
        """Return the batch size and the further axes in words, without those that the page states once."""
        return figures.settings_of(self.language, row, self.stated)

    def scale_and_settings(self, row: ConfigurationResult) -> str:
        """Return the number of GPUs, the batch size and the values of further axes."""
        return self.language.separator.join((figures.gpus_text(self.language, row), *self.settings(row)))

    def gpus_text(self, row: ConfigurationResult) -> str:
        """Return how many GPUs a result is of; of several that were measured together it says so."""
        count = str(len(self.data.together(row)))
        if self.data.is_joint(row):
            return self._("median of {count} GPUs", count=count)
        if count != "1":
            return self._("one of {count} GPUs", count=count)
        return figures.gpus_text(self.language, row)

    def option(self, value: object) -> str:
        """Return a setting's value in words."""
        return figures.option_text(self.language, value)

    def figure(self, row: ConfigurationResult) -> FigureView:
        """Return the throughput of a result, which says so where several GPUs were measured together."""
        if self.data.is_joint(row):
            return self.figure_of_gpus(row)
        found = figures.figure(self.language, self.path, row)
        if len(self.data.together(row)) == 1:
            return found
        return replace(found, below=self.gpus_text(row))

    def figure_of_gpus(self, row: ConfigurationResult, *, scaling: bool = False, best: bool = False) -> FigureView:
        """Return the throughput of a configuration, of GPUs that were measured together their median."""
        return median_figure(self.language, self.path, self.data.together(row), scaling=scaling, best=best)

    def counts(self, results: Sequence[ConfigurationResult]) -> list[str]:
        """Return the number of results of each origin, and of those without a value; empty instead of 0."""
        kinds = [self.data.kind(row.campaign) for row in results if row.value is not None]
        return [str(count or "") for count in (*map(kinds.count, KINDS), len(results) - len(kinds))]

    def fact(self, name: str) -> str:
        """Return the name of a fact as plain text, translated if it is a common one."""
        return self._(FACTS[name]) if name in FACTS else name

    def data_links(self) -> list[Link]:
        """Return links to this page's results as files."""
        kinds = {"csv": "CSV", "json": "JSON", **({"parquet": "Parquet"} if self.data.parquet else {})}
        return [Link(name, self.data_file(at.page_data(self.path, kind))) for kind, name in kinds.items()]

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        *,
        constant: Collection[str] = (),
        places: Mapping[str, str] = PLACED,
    ) -> TableView:
        """Return a table without its empty columns.

        Args:
            columns: keys of ``COLUMNS``.
            constant: columns to show once above the table if all rows have the same value.
            places: columns with a special position on a telephone.
        """
        heads = [ColumnView(self._(COLUMNS[name]), name in WORDED, place=places.get(name, "")) for name in columns]
        return filled(heads, rows, [place for place, name in enumerate(columns) if name in constant])

    def all_figures(self, results: Sequence[ConfigurationResult], columns: Sequence[str]) -> TableView:
        """Return a table with a row for each configuration, the highest of each model first, with everything known."""
        ordered = sorted(results, key=lambda row: (self.data.case_title(row.case), row.unit, -row.score))
        return self.listed(ordered, (*columns, *FIGURE_COLUMNS, "source"))

    def listed(
        self,
        results: Sequence[ConfigurationResult],
        columns: Sequence[str],
        cells: Mapping[str, Cell] = NO_CELLS,
        constant: Collection[str] = (*WORDED, "batch_size"),
    ) -> TableView:
        """Return a table of configurations.

        Args:
            results: one of several measured together stands for them where it is listed without the others.
            cells: functions that replace the default content of columns.
            constant: as for ``table``.
        """
        readers = {**self._cells(), **cells}
        rows = [[readers[name](row) for name in columns] for row in self.data.joint_where_alone(results)]
        return self.table(columns, rows, constant=constant)

    def _cells(self) -> dict[str, Cell]:
        """Return the content of each column as a function of the result."""
        return {
            "source": self.report_link,
            "case": lambda row: self.data.case_title(row.case),
            "hardware": lambda row: self.hardware_link(row.hardware, row.campaign),
            "framework": self.program_link,
            "figure": self.figure,
            "per_gpu": lambda row: replace(self.figure(row), value=figures.optional(figures.per_gpu(row)), below=""),
            "unit": lambda row: row.unit,
            "precision": lambda row: figures.precision_cell(self.language, row),
            "batch_size": figures.batch_text,
            "axes": lambda row: figures.varying_axes(self.language, row, self.stated),
            "nodes_gpus": figures.scale_text,
            "speedup": lambda row: figures.factor(row.speedup) if row.gpus_total > 1 else "",
            "efficiency": lambda row: figures.percent(row.efficiency) if row.gpus_total > 1 else "",
            "mfu": lambda row: figures.percent(row.mfu),
            "roofline": lambda row: figures.percent(self.data.roofline(row)),
            "samples_per_joule": figures.per_joule_text,
            "protocol": lambda row: self.protocol_link(row.protocol, code=True),
        }

    def protocol_link(self, protocol: str | None, *, code: bool = False) -> Link | str:
        if protocol is None or protocol not in self.data.protocols:
            return protocol or ""
        return Link(protocol, at.html_address(self.path, at.protocol_page(protocol)), code)
