"""Shrink MkDocs's search index, add the titles of configurations to it, and segment its Chinese words."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from dlperf.report.site import locations as at

INDEX = "search/search_index.json"
SCRIPT = "search/search_index.js"
"""The index for pages opened from a folder."""
LISTED = """
测试方法 测试项 测试批次 单次测试 基准 性能 深度学习 训练 预训练 模型 数据 合成 样本 采样 框架 镜像 容器 版本 代码
补丁 编译 硬件 加速卡 显卡 单卡 多卡 卡数 单机 多机 主机 节点 集群 虚拟机 机器 拓扑 互连 网络 带宽 显存 内存 磁盘
驱动 内核 系统 处理器 功率 频率 温度 利用率 峰值 算力 上限 精度 混合 自动 并行 损失 批大小 吞吐率 速度 加速比 扩展性
扩展效率 弱扩展 线性 波动 中位数 均值 平均 估计方法 预热 窗口 稳态 离群 异常 失败 超时 取消 重试 重复 迭代 步数 步骤
环境 搭建 安装 启动 命令 脚本 参数 选项 配置 结果 报告 日志 时间戳 格式 公布 来源 核对 复现 历史 回退 对比 比较 领先
浏览 终端 界面 指南 公式 定义 说明 文件 导入 调度 队列 引擎 监控 校验 人脸 识别 图像 分类 策略 优化 读取 加载 能耗
焦耳 正则表达式 工作区 退出码 阈值 成本 价格 天数 最便宜 许可证 署名 引用 质疑 嵌入 订阅 公平 可靠 更好 程序
"""
WORDS = frozenset(LISTED.split())
"""Chinese words that a reader may search for; others are found only where a run of characters begins.

None begins with another: Material would look for the shorter one alone."""
CUT = "\N{ZERO WIDTH SPACE}"
"""An invisible separator of words."""
WORD = re.compile("|".join(sorted(WORDS, key=lambda word: (-len(word), word))))
"""Matches the longest word at a place."""
NUMBERED = re.compile(r"(?<=[A-Za-z]{3})(?=\d)")
"""The middle of a name such as ResNet50: a source that writes it so is found no sooner than others."""
NEEDLESS = re.compile(f"(?<![\u4e00-\u9fff]){CUT}|{CUT}(?![\u4e00-\u9fff])")
"""Cuts at the ends of a run of Chinese characters."""
JOINER = "\N{WORD JOINER}"
"""Invisible character that makes a different word of the text before it."""
BEGINNINGS = {word[:length] for word in WORDS for length in range(1, len(word))}
HEAD = 4096
"""Characters of a page that hold its title and description."""
META = {
    part: re.compile(f'<meta {name} content="([^"]*)">')
    for part, name in (("title", 'property="og:title"'), ("text", 'name="description"'))
}
WORKERS = "assets/javascripts/workers/search.*.js"
"""The library of the search, lunr 2.3.9, as Material ships it."""
NODE_NAME = re.compile(r"(?P<name>\b\w)=(?P=name)\+(?P<edge>\w)\+(?P<node>\w)\.id\b")
"""How lunr names a node of its tree of words by its edges. Edges 1 to node 2 and 3 to node 4 read as edge 1 to 234,
so that some of many numbers are lost, and a search for the beginning of others ends in an error."""
RANKS = {
    # whose heading and rows name accelerators; the page of each comes first
    **dict.fromkeys(("results/your-number.html#pair", "results/your-number.html#best"), 2.1),
    **dict.fromkeys(("results/methodology.", "results/your-number."), 8.0),
    **dict.fromkeys(("guide/data.html#how-to-cite", "guide/programs.html#send-a-better-program"), 8.0),
    **dict.fromkeys(("guide/", "about.", "results/explorer."), 4.0),
    **dict.fromkeys(("results/reports/all-sources/", "results/hardware/"), 2.5),
    "results/reports/published/": 0.5,
    "results/configurations/": 0.5,
}
"""Beginning of an address → rank among the pages that a search finds: an answer before the tables that use the word."""
END = rf"[\s{CUT}\-、。，．？！；<>]"
"""End of a word for the search, and tags."""
BEGINNING_ALONE = re.compile(f"(?:(?<=^)|(?<={END}))(?:{'|'.join(sorted(BEGINNINGS))})(?=$|{END})")
"""Where the index holds the beginning of a word, Material looks for that alone when the whole word is typed."""


def segment_index(site: Path, ranks: Mapping[str, float] = MappingProxyType({})) -> None:
    """Rewrite the index of one language in UTF-8 with segmented Chinese words.

    MkDocs writes six letters for each Chinese character.

    Args:
        ranks: ranks of single pages by their address, before those of ``RANKS``.
    """
    index = site / INDEX
    if not index.is_file():
        return
    content = json.loads(index.read_bytes())
    content["docs"] += _configurations(site, {document["location"] for document in content["docs"]})
    for document in content["docs"]:
        document |= _rank(document["location"], {**ranks, **RANKS})
        document["text"] += _file_words(document["location"])
        document |= {part: segment_words(document[part]) for part in ("title", "text")}
        document["title"] = NUMBERED.sub(CUT, document["title"])
    written = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    index.write_text(written, "utf-8")
    if (site / SCRIPT).is_file():
        (site / SCRIPT).write_text(f"var __index = {written}", "utf-8")


def mend_search(site: Path) -> None:
    """Let the library of the search tell edges from numbers of nodes."""
    for worker in site.glob(WORKERS):
        text = worker.read_text("utf-8")
        worker.write_text(NODE_NAME.sub(r'\g<0>+","', text), "utf-8")


def _rank(location: str, ranks: Mapping[str, float]) -> dict[str, float]:
    return next(({"boost": rank} for start, rank in ranks.items() if location.startswith(start)), {})


def _file_words(location: str) -> str:
    """Return the name of a file of results as words: ``resnet50``, where its page says ``ResNet-50``."""
    if not location.startswith("results/") or "#" in location:
        return ""
    return f"<p>{PurePosixPath(location).stem.replace('_', ' ')}</p>"


def _configurations(site: Path, known: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield title and description of each page of configurations: its text would make the index many times as large."""
    for page in sorted((site / at.CONFIGURATIONS).parent.rglob("*.html")):
        location = page.relative_to(site).as_posix()
        if location not in known:
            with page.open(encoding="utf-8") as stream:
                head = stream.read(HEAD)
            found = {part: pattern.search(head) for part, pattern in META.items()}
            yield {
                "location": location,
                **{part: match[1] if match else "" for part, match in found.items()},
            }


def segment_words(text: str) -> str:
    """Separate the words in runs of Chinese characters, and keep the beginning of a word from being a word itself."""
    segmented = NEEDLESS.sub("", WORD.sub(rf"{CUT}\g<0>{CUT}", text).replace(CUT * 2, CUT))
    return BEGINNING_ALONE.sub(rf"\g<0>{JOINER}", segmented)
