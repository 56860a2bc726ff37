from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import REDACTED, redact
from tests.memory.helpers import NASTY

SECRETS = [
    "sk-abcdefghijklmnop1234", "sk-proj-abc_DEF-1234567890abcd", "ghp_" + "a1B2" * 9,
    "hf_" + "x" * 34,
    "github_pat_" + "A1" * 20, "xoxb-1234567890-abcdef", "AKIAIOSFODNN7EXAMPLE", "AIza" + "b" * 35,
    "123456789:AAE" + "x" * 32, "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA.GabcdE." + "z" * 30,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "4111 1111 1111 1111",
    "5500-0055-5555-5559",
    "378282246310005", "3782 822463 10005", "4000 0012 3456 7890 124", "6011111111111117",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEabc",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_replaced_and_the_words_around_it_stay(secret: str) -> None:
    end = "" if secret.startswith("-----") else " — ok?"
    assert redact(f"here 它: {secret}{end}") == f"here 它: {REDACTED}{end}"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("password: hunter2", f"password: {REDACTED}"),
        ("my PASSWORD=hunter,2 ok", f"my PASSWORD={REDACTED} ok"),
        ('{"api_key": "abc def"}', f'{{"api_key": {REDACTED}}}'),
        ("4111 1111 1111 1111 999", f"{REDACTED} 999"),
        ("access token: abc", f"access token: {REDACTED}"),
        ("密码：abc123，谢谢", f"密码：{REDACTED}，谢谢"),
        ("我的密码是hunter2。", f"我的密码是{REDACTED}。"),
        ("WiFi密码为 a1b2c3d4，记住", f"WiFi密码为 {REDACTED}，记住"),
        ("my password is hunter2.", f"my password is {REDACTED}."),
        ("My new email password is 'two words', ok", f"My new email password is {REDACTED}, ok"),
        ("the wifi password is Str0ng!pass", f"the wifi password is {REDACTED}"),
        ("Authorization: Bearer abcdefghijklmnop.qrs", f"Authorization: Bearer {REDACTED}"),
        ("https://ada:s3cret@example.org/x", f"https://ada:{REDACTED}@example.org/x"),
    ],
)
def test_a_named_secret_is_replaced_and_its_name_stays(said: str, kept: str) -> None:
    assert redact(said) == kept


@pytest.mark.parametrize(
    "lesson",
    [
        "What is a password? It is a secret word.", "密码学是什么", "the token is a word",
        "2+2 :: 4",
        "pi is 3.14159265358979323846", "4111 1111 1111 1112", "20! = 2432902008176640000",
        "1111111111111111", "the sk-learn library", "meet at 10:30:15", "a ratio 12345678:1",
        "https://example.org:8080/a@b", "2^64 = 18446744073709551616", "bearer of bad news",
        "ISBN 978-3-16-148410-0", "ISBN 9783161484100", "ISBN-10 0-306-40615-2",
        "EAN 4006381333931",
        "+49 30 12345678", "+86 138 0013 8000", "call 4155552671", "(415) 555-2671 ext 1234",
        "2026-11-30 14:02:11", "20261130140211", "30.11.2026 – 01.12.2026", "1945 1989 1990 2004",
        "1000000000000066600000000000001 is Belphegor's prime", "6.02214076 × 10^23 mol^-1",
        "x = 4111111111111112", "e = 2.7182818284590452", "1/3 = 0.3333333333333333",
        "4111 + 1111 + 1111 + 1111", "0x5f3759df", "DE89370400440532013000 is an IBAN",
        "密码是什么？", "凯撒密码是 Caesar cipher 的译名", "这个密码为何安全",
        "my password is too short",
        "my password is secure", "the password is a secret word", "our pin is round",
        "密码学：一门课", "What does Bearer mean? Bearer is a word.", "key: value",
        "the key is 440 Hz",
    ],
)  # fmt: skip
def test_a_lesson_is_left_alone(lesson: str) -> None:
    assert redact(lesson) == lesson


@given(NASTY, st.sampled_from(SECRETS), NASTY)
def test_a_secret_between_any_words_is_found(before: str, secret: str, after: str) -> None:
    assert secret not in redact(f"{before} {secret} {after}")
