"""Every mistake in an entry is one line with file, line and field."""

from __future__ import annotations

import pytest
from entries import BOX, CASE, FRAMEWORK, problems_of

MISTAKES = {
    "missing field": ("- id: box\n  title: Box\n", ":1: nodes: is missing"),
    "wrong field": (BOX + "  gpus: 8\n", ":4: gpus: unknown field (did you mean gpus_per_node?)"),
    "wrong inner field": (
        "- id: box\n  title: Box\n  nodes:\n    - name: a\n      hots: b\n",
        ":5: nodes[0].hots: unknown field (did you mean host?)",
    ),
    "text for a number": (
        BOX + "  gpus_per_node: '8'\n",
        ":4: gpus_per_node: expected a whole number, got the text '8' (write it without quotes)",
    ),
    "words for a number": (
        BOX + "  gpus_per_node: eight\n",
        ":4: gpus_per_node: expected a whole number, got the text 'eight'",
    ),
    "fraction for a whole number": (
        BOX + "  gpus_per_node: 8.5\n",
        ":4: gpus_per_node: expected a whole number, got the number 8.5",
    ),
    "number for text": (
        "- id: box\n  title: 1.15\n  nodes: [{name: a}]\n",
        ':2: title: expected text, got the number 1.15 (write "1.15" in quotes)',
    ),
    "truth for text": (
        BOX + "  facts: {xla: on}\n",
        ':4: facts.xla: expected text, got the truth value true (write "on" in quotes)',
    ),
    "date for text": (
        BOX + "  source: 2020-10-01\n",
        ':4: source: expected text, got a date (write "2020-10-01" in quotes)',
    ),
    "nothing for text": ("- id: box\n  title:\n  nodes: [{name: a}]\n", ":2: title: expected text, got nothing"),
    "minutes for text": (
        BOX + "  facts: {time: 12:30}\n",
        ':4: facts.time: expected text, got the number 750 (write "12:30" in quotes)',
    ),
    "text for a list": ("- id: box\n  title: Box\n  nodes: a\n", ":3: nodes: expected a list, got the text 'a'"),
    "negative count": (
        BOX + "  gpus_per_node: -1\n",
        ":4: gpus_per_node: should be greater than 0 (got the number -1)",
    ),
    "bad id": (
        "- id: My_Box\n  title: Box\n  nodes: [{name: a}]\n",
        ":1: id: 'My_Box' is not allowed (an id has 1 to 63 small letters, digits, dots and hyphens, no underscore)",
    ),
    "tilde path": (
        BOX + "  data: {imagenet: ~/data}\n",
        ":4: data.imagenet: '~/data' is not allowed (an absolute path; ~ is not expanded)",
    ),
    "wrong word": (BOX + "  executor: ssh\n", ":4: executor: 'ssh' is not one of 'direct', 'slurm'"),
    "entry that is no mapping": ("- box\n", ":1: expected a mapping, got the text 'box'"),
    "unknown accelerator": (
        BOX + "  accelerator: a100\n",
        ":4: accelerator: no a100 in accelerators (did you mean a100-pcie-40gb or a100-pcie-80gb or a100-sxm4-40gb?)",
    ),
    "unknown placeholder in env of a machine": (
        BOX + "  env: {A: '{batchsize}'}\n",
        ":4: env.A: unknown placeholder {batchsize} (did you mean batch_size",
    ),
    "placeholder in an option of a job": (
        BOX + "  executor: slurm\n  slurm: {gres: 'gpu:{gpus}', extra: ['--mem={mem}']}\n",
        ":5: slurm.extra[0]: {mem} has no value in an option of a job (only `gres` has one, {gpus})",
    ),
    "slurm without options": (
        BOX + "  executor: slurm\n",
        ":4: executor: slurm and a mapping `slurm:` go together (give both or neither)",
    ),
    "two nodes of one name": (
        "- id: box\n  title: Box\n  nodes:\n  - name: a\n  - name: a\n",
        ":5: nodes[1].name: duplicate node name a (each node needs its own name)",
    ),
    "this machine under another name": (
        "- id: box\n  title: Box\n  nodes:\n  - name: a\n    transport: local\n    host: gpu-1\n",
        ":5: nodes[0].transport: local is the machine that dlperf runs on: leave it out to use ssh, or leave out host, "
        "port and user",
    ),
    "too few GPUs": (
        "- id: box\n  title: Box\n  gpus_per_node: 2\n  nodes:\n  - name: a\n    gpu_indices: [0]\n",
        ":6: nodes[0].gpu_indices: names 1 of 2 GPUs (gpus_per_node)",
    ),
    "shared GPU": (
        "- id: box\n  title: Box\n  nodes:\n"
        "  - {name: a, host: x, gpu_indices: [0]}\n  - {name: b, host: x, gpu_indices: [0]}\n",
        ":5: nodes[1].gpu_indices: GPU 0 of x belongs to node a already",
    ),
    "id twice": (BOX + BOX, ":4: [1].id: duplicate id box in hardware, first in hardware.yaml:1"),
    "key twice": ("- id: box\n  title: Box\n  title: Bax\n", ":3: [0].title: duplicate key, first in line 2"),
    "key that is no text": ("- id: box\n  on: 1\n", ':2: [0]: key on is not text in YAML (write "on")'),
    "merge key": ("- &a {id: box}\n- <<: *a\n", ":2: [1]: merge keys (<<) are not supported (write the fields out)"),
    "syntax": ("- id: [\n", ":2: YAML syntax: did not find expected node content"),
    "tab": ("- id: box\n\ttitle: x\n", ":2: YAML syntax: found a tab character that violates indentation"),
    "two documents": (BOX + "---\n" + BOX, ":4: YAML syntax: but found another document"),
    "python tag": (
        "- id: !!python/object/apply:os.system [touch /tmp/dlperf-owned]\n",
        ":1: [0].id: YAML tag tag:yaml.org,2002:python/object/apply:os.system is not allowed (plain data only)",
    ),
    "binary tag": ("- id: !!binary aGk=\n", ":1: [0].id: YAML tag tag:yaml.org,2002:binary is not allowed"),
    "huge number": ("- id: " + "9" * 5000 + "\n", ":1: [0].id: '" + "9" * 40 + "' cannot be read as int (quote it)"),
    "no UTF-8": (b"- id: \xff\n", ":1: cannot be read: byte 6 is not UTF-8"),
    "NUL": (b"- id: a\x00\n", ":1: YAML syntax: "),
    "nested deep": ("[" * 100, ":1: is nested deeper than 24 levels"),
    "nested so deep that some versions of libyaml refuse it": ("[" * 100_000, ":1: "),
    "alias of itself": ("&a [*a]\n", ":1: is too large with its aliases resolved (write the entries out)"),
    "large": ("#" * (1 << 20) + "\n", ":1: is larger than 1024 KiB (split it into several files)"),
}


