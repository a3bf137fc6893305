# SPDX-License-Identifier: Apache-2.0
"""The tour in Chinese."""

CHINESE = {
    "title": "Python 先行一步",
    "subtitle": "异步数组之旅，数字都在这台机器上实测",
    "introduction": (
        "对数组的一条语句只是把工作排进队列，随即返回。真正的计算由 Python 背后的线程完成，"
        "Python 只在读取数值时才等待。下面每一章展示由此而来的一个结果，时间都是刚刚测得的。"
    ),
    "machine": "Afterglow {version}，Python {python}，最多 {threads} 个线程同时计算，{kernels}",
    "quick": "这是一次快速运行：步数较少，数字较粗略。",
    "summary": "一览",
    "written": "已写入：{path}",
    "took": "全程用时 {seconds}。",
    "time": "用时",
    "ratio": "比值",
    "times": "{number}\N{NO-BREAK SPACE}倍",
    "yes": "是",
    "no": "否",
    "each": "每步都等待",
    "once": "只在最后等待",
    "issued": "发出的调用",
    "run": "算过的调用",
    "dropped": "省去的调用",
    "progress": "共 {total} 个调用，已完成 {done} 个，排队 {queued} 个",
    "lanes.read": "读数据",
    "lanes.issue": "发出调用",
    "lanes.wait": "等待",
    "lanes.run": "计算",
    "lanes.worker": "线程 {number}",
    "queued.title": "排上队不等于算完",
    "queued.text": (
        "两个大矩阵相乘要用许多毫秒，请求它的语句却不用：它检查形状，把调用放进队列，就返回了。"
    ),
    "queued.progress": "矩阵乘法",
    "queued.queued": "nd.dot(x, x) 返回",
    "queued.finished": "结果算完",
    "queued.finding": "{queued} 后排好队，{finished} 后算完，是语句用时的 {ratio}。",
    "queued.panel": "一次乘法",
    "queued.caption": (
        "一次 {side} × {side} 的矩阵乘法。第一行最左边的细条就是 Python 为它所做的全部工作。"
        "等待的线程会帮忙：一部分计算可能出现在 Python 那一行里。"
    ),
    "queued.rate": (
        "按算完的时间计，{side} × {side} 的乘法达到 {rate} GFLOP/s。"
        "给这样的工作计时，要先等它算完再看表。"
    ),
    "touches.title": "什么会等待，什么不会",
    "touches.text": (
        "乘法刚刚发出，下面每一行都立刻去碰它的结果。查看形状、接着用它计算，都马上返回；"
        "要把数值取出来，就得等待。"
    ),
    "touches.touch": "操作",
    "touches.returns": "返回用时",
    "touches.waits": "是否等待",
    "touches.finding": "{total} 种操作里有 {free} 种不等待，其中最慢的 {slowest} 后返回。",
    "touches.caption": (
        "每一行返回所用的时间，对数刻度。靛蓝色：返回时乘法还没算完；橙色：已经算完。"
    ),
    "overwritten.title": "没人看得到的工作不必做",
    "overwritten.text": (
        "一个循环反复覆盖同一个结果。如果每个值都要等，那么每个都得算；如果没人去看，"
        "只有还能被读到的值才需要存在。"
    ),
    "overwritten.finding": (
        "{steps} 个调用里有 {dropped} 个从未计算：用时 {once}，而不是 {each}（{ratio}）。"
    ),
    "overwritten.caption": (
        "每个方格是“只在最后等待”的循环里的一个调用。实心的算过，空心的省去了；"
        "只有数量是准确的，位置不代表先后。"
    ),
    "loops.title": "一步的三个部分",
    "loops.text": (
        "每一步有三个部分：t₁ 读数据并发出调用，t₂ 计算，t₃ 回到 Python。每步都等待的循环"
        "要依次付出这三段时间；只在最后等待的循环把 t₁ 和 t₃ 藏在计算背后。"
    ),
    "loops.products": "读数据 + 乘法",
    "loops.tiny": "极小的加法",
    "loops.fused": "大数组加法",
    "loops.products.full": "读数据并做 512 × 512 的乘法",
    "loops.tiny.full": "2 个数的 y + 1",
    "loops.fused.full": "400 万个数的 y + 1",
    "loops.t1": "t₁，到线程开始计算",
    "loops.t2": "t₂，计算",
    "loops.t3": "t₃，回到 Python",
    "loops.predicted_each": "{steps} (t₁ + t₂ + t₃)",
    "loops.each": "实测，每步都等待",
    "loops.predicted_once": "t₁ + {steps} t₂ + t₃",
    "loops.once": "实测，只在最后等待",
    "loops.finding": "只等一次用时 {once}，而不是 {each}（{ratio}）；预测是 {predicted}。",
    "loops.caption": (
        "这样的循环的 {shown} 步，乘法为 {side} × {side}，每步都等待与只在最后等待，同一时间刻度。"
        "读数据是 {reading} 的停顿，好比等待磁盘。Python 等待时也一起计算，画在它的等待之中。"
    ),
    "loops.holds": (
        "{name}：发出调用跟得上计算，因为 {steps} t₂ = {run} 大于 {less} t₁ = {issue}。"
        "只要机器上没有别的负担，预测就应当成立。"
    ),
    "loops.fails": (
        "{name}：发出调用跟不上计算，因为 {steps} t₂ = {run} 小于 {less} t₁ = {issue}。"
        "这时快慢由发出调用决定，预测偏短。"
    ),
    "loops.are_fused": (
        "{name}：用时 {once}，预测却是 {predicted}。排在一起的调用会被融合，"
        "几个调用合成一遍内存扫描。"
    ),
    "memory.title": "内存有上限",
    "memory.text": (
        "从不读取数值的训练循环，发出小批量的速度可以超过消化它们的速度，而每个排队的小批量都"
        "占内存。Afterglow 只让 Python 领先到一定程度。第三次运行去掉了这个限制。三者快慢相差不大："
        "每个矩阵乘积自己就能让所有核忙碌，而等待的线程会代替一个工作线程计算。Python 自己也有事"
        "要做时（比如读数据），不等待才划算。"
    ),
    "memory.each": "每次都读损失",
    "memory.bounded": "什么也不读",
    "memory.unbounded": "什么也不读，没有限制",
    "memory.issued": "发完用时",
    "memory.finished": "算完用时",
    "memory.peak": "增加的内存",
    "memory.finding": (
        "什么也不读时增加 {bounded}，每次都读损失时增加 {each}，去掉限制则增加 {unbounded}。"
    ),
    "memory.unit": "比开始时多出的 MB",
    "memory.comment": "等待；仅第一种循环有这一行",
    "memory.caption": (
        "用 {batches} 个 8 MB 的小批量训练时进程的常驻内存，由单独的线程采样。"
        "圆点表示 Python 已发完全部调用的时刻。"
    ),
    "hybridized.title": "hybridize：把网络抄录下来",
    "hybridized.text": (
        "小网络的时间都花在 Python 里，一层接着一层。hybridize 之后的网络在第二次调用时被抄录下来，"
        "以后整个重放，结果不变。"
    ),
    "hybridized.prediction": "{steps} 次预测，512-256-128-2",
    "hybridized.training": "{steps} 步训练，20-64-64-1",
    "hybridized.before": "之前",
    "hybridized.after": "之后",
    "hybridized.bar": "{case}：{state}",
    "hybridized.finding": "之后，预测的速度是原来的 {prediction}，训练是 {training}。",
    "hybridized.caption": (
        "之前与之后，所有步数合计用时；训练时损失函数也做了 hybridize。越短越好。"
    ),
    "parallel.title": "互不依赖的工作同时进行",
    "parallel.text": (
        "引擎知道哪个调用需要哪个结果。同一条链上的乘法只能一个接一个；两条链上的乘法可以同时"
        "进行。程序里不必写明，数据之间的关系已经说明了一切。"
    ),
    "parallel.progress": "矩阵乘法",
    "parallel.one": "一条链",
    "parallel.two": "两条互不依赖的链",
    "parallel.each": "每次乘法",
    "parallel.finding": ("{threads} 个线程完成同样多的乘法用时 {two}，而不是 {one}（{ratio}）。"),
    "parallel.caption": (
        "取自每次运行中间的 1.5 毫秒，相邻的乘法深浅相间。一条链只让一个线程忙碌，两条链让两个"
        "线程都忙。等待中的 Python 线程也算其中之一。"
    ),
    "parallel.large": (
        "这里的乘法很小，每次由一个线程完成。大的乘法会切成几份，由几个线程一起算，"
        "所以一条大乘法的链也能用上整台机器。"
    ),
}
