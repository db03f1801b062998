"""Jinja2 templates that turn view data into the Markdown pages of the site.

All output is escaped for both Markdown and HTML, so that data is plain text in paragraphs, headings, tables and
attributes. Templates in the workspace's ``site/templates`` override those of this package.
"""

import html
import os
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from traceback import extract_tb
from types import CodeType
from typing import Any

from jinja2 import (
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
    nodes,
)
from jinja2.bccache import Bucket
from jinja2.compiler import CodeGenerator, Frame
from jinja2.loaders import split_template_path
from jinja2.runtime import Context, Macro
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from dlperf.errors import DlperfError
from dlperf.messages import ENGLISH, LANGUAGES, Language
from dlperf.messages.language import Code
from dlperf.messages.numbers import four_digits
from dlperf.opening import is_regular, read_bytes
from dlperf.report import markdown as md
from dlperf.report import views
from dlperf.report.charts import axis, svg

TEMPLATES = Path(__file__).parent / "templates"
MACROS = "macros.html.j2"
MOST_BYTES, MOST_BITS = 1 << 30, 1 << 12
"""That a page takes in memory by templates of a workspace, and of a power in them, which nothing interrupts."""
CHARTS = "charts.svg.j2"
LINE_BREAK = re.compile(r"\n\s*")
NAME = re.compile(r"\b[A-Z]+\d+(?:-PURE|[ -]SXM\d*(?:[ -]\d+GB)?)(?!\w)")
"""Matches a precision or a GPU at whose hyphen or blank a browser would begin a new line."""


class Safe(Markup):
    """Markup that also escapes interpolated values for Markdown."""

    @classmethod
    def escape(cls, value: Any, /) -> Markup:  # type: ignore[override]
        if isinstance(value, Markup):
            return value
        return cls(value.__html__()) if hasattr(value, "__html__") else _escaped(value)


@lru_cache(maxsize=md.REMEMBERED, typed=True)
def _escaped(value: object) -> Safe:
    return Safe(md.text(value).replace('"', "&quot;"))


@lru_cache(maxsize=md.REMEMBERED, typed=True)
def _with_whole_names(value: str) -> Safe:
    """Escape text and keep each name that ``NAME`` matches on one line."""
    return Safe(NAME.sub(r'<span class="whole">\g<0></span>', str(Safe.escape(value))))


def render(template: str, language: Language, folder: Path | None, /, **view: object) -> str:
    """Render a view with a template and return the page.

    Args:
        folder: of the workspace's own templates.

    Raises:
        DlperfError: a template has a mistake; the message names its file and line.
    """
    try:
        with _bounded_memory() if folder else nullcontext():
            return _environment(language.code, folder).get_template(template).render(view)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise DlperfError(f"{_place(error, template)}: {error}") from error
    except (MemoryError, SyntaxError) as error:
        reason = f"needs more than {MOST_BYTES >> 20} MiB of memory, or is nested too deeply"
        raise DlperfError(f"{_place(error, template)}: {reason}") from error


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """Let this process get ``MOST_BYTES`` more than it has, as far as the system bounds it."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):
        pages = int(read_bytes(Path(f"/proc/{os.getpid()}/statm")).split()[0])
        most = pages * resource.getpagesize() + MOST_BYTES
        if before[0] == resource.RLIM_INFINITY or most < before[0]:
            resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _place(error: Exception, template: str) -> str:
    """Return file and line of the innermost template in an error's traceback; the one that is rendered without one."""
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else template


def macro(name: str, language: Language, template: str = MACROS) -> Callable[..., str]:
    """Return a macro of a template."""
    found: Callable[..., str] = getattr(_environment(language.code, None).get_template(template).module, name)
    return found


def draw(name: str, *view: object, language: Language = ENGLISH) -> str:
    """Return a chart by a macro of ``charts.svg.j2``, without line breaks, at which Markdown might end it."""
    return LINE_BREAK.sub("", macro(name, language, CHARTS)(*view))


