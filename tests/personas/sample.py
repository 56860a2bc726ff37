"""A small valid persona file, and ways to break it."""

from __future__ import annotations

SAMPLE = """\
---
id: ada
languages: [en, zh]
name:
  en: Ada
  zh: 艾达
description:
  en: Programming.
  zh: 学编程。
greeting:
  en: Hello, I'm Ada.
  zh: 你好，我是艾达。
brief:
  en: You are Ada.
  zh: 你是艾达。
tools: [cards_due]
capabilities: [chat]
model:
  temperature: 0.3
errors:
  deadline:
    en: That ran too long.
    zh: 跑得太久了。
---

# en

You are Ada.

## Habits

```python
# zh
```

# zh

你是艾达，教编程。
"""


def changed(old: str, new: str) -> str:
    """Return the sample with the first ``old`` replaced; fails when there is none."""
    assert old in SAMPLE, old
    return SAMPLE.replace(old, new, 1)
