"""The sentences in Chinese, with the same places for values."""

from __future__ import annotations

import re
from functools import lru_cache

from dlperf.sentences import recognised

TRIALS = re.compile(r"; (?=trial [0-9])")
CHINESE: dict[str, str] = {
    "nan_loss": "损失不是数值：这可能是训练已失效时的速度",
    "unit_dialect": "日志使用旧式的单位写法",
    "truncated_archive": "压缩的日志不完整：其后的内容缺失",
    "ranks_in_log": "多个 rank 写入同一日志",
    "inference": "日志表明这是推理或评估，不是训练",
    "run_limit": "日志所含的运行次数超出可区分的范围：其后的内容作为一次运行处理",
    "too_few_samples": "仅由 {count} 条记录得出数据：通常需要 {least} 条以上",
    "drift_rises": "测量窗口内速度上升 {change}：未达到稳态",
    "drift_falls": "测量窗口内速度下降 {change}：未达到稳态",
    "end_stall": "最后一条记录（{last}）为停顿：去掉它的均值为 {without}，而非 {mean}",
    "printed_rate": "日志打印 {printed}，按时间戳为 {timed} {unit}（{difference}）",
    "printed_rate_accumulation": "日志打印 {printed}，按时间戳为 {timed} {unit}（{difference}）："
    "每步的样本数是否多于批大小（梯度累积）？",
    "several_runs": "该日志共有 {runs} 次运行，此为第 {number} 次",
    "batch_size_mismatch": "声明的批大小为 {stated}，日志中为 {logged}",
    "gpu_count_mismatch": "声明的 GPU 数为 {stated}，日志中为 {logged}",
    "reader_bound": "{share} 的时间用于等待数据：测到的是数据读取",
    "above_flop_limit": "{value} {unit} 超过 GPU 稠密峰值所允许的 {limit}",
    "missing_end_marker": "没有表示运行结束的日志行：运行被中止，或日志不完整",
    "interleaved_ranks": "每一步打印 {copies} 次：多个 rank 共用日志，记录数不等于步数",
    "contended_gpu": "测试期间 {gpus}上有其他进程",
    "hw_slowdown": "{gpus}发生硬件降频，占采样的 {share}",
    "hw_thermal_slowdown": "{gpus}因过热发生硬件降频，占采样的 {share}",
    "hw_power_brake": "{gpus}发生硬件功率制动，占采样的 {share}",
    "sw_thermal_slowdown": "{gpus}因过热发生软件降频，占采样的 {share}",
    "sw_power_cap": "{gpus}达到软件功率上限，占采样的 {share}",
    "one_gpu": "GPU {name} ",
    "several_gpus": "{count} 张 GPU（{names}）",
    "too_few_trials": "测试方法要求 {repeats} 次测试，只有 {count} 次",
    "trial_spread": "各次测试不一致：{lowest} … {highest}，变异系数 {variation}",
    "super_linear": "{gpus} 卡的速度是单卡的 {speedup} 倍（扩展效率 {efficiency}）：单卡数据可能偏低",
    "efficiency_rises": "{more} 卡时每卡比 {fewer} 卡时快 {gain}：{fewer} 卡的数据可能偏低",
    "trial_excluded": "未计入数据：{trials}",
    "excluded_trial": "第 {number} 次测试（{why}）",
    "repeated": "已由第 {by} 次测试重测：{why}",
    "asked_for": "应要求",
    "tf32": "来源称 FP32：在该加速卡上各框架以 TF32 计算",
    "no_records": "日志中没有吞吐率记录",
    "no_records_of_format": "没有日志含有 {format} 格式的吞吐率记录",
    "no_figure": "日志中没有数据",
    "no_speed": "{rule} 得出 {value}：不是训练速度",
    "step_size_unknown": "日志未说明每步有多少 {samples}",
    "gpus_unknown": "GPU 数未知：日志打印的是单卡或单节点的速度，请给出 --gpus",
    "batch_unknown": "批大小或 GPU 数未知：请给出 --batch-size 和 --gpus",
    "few_last": "采样太少：只有 {count} 条记录，需要最后 {wanted} 条",
    "few_before": "采样太少：运行在第 {iteration} 次迭代之前结束",
    "few_before_step": "采样太少：日志在第 {step} 步之前结束",
    "few_after": "采样太少：前 {steps} 步之后没有记录",
    "few_steps": "采样太少：前 {steps} 步之后不足 {wanted} 步",
    "few_tipc": "采样太少：tipc 需要多于 {least} 条",
    "few_skipped": "采样太少：{count} 条记录，其中 {skipped} 条被舍弃",
    "few_epochs": "采样太少：{count} 个 epoch 数据，其中 {skipped} 个被舍弃",
    "few_time": "采样太少：时间戳之间没有时间经过",
    "few_work": "采样太少：时间戳之间没有完成任何一步",
    "none_after": "采样太少：前 {records} 条之后没有记录",
    "none_of_last": "采样太少：没有最后 {records} 条记录",
    "none_between": "采样太少：第 {first} … {last} 次迭代没有记录",
    "no_steps": "记录中没有步数",
    "no_timestamps": "记录中没有时间戳",
    "some_timestamps": "并非每条记录都有时间戳",
    "no_step_seconds": "日志没有打印每步耗时",
    "unequal_steps": "从打印的速率看，各步大小不同",
    "zero_step_seconds": "打印的每步耗时为零",
    "no_summary": "程序没有打印最终数据",
    "no_recipe": "{framework} 没有 {case} 的启动方案（有 {offered}）",
    "wrong_device": "{framework} 只在 {devices} 上计算，{hardware} 是 {device} 机器",
    "too_small": "{hardware} 有 {nodes} 个节点、每节点 {gpus} 张 GPU，{scale} 超出其规模",
    "hardware_precision": "{hardware} 以 {offered} 计算，不支持 {precision}",
    "recipe_precision": "{framework} 的 {case} 支持精度 {offered}，不支持 {precision}",
    "recipe_batch_size": "{framework} 的 {case} 支持批大小 {offered}，不支持 {batch_size}",
    "recipe_scale": "{framework} 的 {case} 支持规模 {offered}，不支持 {scale}",
    "one_path": "{launcher} 在每个节点上使用同一路径，而启动方案的文件位于各节点自己的文件夹",
}
"""Key of a sentence → Chinese, with the same places for values."""


@lru_cache(maxsize=1 << 12)
def in_chinese(stored: str) -> str:
    """A text that ``sentence`` made, in Chinese; any other as it is.

    A value may be a sentence itself; that of ``trials`` is several of them.
    """
    found = recognised(stored)
    if found is None:
        return stored
    key, values = found
    told = {name: TRIALS.split(value) if name == "trials" else [value] for name, value in values.items()}
    return CHINESE[key].format(**{name: "；".join(map(in_chinese, parts)) for name, parts in told.items()})