CASE_MISTAKES = {
    "default that is no value": (
        CASE + "  axes: {depth: {values: [1, 2], default: 3}}\n",
        ":9: axes.depth.default: 3 is not among the values 1, 2",
    ),
    "axis with the name of a placeholder": (
        CASE + "  axes: {nodes: [1]}\n",
        ":9: axes.nodes: is the name of a placeholder or of a column of results (choose another)",
    ),
    "unknown axis in a group": (
        CASE + "  axes: {depth: [1]}\n  zip: [[depth, width]]\n",
        ":10: zip[0]: no axis width (did you mean depth?)",
    ),
    "lists of different lengths": (
        CASE + "  axes: {depth: [1, 2]}\n  zip: [[depth, batch_size]]\n",
        ":10: zip[0]: lists of different lengths go together: depth 2, batch_size 1",
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASE_MISTAKES.values(), ids=CASE_MISTAKES.keys())
def test_a_mistake_in_the_axes_of_a_case_is_one_line_with_its_place(write, text, expected):
    assert problems_of(write(text, "cases.yaml")) == [f"cases.yaml{expected}"]


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_in_a_hardware_file_is_one_line_with_its_place(write, text, expected):
    problems = problems_of(write(text))
    assert problems[0].startswith(f"hardware.yaml{expected}")
    assert ("without quotes" in problems[0]) == ("without quotes" in expected)
    assert len(problems) == 1


RECIPE_MISTAKES = {
    "precision the case lacks": (
        "precisions: [fp32]",
        "precisions: [fp32, amp]",
        ":7: recipes[0].precisions[1]: case lenet5 has no amp (it has fp32)",
    ),
    "batch size the case lacks": (
        "precisions: [fp32]",
        "precisions: [fp32]\n      batch_sizes: [5]",
        ":8: recipes[0].batch_sizes[0]: case lenet5 has no 5 (it has 32, 64, 128, 256)",
    ),
    "scale the case lacks": (
        "precisions: [fp32]",
        "precisions: [fp32]\n      scales: [1n1g, 9n9g]",
        ":8: recipes[0].scales[1]: case lenet5 has no 9n9g (it has 1n1g)",
    ),
    "scale that is none": (
        "precisions: [fp32]",
        "precisions: [fp32]\n      scales: [8g]",
        ":8: recipes[0].scales[0]: '8g' is not allowed (a scale is written 2n8g: 2 nodes with 8 GPUs each)",
    ),
    "unknown case": ("case: lenet5", "case: lenet", ":6: recipes[0].case: no lenet in cases (did you mean lenet5"),
    "unknown placeholder": (
        "[train.py]",
        "[train.py, '{batchsize}']",
        ":8: recipes[0].command[1]: unknown placeholder {batchsize} (did you mean batch_size",
    ),
    "placeholder in a build line": (
        "recipes:",
        'build: ["echo ${HOME} $PWD", "awk \'{ print }\' {files}/list"]\n  recipes:',
        ":5: build[1]: {files} is passed to bash as it is (lines of a build run in {build}",
    ),
    "unknown placeholder in a build line": (
        "recipes:",
        'build: ["pip install -r {requirement}"]\n  recipes:',
        ":5: build[0]: {requirement} is passed to bash as it is (lines of a build run in {build}",
    ),
    "placeholder in the prologue": (
        "recipes:",
        'prologue: ["cd {files}"]\n  recipes:',
        ":5: prologue[0]: {files} is passed to bash as it is (placeholders are filled in commands",
    ),
    "unknown placeholder in env": (
        "command: [train.py]",
        "command: [train.py]\n      env: {A: '{step}'}",
        ":9: recipes[0].env.A: unknown placeholder {step} (did you mean steps",
    ),
    "variable name": (
        "command: [train.py]",
        "command: [train.py]\n      env: {A-B: x}",
        ":9: recipes[0].env.A-B: 'A-B' is not allowed (a variable's name has letters, digits and underscores)",
    ),
    "variant for nothing": (
        "command: [train.py]",
        "command: [train.py]\n      variants:\n        - when: {precision: [amp]}\n          args: [x]",
        ":10: recipes[0].variants[0].when: matches no configuration of this recipe",
    ),
    "unknown launcher": (
        "command: [train.py]",
        "command: [train.py]\n      launcher: mpi",
        ":9: recipes[0].launcher: 'mpi' is not one of 'plain', 'torchrun'",
    ),
    "file in a folder": (
        "command: [train.py]",
        "command: [train.py]\n      files: [../secret]",
        ":9: recipes[0].files[0]: '../secret' is not allowed (a file name, without folders)",
    ),
    "option that is a list": (
        "command: [train.py]",
        "command: [train.py]\n      options: {dali: [1]}",
        ":9: recipes[0].options.dali: expected text, got a list",
    ),
    "case twice": (
        "command: [train.py]",
        "command: [train.py]\n    - case: lenet5\n      precisions: [fp32]\n      command: [x]",
        ":9: recipes[1].case: lenet5 has a recipe already (use variants)",
    ),
    "NUL in a command": (
        "[train.py]",
        '["a\\0b"]',
        ":8: recipes[0].command[0]: contains a NUL character, which no command can be given",
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), RECIPE_MISTAKES.values(), ids=RECIPE_MISTAKES.keys())
def test_a_mistake_in_a_recipe_is_one_line_with_its_place(write, old, new, expected):
    problems = problems_of(write(FRAMEWORK.replace(old, new), "frameworks.yaml"))
    assert problems[0].startswith(f"frameworks.yaml{expected}")
    assert len(problems) == 1