class _Compiler(CodeGenerator):
    """Writes no call that escapes again what ``finalize`` has made safe."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(finalize.src)

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")


class _DirectCalls(Context):
    """Calls a macro at once: Jinja2 finds out first what else it may be, which takes as long as most macros."""

    def call(self, called: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if type(called) is not Macro:
            return super().call(called, *args, **kwargs)
        kwargs.pop("_loop_vars", None)
        kwargs.pop("_block_vars", None)
        return called(*args, **kwargs)


class _Environment(Environment):
    code_generator_class = _Compiler
    context_class = _DirectCalls


class _Sandboxed(SandboxedEnvironment):
    """For templates of a workspace, which may be somebody else's: they see the view, and reach nothing else."""

    code_generator_class = _Compiler
    intercepted_binops = frozenset({"**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > MOST_BITS:
            raise OverflowError(f"a power of more than {MOST_BITS} bits")
        return super().call_binop(context, operator, left, right)


class _Compiled(BytecodeCache):
    """Templates that were compiled for one language, which the other uses too."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


_compiled = _Compiled()


@cache
def _environment(code: Code, folder: Path | None) -> Environment:
    language = LANGUAGES[code]
    kind: type[Environment] = _Sandboxed if folder else _Environment
    own = [FunctionLoader(partial(_own_template, folder))] if folder else []
    environment = kind(
        loader=ChoiceLoader([*own, FileSystemLoader(TEMPLATES)]),
        bytecode_cache=_Compiled() if folder else _compiled,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=Safe.escape,
        extensions=["jinja2.ext.do", "jinja2.ext.i18n"],
    )
    gettext, ngettext = (_marked(language, translate) for translate in (language.gettext, language.form))
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        gettext, ngettext, pgettext=_marked(language, language.pgettext)
    )
    environment.globals.update(
        _=gettext,  # that of Jinja2 copies the context to find it
        separator=Safe(language.separator),
        colon=Safe(language.colon),
        semicolon=Safe(language.semicolon),
        language=language,
        gap=Safe(language.gap),
        between=Safe(md.BETWEEN),
    )
    kinds = (views.FigureView, views.Lead, views.Link, views.Listed, views.TextView)
    environment.tests.update({kind.__name__.removesuffix("View").lower(): _is(kind) for kind in kinds})
    environment.filters.update(
        unbroken=md.unbroken,
        whole=_with_whole_names,
        plain=lambda number: Safe(svg.plain(number)),
        colour=lambda series: Safe(svg.colour(series)),
        corners=svg.corners,
        tick=axis.tick_text,
        path=lambda points, x, y: Safe(axis.path(points, x, y)),
        number=four_digits,
        zip=zip,
        url=lambda address: Safe(html.escape(address)),
        localized=lambda text: views.Prose(text.localized(code)),
        prose=views.Prose,
        pieces=md.pieces,
        web_address=md.web_address,
        repository_file=md.repository_file,
        options=lambda value: [(Safe(piece), is_option) for piece, is_option in md.options(value)],
        preformatted=lambda value: Safe(md.preformatted(value)),
        quoted=lambda title: Safe(md.quoted(title)),
    )
    return environment


def _own_template(folder: Path, name: str) -> tuple[str, str, Callable[[], bool]] | None:
    """Return text and file of a template of a workspace, and whether it is unchanged; None if there is none."""
    path = folder.joinpath(*split_template_path(name))
    if not is_regular(path):
        return None
    source = read_bytes(path).decode("utf-8", "replace")
    return source, str(path), lambda: is_regular(path) and read_bytes(path).decode("utf-8", "replace") == source


def _is(kind: type) -> Callable[[object], bool]:
    return lambda cell: isinstance(cell, kind)


def _marked(language: Language, translate: Callable[..., str]) -> Callable[..., Safe]:
    """Mark translations as safe Markdown and escape the values interpolated into them."""

    def translated(*texts: Any, **values: object) -> Safe:
        return Safe(language.tight(translate(*texts), values)).format(**values)

    return translated
