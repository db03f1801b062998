"""Chinese words that a reader may search for. Chinese has no spaces: where one of these stands inside a longer run of
characters, the search finds it only if the run is cut there. A word that is not listed is found where a run begins.

None begins with another: Material would look for the shorter one alone."""

LISTED = """
测试方法 测试项 测试批次 单次测试 基准 性能 深度学习 训练 预训练 模型 数据 合成 样本 采样 框架 镜像 容器 版本 代码
补丁 编译 硬件 加速卡 显卡 单卡 多卡 卡数 单机 多机 主机 节点 集群 虚拟机 机器 拓扑 互连 网络 带宽 显存 内存 磁盘
驱动 内核 系统 处理器 功率 频率 温度 利用率 峰值 算力 上限 精度 混合 自动 并行 损失 批大小 吞吐率 速度 加速比 扩展性
扩展效率 弱扩展 线性 波动 中位数 均值 平均 估计方法 预热 窗口 稳态 离群 异常 失败 超时 取消 重试 重复 迭代 步数 步骤
环境 搭建 安装 启动 命令 脚本 参数 选项 配置 结果 报告 日志 时间戳 格式 公布 来源 核对 复现 历史 回退 对比 比较 领先
浏览 终端 界面 指南 公式 定义 说明 文件 导入 调度 队列 引擎 监控 校验 人脸 识别 图像 分类 策略 优化 读取 加载 能耗
焦耳 正则表达式 工作区 退出码 阈值
"""

WORDS = frozenset(LISTED.split())
