"""What dlperf says, a Chinese page says in Chinese; what a program or a report said stays as it was."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from site_sample import sample

from dlperf.catalog.entry import Translation
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.hardware import Numerics
from dlperf.catalog.metrics import Protocol
from dlperf.measured.throughput.rules import ESTIMATORS
from dlperf.messages import CHINESE, ENGLISH, Message, message, quoted
from dlperf.plan import Selection, expand
from dlperf.report import figures
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData
from dlperf.report.machine import localize_facts
from dlperf.report.pages.page import Page
from dlperf.report.pages.protocols import AGGREGATES, DEFINITIONS
from dlperf.report.site import locations as at
from dlperf.report.templating import Safe, _marked
from dlperf.runs.records import State
from dlperf.table.model import Status


def test_states_severities_estimators_and_aggregates_have_chinese_words() -> None:
    assert {str(state) for state in State} <= set(figures.STATES)
    assert set(DEFINITIONS) == set(ESTIMATORS)
    assert set(get_args(Protocol.model_fields["aggregate"].annotation)) == set(AGGREGATES)
    texts = (*figures.STATES, *figures.SEVERITIES, *DEFINITIONS.values(), *AGGREGATES.values())
    assert [text for text in texts if CHINESE.gettext(text) == text] == []


def test_no_space_stands_between_two_chinese_words() -> None:
    text = "{framework} running {case} on {hardware}, from {source}."
    gettext = _marked(CHINESE, CHINESE.gettext)
    told = gettext(text, framework="PyTorch", case="识别", hardware=Safe("<a>本机</a>"), source="本站")
    assert told == "PyTorch 在<a>本机</a>上运行识别，来自本站。"
    assert gettext(text, framework="A", case="B", hardware="H200", source="C") == "A 在 H200 上运行 B，来自 C。"
    assert gettext("Commands of {framework}", framework=Safe("<a>甲（乙）</a>")) == "<a>甲（乙）</a>的命令"
    assert CHINESE.gettext("on {gpus}", gpus="一张 H100") == "在一张 H100 上"
    found = message("losses_differ", step=10, a=1.0, b=2.0, first="甲（乙）", second="JAX")
    assert CHINESE.render(found) == "第 10 步的损失不同：甲（乙）为 1，JAX 为 2"


QUOTING = message(
    "last_output",
    cause=message(
        "silent_too",
        cause=message("of_node", node="n2", cause=message("ended_by_signal", number=9, name="SIGKILL")),
        node="n3",
    ),
    lines="step=3 | Killed",
)
EXCLUDED = (
    message("excluded_trial", number=2, why=message("no_figure_in_log")),
    message("excluded_trial", number=5, why=message("no_timestamps")),
)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (message("drift", direction=message("rises"), change=0.024), "测量窗口内速度上升 2.4 %：未达到稳态"),
        (
            message("sw_power_cap", gpus=message("several_gpus", count=2, names="h:0, h:1"), share=1.0),
            "2 张 GPU（h:0, h:1）达到软件功率上限，占采样的 100 %",
        ),
        (
            message("trial_excluded", trials=EXCLUDED),
            "未计入数据：第 2 次测试（日志中没有数据）；第 5 次测试（记录中没有时间戳）",
        ),
        (quoted("exited with 1: RuntimeError: boom; again"), "exited with 1: RuntimeError: boom; again"),
        (
            message("and_more", subject=message("exit_code", code_value=1), more=message("out_of_memory")),
            "退出码 1：显存不足",
        ),
        (QUOTING, "节点 n2：信号 9（SIGKILL）；节点 n3 没有应答；最后的输出：step=3 | Killed"),
        (
            message(
                "configuration_stopped", cause=message("failed_alike", count=2, cause=message("deadline", seconds=600))
            ),
            "配置已停止：以同样方式失败 2 次：达到时限 600 秒",
        ),
    ],
)
def test_a_message_is_said_in_chinese_with_what_it_quotes(found: Message, said: str) -> None:
    assert CHINESE.render(found) == said


def test_why_a_configuration_cannot_run_is_said_in_chinese() -> None:
    catalog = load_catalog(None)
    asked = Selection(("local",), ("pytorch",), ("resnet50",), ("fp16",), (64,), ("1n8g",))
    (impossible,) = expand(asked, catalog).impossible
    said = Status("not_supported", impossible.reason).text(CHINESE)
    assert re.match("不支持：.*(节点|精度|计算)", said), impossible.reason


def test_titles_descriptions_and_facts_of_the_catalogue_are_chinese_where_it_says_them() -> None:
    data = sample()
    words = Translation(title="一台机器", description="说明", facts={"cpu": "至强"})
    box = data.hardware["box"].model_copy(update={"zh": words})
    data = replace(data, hardware={"box": box})
    page = dict(overview_pages(CHINESE, data))["results/hardware/box.md"]
    assert "# 一台机器" in page
    assert "<td>CPU</td> <td>至强</td>" in page
    assert "# A box" in dict(overview_pages(ENGLISH, data))["results/hardware/box.md"]
    assert localize_facts(CHINESE, box, {"cpu": "another"}) == {"cpu": "another"}


def test_where_the_facts_of_protocols_and_accelerators_come_from_is_said_in_chinese() -> None:
    catalog = load_catalog(None)
    entries = (*catalog.protocols.values(), *catalog.accelerators.values())
    prose = [entry for entry in entries if re.search("data sheet|dlperf's own", entry.source)]
    assert len(prose) > 5
    assert [entry.id for entry in prose if entry.zh is None or not entry.zh.source] == []
    spoken = SiteData(protocols=catalog.protocols, accelerators=catalog.accelerators).localized(CHINESE)
    assert "数据手册" in spoken.accelerators["h200-sxm"].source
    assert "dlperf 自定" in spoken.protocols["dlperf"].source


def test_whatever_the_built_in_catalogue_describes_it_describes_in_chinese_too() -> None:
    catalog = load_catalog(None)
    kinds = (catalog.hardware, catalog.frameworks, catalog.cases, catalog.protocols)
    described = [entry for kind in kinds for entry in kind.values() if entry.description]
    assert [entry.id for entry in described if not (entry.zh and entry.zh.description)] == []


def test_the_numerics_of_results_side_by_side_are_named_in_chinese() -> None:
    page = Page(CHINESE, SiteData(), at.EXPLORER)
    assert [name for name in Numerics.model_fields if page.fact(name).isascii()] == []


UNREAD = re.compile(r"<(script|style|svg|pre|code)\b.*?</\1>", re.DOTALL)
INLINE = re.compile(r"</?(?:a|abbr|b|em|i|small|span|strong|time)\b[^>]*>")
STRAY = re.compile(
    r".{0,9}(?:[\u4e00-\u9fff。，；：、] +[\u4e00-\u9fff]|[\u4e00-\u9fff] +[。，；：、（）“”]|[。，；、] +\w).{0,9}"
)


def test_no_space_stands_between_two_chinese_characters(own_site: Path) -> None:
    """Wherever in a sentence the elements begin and end, on each page of the repository's own site."""

    def stray(page: Path) -> re.Match[str] | None:
        article = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
        return STRAY.search(INLINE.sub("", UNREAD.sub("…", article)).replace("\N{NO-BREAK SPACE}", " "))

    pages = sorted((own_site / "zh").rglob("*.html"))
    assert len(pages) > 300
    assert [(page.name, found[0]) for page in pages if (found := stray(page))] == []


ROOT = Path(__file__).parents[2]
REPLACED = (
    *("试验", "词元", "激活重算", "测试活动", "合并方式", "可以学习", "被拒绝的结论", "说明不算"),
    *("协议", "批量大小", "转录", "数值方式", "你", "stock 程序", "tuned 程序", "PyTorch（原生）", "维度"),
)


def test_a_thing_has_one_chinese_name() -> None:
    """测试 is a trial, 测试批次 a campaign, 激活重计算 activation checkpointing, 轴 an axis."""
    texts = [path for kind in ("tui/**/*.po", "site/docs/zh/**/*.md", "tui/**/*.yaml") for path in ROOT.rglob(kind)]
    assert [(path.name, word) for path in texts for word in REPLACED if word in path.read_text("utf-8")] == []
