"""The words of the pages that hold figures, beside reports."""

WORDS: dict[str, tuple[str, str]] = {
    # configuration
    "configuration_of": (
        "{framework} running {case} on {hardware}, from {source}.",
        "{framework} 在 {hardware} 上运行 {case}，来自 {source}。",
    ),
    "s_protocol": ("Protocol", "测试方法"),
    "repeats_here": ("This campaign was asked for {count} repeats.", "本批次要求重复 {count} 次。"),
    "environment_of": ("As probed on {node} at trial {number}", "第 {number} 次测试时在 {node} 上探测"),
    "log_used": ("Log lines that gave the figure", "得出数据的日志行"),
    "lines_without_script": (
        "A script shows them here. Without one, open the trial's log in the table above, at the lines named there.",
        "此处由脚本显示。没有脚本时，请打开上表中该次测试的日志，查看所列的行。",
    ),
    "same_in_all": ("The same in all trials: {facts}.", "各次测试相同：{facts}。"),
    "same_in_rows": ("The same in every row: {facts}.", "各行相同：{facts}。"),
    "files_note": (
        "What each trial left. A file is named by its SHA-256, of which the first digits stand here.",
        "各次测试留下的文件：文件名即其 SHA-256，此处为开头几位。",
    ),
    "devices": ("Every device", "各个设备"),
    "repeat": ("Measure it again:", "重新测试："),
    "trials_numbered": ("Trial {numbers}", "第 {numbers} 次测试"),
    "step": ("step", "步"),
    "curves_note": (
        "A line for each trial. Shaded grey: warm-up, not counted. Shaded green: the measured window of trial "
        "{number}. Ringed: outliers, far from the median of the window.",
        "每次测试一条线。灰色：预热，不计入。绿色：第 {number} 次测试的测量窗口。圆圈：明显偏离窗口中位数的采样。",
    ),
    "by_step": ("Speed by step, {unit}", "各步速度，{unit}"),
    "by_second": ("{metric}, by second", "{metric}，按秒"),
    "curve_open": ("Zoom and read values", "放大并读数"),
    "curve_close": ("Show the picture", "显示图片"),
    "second": ("seconds", "秒"),
    "power_watts": ("Power per GPU, W", "单卡功率，W"),
    "sm_clock_mhz": ("SM clock, MHz", "SM 频率，MHz"),
    "clock_measured": ("SM clock while measured", "测量期间的 SM 频率"),
    "utilization_percent": ("Utilisation, %", "利用率，%"),
    "cpu_percent": ("CPU load of all cores, %", "全部核心的 CPU 负载，%"),
    "memory_used_mib": ("Memory in use, MiB", "已用内存或显存，MiB"),
    "temperature_celsius": ("Temperature, °C", "温度，°C"),
    "explorer": ("Explorer", "数据浏览"),
    "explorer_intro": (
        "Every figure in one table. The address keeps filters, order and the two rows that are compared. Beside a "
        "spread, n is the number of trials. A figure marked † has something that a careful reader must know: its "
        "configuration says what.",
        "全部数据汇于一表。筛选、排序与所比较的两行都保存在网址中。波动旁为测试次数。"
        "† 表示该数据有需要注意之处，见其配置。",
    ),
    "explorer_no_script": (
        "This table needs JavaScript. The same figures: {csv}.",
        "此表需要 JavaScript。同样的数据：{csv}。",
    ),
    "explorer_index": ("All configurations as plain lists", "以列表查看全部配置"),
    "explorer_search": ("Search", "搜索"),
    "explorer_reset": ("Reset", "重置"),
    "explorer_count": ("{count} of {total} figures", "{count} / {total} 个数据"),
    "explorer_compare": ("Compare", "比较"),
    "explorer_no_ratio": ("no ratio: a figure is missing, or units differ", "无法比较：缺少数据或单位不同"),
    "explorer_beyond": ("beyond the spread of the trials", "超过各次测试的波动"),
    "explorer_within": ("within the spread of the trials: a tie", "在各次测试的波动之内：不分高下"),
    "explorer_other_protocol": (
        "different protocols: not strictly comparable",
        "测试方法不同：不可严格比较",
    ),
    "history": ("History", "历史"),
    "history_intro": (
        "Configurations that several campaigns measured, the largest loss first. A regression is a figure whose best "
        "trial is slower than the worst trial of the campaign before.",
        "由多个测试批次测过的配置，下降最多的在前。最好的一次仍慢于上一批次最差的一次，即为退步。",
    ),
    "history_answer": (
        "Configurations measured again: {count}, of which {slower} became slower than in the campaign before, {faster} "
        "became faster and {open} cannot be told apart.",
        "重复测试的配置共 {count} 个：与上一批次相比，{slower} 个退步，{faster} 个更快，{open} 个无法分辨。",
    ),
    "cells_note": (
        "Small print: n trials, and their spread (highest − lowest) ÷ median. A figure marked † has something that a "
        "careful reader must know: its configuration says what.",
        "小字：测试次数 n 与波动（最高 − 最低）÷ 中位数。† 表示该数据有需要注意之处，见其配置。",
    ),
    "history_charts": (
        "Each chart shows the campaigns in the order of their dates, the lowest and highest trial as a stroke, "
        "regressions ringed. Its axis does not begin at zero.",
        "各图按日期排列测试批次，竖线为最低与最高的一次，圆圈为退步。纵轴不从零开始。",
    ),
    "history_none": (
        "No configuration has been measured by more than one campaign yet.",
        "尚无配置被多个批次测过。",
    ),
    "history_cut": (
        "The {count} with the largest losses are shown; the data has them all.",
        "此处列出下降最多的 {count} 个，全部见数据文件。",
    ),
    "created": ("Date", "日期"),
    "change": ("Change", "变化"),
    "change_since_first": ("Since the first", "与首次相比"),
    "history_of": ("This configuration over campaigns", "该配置的历次数据"),
    "verdict": ("Verdict", "结论"),
    "regression": ("regression", "退步"),
    "faster": ("faster", "更快"),
    "no_change": ("within the spread", "在波动之内"),
    "no_trials": ("There are no trials: the figure stands as published.", "没有单次测试：数据按公布值列出。"),
    "no_log_kept": ("no log kept", "未保存日志"),
    "log_changed": ("log changed since it was measured", "日志在测量之后被改动"),
    # hardware, frameworks, protocols, audit
    "hardware_intro": ("The machines, and how many figures come from each.", "数据所来自的硬件，以及各自的数据个数。"),
    "frameworks_intro": (
        "The software stacks, and how many figures come from each.",
        "数据所来自的框架，以及各自的数据个数。",
    ),
    "standing": ("Beside other frameworks", "与其他框架相比"),
    "place": ("Place", "名次"),
    "place_of": ("{place} of {count}", "{place} / {count}"),
    "of_the_fastest": ("Of the fastest", "与最快者之比"),
    "configurations_intro": (
        "Every group of configurations: a framework running a case on some hardware, in one campaign or report.",
        "所有配置，按测试批次或报告中的框架、测试项、硬件分组。",
    ),
    "reports_intro": ("One report for each source and case.", "每个来源的每个测试项有一份报告。"),
    "protocols_intro": (
        "A figure without its protocol is not comparable. These are all protocols, with the number of figures of this "
        "site that rest on each.",
        "没有测试方法的数据不可比较。以下是全部测试方法，以及本站采用各方法的数据个数。",
    ),
    "estimators_title": ("Estimators", "估计方法"),
    "estimators_intro": (
        "An estimator turns the samples of one trial into one figure.",
        "估计方法把一次测试的采样变成一个数据。",
    ),
    "statistics_title": ("Statistics", "统计量"),
    "statistics_text": (
        "A figure shows the protocol's value over its trials, spread and n. Spread is (highest − lowest) ÷ median. "
        "Speed-up is computed from the 1-GPU median of the same configuration on the same hardware. MFU is FLOPs per "
        "sample × throughput ÷ (GPUs × dense peak of the precision used). Missing is not zero: a cell without a "
        "figure says why.",
        "数据给出测试方法对多次测试的合并值、波动和次数。波动 =（最高 − 最低）÷ 中位数。"
        "加速比以同一配置、同一硬件的单卡中位数为基准计算。MFU = 每样本 FLOPs × 吞吐率 ÷（卡数 × 所用精度的稠密峰值）。"
        "缺失不等于零：没有数据的单元格会说明原因。",
    ),
    "audit_title": ("Audit", "核对"),
    "audit_intro": (
        "Published figures against the raw logs that were published with them. Logs that lie in this workspace "
        "(`dlperf import`) are computed again under the source's own rule, and from their time stamps.",
        "公布的数据与随之公布的原始日志的核对。"
        "工作区中有的日志（`dlperf import`）会按来源自己的规则以及时间戳重新计算。",
    ),
    "audit_none": ("No log of a published figure is here to be checked.", "这里没有可供核对的公布日志。"),
    "audit_answer": (
        "Of {figures} published figures {logged} have a raw log that their source published. {recomputed} of them were "
        "computed again here; {exact} came out exactly.",
        "{figures} 个公布的数据中，{logged} 个附有来源公布的原始日志；"
        "其中 {recomputed} 个在此重新计算，{exact} 个完全一致。",
    ),
    "audit_answer_other": (
        "Of {count} more, a log of the same name is here and gives another figure; it may be of another version.",
        "另有 {count} 个：此处的同名日志得出另一数据，可能属于另一版本。",
    ),
    "audit_answer_none": (
        "Of {figures} published figures {logged} have a raw log that their source published. None of these logs is "
        "here, so none of the figures was computed again.",
        "{figures} 个公布的数据中，{logged} 个附有来源公布的原始日志。这些日志都不在此处，因此尚未重新计算任何数据。",
    ),
    "audit_exactly": ("Exact", "一致"),
    "audit_logged": ("With a raw log", "附有原始日志"),
    "audit_largest": ("Largest difference", "最大差异"),
    "audit_exact": ("exact", "一致"),
    "audit_no_log_published": ("no raw log was published", "未公布原始日志"),
    "audit_no_log_here": ("no raw log here", "此处没有原始日志"),
    "audit_no_rule": ("the rule is not known", "计算规则不明"),
    "audit_other_version": (
        "no raw log here: the log of this name gives another figure, and may be of another version",
        "此处没有原始日志：同名日志得出另一数据，可能属于另一版本",
    ),
    "audit_published": ("Published", "公布值"),
    "audit_recomputed": ("Recomputed", "重新计算"),
    "audit_difference": ("Difference", "差异"),
    "audit_verdict": ("Verdict", "结论"),
    "all_figures": ("All figures", "全部数据"),
    "group_count_1": ("1 configuration", "1 个配置"),
    "group_count": ("{count} configurations", "{count} 个配置"),
    "home": ("Home", "首页"),
}
