"""What it costs to grade one answer by code, for each kind of question."""

from __future__ import annotations

import time

from bench.figures import median, p95, table
from core.learning.grading import grade
from core.learning.items import (
    ChoiceKey,
    ClozeKey,
    CodeKey,
    ExpressionKey,
    FreeKey,
    Key,
    NumberKey,
    OrderKey,
    options,
)
from core.learning.numbers import readings
from core.learning.units import quantities, unit

SEED = "01JD0000000000000000000001"
CHOICE = ChoiceKey(options=("mitochondria", "ribosomes", "the nucleus", "vacuoles"))
ORDER = OrderKey(steps=("prophase", "metaphase", "anaphase", "telophase"))
ANSWERS: tuple[tuple[str, Key, str], ...] = (
    ("words, accepted", FreeKey(reference="Paris", accepted=("Paris", "巴黎")), "It's Paris!"),
    (
        "words, left to a reader",
        FreeKey(reference="Paris", accepted=("Paris",)),
        "I believe that it is the city on the Seine. " * 20,
    ),
    ("number", NumberKey(value="3/4"), "四分之三"),
    ("number with unit", NumberKey(value="10", unit="m/s", tolerance=0.02), "36 km/h"),
    ("expression, as written", ExpressionKey(value="2x + 3"), "y = 2*x+3"),
    ("multiple choice", CHOICE, options(CHOICE, SEED)[2]),
    ("order", ORDER, ", ".join(ORDER.steps)),
    ("cloze", ClozeKey(gaps=(("one", "1"), ("two",))), "1; two"),
    ("code", CodeKey(accepted=("x = 1\nprint(x)",)), "```python\nx = 1\nprint(x)\n```"),
)


def grading(times: int) -> None:
    """Print how long one answer takes; nothing is remembered from one to the next."""
    rows = []
    for name, key, answer in ANSWERS:
        waits = []
        for _ in range(times):
            for remembered in (readings, quantities, unit):
                getattr(remembered, "cache_clear", lambda: None)()
            start = time.perf_counter()
            grade(key, answer, seed=SEED)
            waits.append(1000 * (time.perf_counter() - start))
        rows.append([name, f"{median(waits):.3f}", f"{p95(waits):.3f}", f"{max(waits):.3f}"])
    table(
        f"One answer graded by code, {times} times", ("", "ms median", "ms p95", "ms worst"), rows
    )
