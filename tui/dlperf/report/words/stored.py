"""What is stored in English words, in Chinese: states, weights of findings, estimators."""

STATES = {
    "planned": "已计划",
    "submitted": "已提交",
    "running": "运行中",
    "succeeded": "成功",
    "failed": "失败",
    "timed_out": "超时",
    "timed out": "超时",
    "cancelled": "已取消",
    "lost": "丢失",
    "published": "已公布",
}
"""States of a trial, as they are stored and as a table's reason says them."""
SEVERITIES = {"note": "说明", "warning": "警告", "error": "错误"}
ESTIMATORS = {
    "mean": "全部记录的算术平均值。",
    "skipmean": "舍弃前 k 条记录后的算术平均值。",
    "tailmean": "最后 n 条记录的算术平均值。",
    "window": "第 a+1 … b 次迭代的记录的算术平均值：舍弃 a 次，测量 b − a 次。",
    "time_window": "第 a 次迭代结束到第 b 次迭代结束之间的样本数 ÷ 其间的时间。",
    "rate": "两个时间戳之间的样本数 ÷ 其间的时间：舍弃前 skip 步，测量其后 take 步（或全部）。",
    "tipc": "Paddle 的规则：舍弃前 skip 条记录，再去掉最慢与最快的各 5 %（至少 5 条）。",
    "batch_over_time": "全局批大小 ÷ 每步平均耗时，舍弃前 skip 条记录。",
    "summary": "程序自己给出的最终数据。",
    "hmean_epochs": "各 epoch 数据的调和平均值，舍弃前 w 个 epoch。",
}
"""Name of an estimator → what it does."""
