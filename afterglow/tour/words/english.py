# SPDX-License-Identifier: Apache-2.0
"""The tour in English."""

ENGLISH = {
    "title": "Python runs ahead",
    "subtitle": "A tour of asynchronous arrays, measured on this machine",
    "introduction": (
        "A statement on arrays only queues its work and returns. Threads behind Python do the "
        "work, and Python waits only where a value is read. Each chapter shows one consequence, "
        "with times that were measured just now."
    ),
    "machine": "Afterglow {version}, Python {python}, {threads} threads may compute, {kernels}",
    "quick": "This was a quick run: fewer steps, rougher figures.",
    "summary": "In short",
    "written": "Written: {path}",
    "took": "The tour took {seconds}.",
    "time": "time",
    "ratio": "ratio",
    "times": "{number}\N{NO-BREAK SPACE}×",
    "yes": "yes",
    "no": "no",
    "each": "waits in every step",
    "once": "waits once, at the end",
    "issued": "calls issued",
    "run": "calls computed",
    "dropped": "calls dropped",
    "progress": "{done} of {total} calls finished, {queued} queued",
    "lanes.read": "read data",
    "lanes.issue": "issue",
    "lanes.wait": "wait",
    "lanes.run": "compute",
    "lanes.worker": "worker {number}",
    "queued.title": "Queued is not finished",
    "queued.text": (
        "The product of two large matrices takes many milliseconds. The statement that asks for "
        "it does not: it checks the shapes, puts the call into a queue and returns."
    ),
    "queued.progress": "products",
    "queued.queued": "nd.dot(x, x) returns",
    "queued.finished": "the value is there",
    "queued.finding": (
        "Queued after {queued}, finished after {finished}: {ratio} the time of the statement."
    ),
    "queued.panel": "one product",
    "queued.caption": (
        "One product of {side} × {side} numbers. The sliver at the left of the first lane is all "
        "that Python does for it. Whoever waits lends a hand: a share of the work may run in "
        "Python's lane."
    ),
    "queued.rate": (
        "Counted until it is finished, that makes {rate} GFLOP/s for {side} × {side} numbers. To "
        "time such work, wait for it before you read the clock."
    ),
    "touches.title": "What waits and what does not",
    "touches.text": (
        "Right after a product was issued, each line below touches it. Asking for the shape or "
        "computing with the result goes on at once. Taking the numbers out waits."
    ),
    "touches.touch": "touch",
    "touches.returns": "returns after",
    "touches.waits": "waits",
    "touches.finding": (
        "{free} of {total} ways to touch a result do not wait; the slowest of them returns after "
        "{slowest}."
    ),
    "touches.caption": (
        "Time until each line returns, on a logarithmic scale. Indigo: the product was not "
        "finished when it returned. Orange: it was."
    ),
    "overwritten.title": "Work nobody can see is not done",
    "overwritten.text": (
        "A loop overwrites its result again and again. When each value is waited for, each must "
        "be computed. When nobody looks, only what can still be read has to exist."
    ),
    "overwritten.finding": (
        "{dropped} of {steps} calls were never computed: {once} instead of {each} ({ratio})."
    ),
    "overwritten.caption": (
        "A square for each call of the loop that waits once. Filled squares were computed, hollow "
        "ones dropped; only their number is to scale, not their order."
    ),
    "loops.title": "Three parts of a step",
    "loops.text": (
        "A step has three parts: t₁ to read data and issue the call, t₂ to compute, t₃ to return "
        "to Python. A loop that waits every time pays for all of them in turn. A loop that waits "
        "once hides t₁ and t₃ behind the computing."
    ),
    "loops.products": "read + product",
    "loops.tiny": "tiny addition",
    "loops.fused": "large addition",
    "loops.products.full": "Reading and a product of 512 × 512",
    "loops.tiny.full": "y + 1 for 2 numbers",
    "loops.fused.full": "y + 1 for 4 million numbers",
    "loops.t1": "t₁, until a thread computes",
    "loops.t2": "t₂, while it computes",
    "loops.t3": "t₃, back in Python",
    "loops.predicted_each": "{steps} (t₁ + t₂ + t₃)",
    "loops.each": "measured, waits every time",
    "loops.predicted_once": "t₁ + {steps} t₂ + t₃",
    "loops.once": "measured, waits once",
    "loops.finding": (
        "Waiting once takes {once} instead of {each} ({ratio}); the prediction was {predicted}."
    ),
    "loops.caption": (
        "{shown} steps of such a loop with products of {side} × {side}, waiting every time and "
        "waiting once, on one time scale. Reading data is a pause of {reading}, as for a disk. "
        "While Python waits, it computes along: bars inside of its waiting."
    ),
    "loops.holds": (
        "{name}: issuing keeps up, since {steps} t₂ = {run} is more than {less} t₁ = {issue}. So "
        "the prediction should hold, as far as the machine does nothing else."
    ),
    "loops.fails": (
        "{name}: issuing does not keep up, since {steps} t₂ = {run} is less than {less} t₁ = "
        "{issue}. Then issuing sets the pace, and the prediction is too short."
    ),
    "loops.are_fused": (
        "{name}: {once} instead of the predicted {predicted}. Calls that queue up behind each "
        "other are fused, and several of them make one pass over memory."
    ),
    "memory.title": "Memory stays bounded",
    "memory.text": (
        "A training loop that never reads a value can issue batches faster than they are used "
        "up, and every waiting batch takes memory. Afterglow lets Python run ahead only so far. "
        "The third run takes that limit away. None is much faster than the others: each product "
        "keeps all cores busy by itself, and the thread that waits computes in the place of a "
        "worker. Not waiting pays where Python has work of its own, such as reading data."
    ),
    "memory.each": "reads every loss",
    "memory.bounded": "reads nothing",
    "memory.unbounded": "reads nothing, no limit",
    "memory.issued": "issued after",
    "memory.finished": "finished after",
    "memory.peak": "memory on top",
    "memory.finding": (
        "{bounded} on top without reading a value, {each} with reading every loss, {unbounded} "
        "without the limit."
    ),
    "memory.unit": "MB more than at the start",
    "memory.comment": "waits; only in the first variant",
    "memory.caption": (
        "Resident memory of the process while it trains with {batches} batches of 8 MB, sampled "
        "by a thread of its own. A dot marks when Python had issued everything."
    ),
    "hybridized.title": "Hybridize: write the network down once",
    "hybridized.text": (
        "Small networks spend their time in Python, layer by layer. A hybridized network is "
        "written down at its second call and then replayed as a whole, with the same results."
    ),
    "hybridized.prediction": "{steps} predictions, 512-256-128-2",
    "hybridized.training": "{steps} training steps, 20-64-64-1",
    "hybridized.before": "before",
    "hybridized.after": "after",
    "hybridized.bar": "{case}: {state}",
    "hybridized.finding": (
        "After it, predictions run at {prediction} the speed, training at {training}."
    ),
    "hybridized.caption": (
        "Time of all steps together, before and after; in training the loss is hybridized, too. "
        "Shorter is better."
    ),
    "parallel.title": "What is independent runs side by side",
    "parallel.text": (
        "The engine knows which call needs the result of which. Products of one chain follow "
        "each other. Products of two chains can run at the same time, and nothing in the program "
        "says so but the data."
    ),
    "parallel.progress": "products",
    "parallel.one": "one chain",
    "parallel.two": "two independent chains",
    "parallel.each": "per product",
    "parallel.finding": (
        "The same products take {two} instead of {one} ({ratio}) with {threads} threads."
    ),
    "parallel.caption": (
        "1.5 ms out of the middle of each run. Products take turns in light and dark. One chain "
        "keeps one thread busy, two chains keep two. The waiting Python thread counts as one of "
        "them."
    ),
    "parallel.large": (
        "These products are small, so one thread computes each. A large one is cut into shares "
        "that several threads compute, so that a single chain of those uses the whole machine."
    ),
}
