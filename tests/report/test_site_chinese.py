"""What dlperf says, a Chinese page says in Chinese; what a program or a report said stays as it was."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest
from site_rows import measured
from site_sample import sample

from dlperf.catalog.load import load_catalog
from dlperf.catalog.model import Protocol, Words
from dlperf.measure.estimators import ESTIMATORS
from dlperf.measure.finding import Finding
from dlperf.messages import CHINESE, ENGLISH
from dlperf.plan import Selection, expand
from dlperf.report import figures
from dlperf.report.build import overview_pages
from dlperf.report.data import SiteData, facts_in_words
from dlperf.report.pages.protocols import AGGREGATES, DEFINITIONS
from dlperf.runs.records import State
from dlperf.sentences import PLACE, SENTENCES, recognised, sentence
from dlperf.sentences.chinese import CHINESE as CHINESE_SENTENCES


def names_of(words: str) -> set[str]:
    return {name for name, _ in PLACE.findall(words)}


def test_every_sentence_has_a_chinese_one_with_the_same_values() -> None:
    assert set(CHINESE_SENTENCES) == set(SENTENCES)
    for key, english in SENTENCES.items():
        assert names_of(english) == names_of(CHINESE_SENTENCES[key]), key


@pytest.mark.parametrize("key", SENTENCES)
def test_a_sentence_that_was_stored_is_recognised_with_its_values(key: str) -> None:
    places = dict(PLACE.findall(SENTENCES[key]))
    values = {place: number if kind else f"value-{number}" for number, (place, kind) in enumerate(places.items())}
    values |= {"told": sentence("cancelled")} if "told" in values else {}
    assert recognised(sentence(key, **values)) == (key, {place: str(value) for place, value in values.items()})


def test_states_severities_estimators_and_aggregates_have_chinese_words() -> None:
    assert {str(state) for state in State} <= set(figures.STATES)
    assert set(DEFINITIONS) == set(ESTIMATORS)
    assert set(get_args(Protocol.model_fields["aggregate"].annotation)) == set(AGGREGATES)
    texts = (*figures.STATES, *figures.SEVERITIES, *DEFINITIONS.values(), *AGGREGATES.values())
    assert [text for text in texts if CHINESE.gettext(text) == text] == []


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("the speed rises by 2.4% over the measured window: no steady state", "测量窗口内速度上升 2.4%：未达到稳态"),
        (
            "software power cap on 2 GPUs (h:0, h:1), in 100% of the samples",
            "2 张 GPU（h:0, h:1）达到软件功率上限，占采样的 100%",
        ),
        (
            "not in the figure: trial 2 (no figure in the log); trial 5 (the records carry no timestamps)",
            "未计入数据：第 2 次测试（日志中没有数据）；第 5 次测试（记录中没有时间戳）",
        ),
        ("exited with 1: RuntimeError: boom; again", "exited with 1: RuntimeError: boom; again"),
        ("exit code 1: out of memory", "退出码 1：显存不足"),
        ("exit code 1: RuntimeError: boom", "退出码 1：RuntimeError: boom"),
        (
            "node n2: signal 9 (SIGKILL); node n3 does not answer; last output: step=3 | Killed",
            "节点 n2：信号 9（SIGKILL）；节点 n3 没有应答；最后的输出：step=3 | Killed",
        ),
        (
            "configuration stopped: failed 2 times the same way: deadline of 600 s",
            "配置已停止：以同样方式失败 2 次：达到时限 600 秒",
        ),
        (
            "unreachable: n1: nothing listens at n1 port 22 (connection refused)",
            "无法连接：n1：n1 port 22 上没有服务在监听（连接被拒绝）",
        ),
        (
            "node n1: left out, failed 2 times in a row: gpu_count: 7 GPUs, 8 wanted",
            "节点 n1 已被排除，连续失败 2 次：GPU 数：7 张 GPU，需要 8 张",
        ),
        (
            "not ready: n1: gpu_idle: in use by python3 (pid 7, wang)",
            "未就绪：n1：GPU 空闲：正被占用：python3 (pid 7, wang)",
        ),
    ],
)
def test_a_stored_message_is_said_in_chinese_with_what_it_quotes(stored: str, said: str) -> None:
    assert figures.stored_sentence(CHINESE, stored) == said
    assert figures.stored_sentence(ENGLISH, stored) == stored


def test_a_finding_that_an_older_version_wrote_down_is_chinese_on_a_chinese_page() -> None:
    old = Finding("drift", "the speed falls by 3.1% over the measured window: no steady state")
    data = replace(sample(), results=(measured("alpha"), measured("beta", findings=(old,))))
    pages = dict(overview_pages(CHINESE, data))
    notes = pages["results/reports/measured/dlperf-v1/resnet50-imagenet.md"]
    assert "测量窗口内速度下降 3.1%" in notes
    assert "steady state" not in notes


def test_why_a_configuration_cannot_run_is_said_in_chinese() -> None:
    catalog = load_catalog(None)
    asked = Selection(("local",), ("pytorch",), ("resnet50",), ("fp16",), (64,), ("1n8g",))
    (impossible,) = expand(asked, catalog).impossible
    said = figures.status_text(CHINESE, f"not supported: {impossible.reason}")
    assert re.match("不支持：.*(节点|精度|计算)", said), impossible.reason


def test_titles_descriptions_and_facts_of_the_catalogue_are_chinese_where_it_says_them() -> None:
    data = sample()
    words = Words(title="一台机器", description="说明", facts={"cpu": "至强"})
    box = data.hardware["box"].model_copy(update={"chinese": words})
    data = replace(data, hardware={"box": box})
    page = dict(overview_pages(CHINESE, data))["results/hardware/box.md"]
    assert "# 一台机器" in page
    assert "| CPU | 至强 |" in page
    assert "# A box" in dict(overview_pages(ENGLISH, data))["results/hardware/box.md"]
    assert facts_in_words(CHINESE, box, {"cpu": "another"}) == {"cpu": "another"}


def test_where_the_facts_of_protocols_and_accelerators_come_from_is_said_in_chinese() -> None:
    catalog = load_catalog(None)
    entries = (*catalog.protocols.values(), *catalog.accelerators.values())
    prose = [entry for entry in entries if re.search("data sheet|dlperf's own", entry.source)]
    assert len(prose) > 5
    assert [entry.id for entry in prose if entry.chinese is None or not entry.chinese.source] == []
    spoken = SiteData(protocols=catalog.protocols, accelerators=catalog.accelerators).spoken(CHINESE)
    assert "数据手册" in spoken.accelerators["h200-sxm"].source
    assert "dlperf 自定" in spoken.protocols["dlperf"].source


def test_whatever_the_built_in_catalogue_describes_it_describes_in_chinese_too() -> None:
    catalog = load_catalog(None)
    kinds = (catalog.hardware, catalog.frameworks, catalog.cases, catalog.protocols)
    described = [entry for kind in kinds for entry in kind.values() if entry.description]
    assert [entry.id for entry in described if not (entry.chinese and entry.chinese.description)] == []
