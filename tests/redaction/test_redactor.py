"""What is taken for a secret, a home folder or a user name, and what is not."""

from __future__ import annotations

import json
from html import escape

import pytest

from dlperf.redaction import Redactor
from dlperf.redaction.rules import is_secret_name, is_secret_value, looks_random
from dlperf.report.redaction import page_spellings

SECRET = (
    *("HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "--password", "--auth-token", "apiKey"),
    *("HF_TOKEN_2", "OPENAI_KEY", "REDIS_PASS", "MYPASS", "PASS", "ROOT_PW", "GIT_AUTH", "BASIC_AUTH", "COOKIE", "PIN"),
)
PLAIN = (
    *("TOKENIZERS_PARALLELISM", "MAX_TOKENS", "--key", "PWD", "KEYBOARD", "NCCL_DEBUG", "secretary", "HF_TOKEN_PATH"),
    *("BYPASS", "COMPASS", "--sort-key", "PIN_MEMORY", "MAPPING", "AUTHOR"),
)
HARMLESS = (
    b"commit 2315d04f0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    b"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    b"GPU-6f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
    b"eos_token='<|endoftext|>' pad_token_id=50256 per_token: 0.0001234567890123",
    b"root@node1's password: Permission denied, please try again.",
    b'"token": "f43fb992", "schema": 1',
    b"password=None, token=false, secret=$HF_TOKEN, api_key=/run/secrets/hf",
    b"/opt/conda/lib/python3.11/site-packages/torch/_dynamo/convert_frame.py",
    b"_ZN3c1019TensorImpl15release_resourcesEv",
    b"tokens/s: 123456 step=1000 loss=2.34567890123456",
    b"https://github.com/owner/repository@2315d04f0a1b:path",
    b'curl -fsS -u "$USER:$PASSWORD" https://example.org/x',
)
TOKENS = (
    b"hf_QmZ3kR9tY7wLx2VbN8sD4fGh",
    b"ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5",
    b"AKIAQ3EXAMPLE7DEMO42",
    b"glpat-aB3dE5fG7hJ9kL1mN3pQ",
    b"nvapi-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5aB3dE5fG7h",
    b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
)


@pytest.mark.parametrize("name", SECRET)
def test_a_telling_name_makes_a_value_a_secret(name):
    assert is_secret_name(name)
    assert is_secret_value(name, "hunter2-hunter2")


@pytest.mark.parametrize("name", PLAIN)
def test_names_of_settings_do_not(name):
    assert not is_secret_value(name, "hunter2-hunter2")


@pytest.mark.parametrize(("name", "value", "secret"), [("PIN", "482913", True), ("NUM_PASS", "2", False)])
def test_a_number_is_a_secret_only_if_it_is_long(name, value, secret):
    assert is_secret_value(name, value) is secret


def test_random_values_are_secrets_under_any_name_and_hashes_are_not():
    assert looks_random("q8Zr2LmX9vTb4KsW7nYc")
    assert not looks_random("2315d04f0a1b2c3d4e5f60718293a4b5c6d7e8f9")
    assert not looks_random("ResNet50TrainingWithMixedPrecision")


@pytest.mark.parametrize("line", HARMLESS)
def test_what_logs_say_anyway_stays(line):
    assert Redactor().redact(line) == (line, frozenset())


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_are_found_by_their_shape_also_in_pages(token):
    page = token.replace(b"_", b"&#95;")
    for text in (token, b'"' + token + b'"', page, page[:9] + b"<wbr>" + page[9:]):
        redacted, found = Redactor(spellings=page_spellings).redact(b"x " + text + b" y")
        assert redacted.startswith(b"x ")
        assert redacted.endswith(b" y")
        assert token[8:20] not in redacted
        assert {item.kind for item in found} == {"suspected"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"--password=hunter2 x", b"--password=[secret:password] x"),
        (b"['--password', 'hunter2']", b"['--password', '[secret:password]']"),
        (b"git clone https://me:hunter2@example.org/x", b"git clone https://me:[secret:password-in-url]@example.org/x"),
        (b"https://me:me@example.org/me", b"https://me:[secret:password-in-url]@example.org/me"),
        (b"Authorization: Bearer abcdef123456", b"Authorization: Bearer [secret:bearer-token]"),
        (b"curl -sSf -u me:hunter2 https://a.org/x", b"curl -sSf -u me:[secret:curl-user] https://a.org/x"),
        (b'{"api_key": "k3yk3yk3yA1B2C3D4"}', b'{"api_key": "[secret:api_key]"}'),
    ],
)
def test_assignments_and_addresses_are_found(line, expected):
    assert Redactor().redact(line)[0] == expected


@pytest.mark.parametrize("value", ['it\'s <p&ss> "wörd"', "a_b*c|d`e~f", "back\\slash7", "0123456789abcdef0123"])
def test_a_known_value_is_found_in_every_spelling(value):
    redactor = Redactor({"[secret:KEY]": value})
    for text in (value, json.dumps(value), escape(value), json.dumps(escape(value))):
        redacted, found = redactor.redact(f"\\n{text}".encode())
        assert b"[secret:KEY]" in redacted
        assert {(item.kind, item.name) for item in found} == {("secret", "KEY")}


def test_a_short_value_is_replaced_after_its_name_alone():
    redactor = Redactor({"[secret:PIN]": "1234"})
    assert redactor.redact(b"PIN=1234 step 1234 12345")[0] == b"PIN=[secret:PIN] step 1234 12345"


def test_home_folders_and_user_names_are_replaced_where_they_are_known():
    redactor = Redactor(people=True, homes=frozenset({"/nfs/alice"}), users=frozenset({"alice"}))
    text = b"cd /srv/x/.dlperf/t; /nfs/alice/data alice@gpu-1 user=alice /scratch/alice/x malice /home/perf/PaddleClas"
    expected = b"cd ~/.dlperf/t; ~/data user@gpu-1 user=user /scratch/user/x malice /home/perf/PaddleClas"
    assert redactor.redact(text)[0] == expected
    assert Redactor().redact(text)[0] == text


@pytest.mark.parametrize("part", [b"/a", b"token", b"a.b-c_", b"eyJ", b"password=", b"://", b"user", b"\\"])
def test_a_long_line_is_read_in_linear_time(part):
    redactor = Redactor({"[secret:KEY]": "aaaaaaaaaab"}, True, frozenset({"/a"}), frozenset({"token"}))
    redactor.redact(part * 300_000 + b"/.dlperf")  # a quadratic expression would take minutes
