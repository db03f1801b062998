"""The words of the reports, and of the facts that they state."""

WORDS: dict[str, tuple[str, str]] = {
    "s_tested": ("What was tested", "测试说明"),
    "s_environment": ("Environment", "环境介绍"),
    "s_images": ("Frameworks and images", "框架与镜像"),
    "s_setup": ("Set-up", "环境搭建"),
    "s_steps": ("Steps", "测试步骤"),
    "s_results": ("Results", "测试结果"),
    "s_fairness": ("What differs between the frameworks", "各框架之间的差异"),
    "s_utilisation": ("Use of the hardware", "硬件利用率"),
    "roofline": ("Share of roofline", "占 roofline 上限"),
    "ideal": ("ideal (linear)", "理想（线性）"),
    "gpus_count": ("{count} GPUs", "{count} 卡"),
    "in_brackets": ("{what} ({aside})", "{what}（{aside}）"),
    "gpus_count_1": ("1 GPU", "1 卡"),
    "fairness_rule": (
        "What is not the same in every column, where frameworks stand beside each other on one hardware in one "
        "precision. What may explain a lead stands here.",
        "同一硬件、同一精度下各框架并列时，各列不相同的条件：可能解释领先原因的条件列于此处。",
    ),
    "fairness_equal": ("The same in every column: {names}.", "各列相同：{names}。"),
    "fairness_unsaid": (
        "Layout, AMP level, XLA or DALI that this table does not name, the source does not say for each framework; its "
        "own words stand under 1. Rows that name a log quote it.",
        "表中未列出的数据布局、AMP 级别、XLA、DALI 等条件，来源未逐一说明；来源自己的说明见第 1 节。"
        "注明“日志”的各行摘自原始日志。",
    ),
    "published_logs_count": ("Figures with a raw log", "附有原始日志的数据"),
    "fact_os": ("System", "系统"),
    "fact_framework_version": ("Framework version, by its log", "框架版本（日志所载）"),
    "fact_hostname": ("Host name", "主机名"),
    "fact_kernel": ("Kernel", "内核"),
    "fact_architecture": ("Architecture", "架构"),
    "fact_cpu.model": ("CPU", "CPU"),
    "fact_cpu.sockets": ("CPU sockets", "CPU 插槽数"),
    "fact_cpu.cores": ("CPU cores", "CPU 核心数"),
    "fact_cpu.threads": ("CPU threads", "CPU 线程数"),
    "fact_memory_bytes": ("Memory", "内存"),
    "fact_driver_cuda": ("CUDA of the driver", "驱动的 CUDA"),
    "fact_cpu": ("CPU", "CPU"),
    "fact_memory": ("Memory", "内存"),
    "fact_disk": ("Disk", "磁盘"),
    "fact_driver": ("Driver", "驱动"),
    "fact_cuda": ("CUDA", "CUDA"),
    "fact_cudnn": ("cuDNN", "cuDNN"),
    "fact_nccl": ("NCCL", "NCCL"),
    "fact_dali": ("DALI", "DALI"),
    "fact_python": ("Python", "Python"),
    "fact_interconnect": ("Interconnect", "互连"),
    "fact_topology": ("Topology", "硬件拓扑"),
    "fact_virtualization": ("Virtualization", "虚拟化"),
    "fact_base_image": ("Base image", "基础镜像"),
    "fact_os_image": ("System of the image", "镜像的系统"),
    "fact_paddle_commit": ("Commit of Paddle", "Paddle 代码版本"),
    "fact_openmpi_multi_node": ("Open MPI, several nodes", "Open MPI（多机）"),
    "probed_os": ("System", "系统"),
    "probed_cpu": ("CPU", "CPU"),
    "probed_memory": ("Memory", "内存"),
    "probed_gpus": ("GPUs in the machine", "机器上的 GPU"),
    "probed_gpu_memory": ("GPU memory", "显存"),
    "probed_power_limit": ("Power limit of a GPU", "单卡功率上限"),
    "probed_driver": ("Driver", "驱动"),
    "probed_cuda": ("CUDA", "CUDA"),
    "probed_cudnn": ("cuDNN of the machine", "机器上的 cuDNN"),
    "probed_nccl": ("NCCL of the machine", "机器上的 NCCL"),
    "probed_python": ("Python", "Python"),
    "probed_digest": ("Image digest", "镜像摘要"),
    "utilisation_rule": (
        "MFU: FLOPs that the model needs, over the dense peak of the GPUs at this precision. Share of roofline: the "
        "figure over what the slower of arithmetic and memory traffic allows; none where the traffic of the case at "
        "this precision is not known. Per joule: samples for each joule that the GPUs drew in the measured window.",
        "MFU：模型所需 FLOPs 与该精度下 GPU 稠密峰值之比。占 roofline 上限：数据与算力、显存带宽二者中较低上限之比；"
        "该测试项在该精度下的访存量未知时不给出。每焦耳：测量窗口内 GPU 每消耗一焦耳所处理的样本数。",
    ),
    "s_throughput": ("Training throughput", "训练吞吐率"),
    "s_comparison": ("Comparison of frameworks", "与其他框架对比"),
    "s_scaling": ("Scaling", "扩展性"),
    "s_repeats": ("The single runs", "各次运行"),
    "run_number": ("Run {number}", "第 {number} 次"),
    "s_logs": ("Logs and sources", "日志与来源"),
    "s_notes": ("What a careful reader must know", "需要注意"),
    "tested": (
        "Training throughput of {model} on {dataset}, in {unit}, over all GPUs together.",
        "{model} 的训练吞吐率（数据：{dataset}），单位 {unit}，为全部 GPU 之和。",
    ),
    "synthetic": (
        "synthetic data of the shape of {dataset} (no file is read: loading data is not measured)",
        "与 {dataset} 形状相同的合成数据，不读文件，不含数据加载",
    ),
    "synthetic_some": ("{dataset}; synthetic data where the options say so", "{dataset}，选项注明之处为合成数据"),
    "axes": ("Axes", "测试维度"),
    "scaling_rule": (
        "Speed-up is the figure over the 1-GPU figure of the same configuration on the same hardware; efficiency is "
        "speed-up over GPUs. Batch size per GPU stays the same (weak scaling). "
        "Without a 1-GPU figure there is neither.",
        "加速比 = 该数据 ÷ 同一配置、同一硬件的单卡数据；扩展效率 = 加速比 ÷ 卡数。单卡批大小不变（弱扩展）。"
        "没有单卡数据就不给出二者。",
    ),
    "tf32_note": (
        "TF32: the source calls these figures FP32; on this accelerator the frameworks compute FP32 matrix products "
        "in TF32.",
        "TF32：来源称之为 FP32；在该加速卡上，各框架的 FP32 矩阵乘实际以 TF32 计算。",
    ),
    "cell_note": (
        "Each figure links to its configuration. Small print: n trials, and their spread (highest − lowest) ÷ median; "
        "below, speed-up over one GPU and efficiency. The best of a row is marked ★; a figure marked † has "
        "something that a careful reader must know: its configuration says what.",
        "每个数据都链接到对应的配置。小字：测试次数 n 与波动（最高 − 最低）÷ 中位数；下方为相对单卡的加速比与扩展效率。"
        "★ 标出每行最佳；† 表示该数据有需要注意之处，见其配置。",
    ),
    "tf32_short": ("the source says FP32", "来源称 FP32"),
    "missing_why": ("Why figures are missing", "缺失数据的原因"),
    "own_words": ("Protocol, in the source's own words: {words}", "来源对测试方法的说明：{words}"),
    "topology": ("Topology", "硬件拓扑"),
    "published_logs": ("Raw logs that the source published", "来源公布的原始日志"),
    "rule": ("How the figure follows from the log", "数据如何由日志得出"),
    "other_versions": (
        "Figures of others come from the versions of their reports and logs, which need not be the one described here.",
        "他人的数据来自其报告和日志所用的版本，未必是这里描述的版本。",
    ),
    "no_steps": ("The source gives no commands.", "来源没有给出命令。"),
    "no_environment": ("Nothing is known about the machines.", "没有机器环境信息。"),
    "setup_campaign": (
        "A node needs ssh, Python 3.6 or newer and a POSIX shell; dlperf copies the rest. Frameworks come from the "
        "images named above; where none is named, they are those that the machine has.",
        "节点只需 ssh、Python 3.6 以上和 POSIX shell，其余由 dlperf 复制。"
        "框架来自上述镜像；未列镜像时使用机器上安装的框架。",
    ),
    "setup_data": ("Data sets come from these paths:", "数据集来自下列路径："),
    "reproduce": (
        "To plan and run the same configurations again:",
        "重新计划并运行同样的配置：",
    ),
    "commands_of": ("Commands of {framework}", "{framework} 的命令"),
    "raw_logs": ("Trials, scripts and raw logs, by configuration:", "各配置的单次测试、脚本与原始日志："),
    "no_figures": ("No figure here yet.", "尚无数据。"),
    "published_in": ("Published by others: {campaigns}", "他人公布：{campaigns}"),
    "measured_in": ("Measured here, campaigns: {campaigns}", "本站实测，测试批次：{campaigns}"),
    "measured_by": ("measured here, protocol {protocol}", "本站实测，测试方法 {protocol}"),
    "imported_in": (
        "Computed here from logs of others, imported as {campaigns}. Nothing was run here.",
        "由他人的日志计算，导入为 {campaigns}。本站没有运行任何测试。",
    ),
}
