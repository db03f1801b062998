"""From a selection to configurations, the impossible ones with their reasons, and trials."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.model import Axis, Case
from dlperf.errors import RequestError
from dlperf.plan import Plan, Selection, expand

VARIED = Selection(hardware=("two-boxes",), frameworks=("varied",), cases=("tiny",))


def ids(plan):
    return [item.configuration.id for item in plan.configurations]


def reasons(plan):
    return {item.configuration.id: str(item.reason) for item in plan.impossible}


def launch(catalog, **axes):
    """The launch of the only configuration of a selection."""
    (item,) = expand(replace(VARIED, **axes), catalog).configurations
    return item.launch


def test_repeats_are_interleaved_across_configurations(catalog):
    selection = Selection(("local",), ("numpy",), ("lenet5",), batch_sizes=(32, 64), repeats=2)
    assert [str(trial) for trial in expand(selection, catalog).trials] == [
        "local_numpy_lenet5_fp32_bs32_1n1g/1",
        "local_numpy_lenet5_fp32_bs64_1n1g/1",
        "local_numpy_lenet5_fp32_bs32_1n1g/2",
        "local_numpy_lenet5_fp32_bs64_1n1g/2",
    ]


def test_a_profiled_trial_of_each_configuration_comes_after_the_measured_ones(catalog):
    selection = Selection(("local",), ("jax",), ("resnet50",), ("fp32",), (32, 64), ("1",), repeats=2, profile=True)
    plan = expand(selection, catalog)
    one, two = (f"local_jax_resnet50_fp32_bs{size}_1n1g" for size in (32, 64))
    profiles = [f"{one}_profile-on/1", f"{two}_profile-on/1"]
    assert list(map(str, plan.trials)) == [f"{one}/1", f"{two}/1", f"{one}/2", f"{two}/2", *profiles]
    measured, profiled = plan.configurations[0].launch, plan.configurations[2].launch
    assert profiled == replace(measured, command=profiled.command)
    assert profiled.command == (*measured.command, "--profile", "{ranks}/profile.json", "--seconds", "0")


def test_programs_that_cannot_be_profiled_are_refused(catalog):
    with pytest.raises(RequestError, match="--profile: programs of numpy cannot be profiled"):
        expand(Selection(("local",), ("numpy",), ("lenet5",), profile=True), catalog)


def test_empty_axes_mean_what_recipe_case_and_hardware_offer_together(catalog):
    plan = expand(Selection(hardware=("bare",), frameworks=("varied",)), catalog)
    assert ids(plan) == [
        "bare_varied_tiny_fp32_bs4_1n1g",
        "bare_varied_tiny_fp32_bs4_1n2g",
        "bare_varied_tiny_fp32_bs8_1n1g",
        "bare_varied_tiny_fp32_bs8_1n2g",
        "bare_varied_tiny_amp_bs4_1n1g",
        "bare_varied_tiny_amp_bs4_1n2g",
    ]
    assert set(reasons(plan).values()) == {"out of memory"}


def test_the_machines_of_published_reports_are_planned_only_by_name(catalog):
    everything = expand(Selection(frameworks=("ngc-pytorch",), cases=("resnet50",)), catalog)
    assert not any(item.example for item in everything.configurations)
    named = expand(Selection(hardware=("perf-v100",), frameworks=("ngc-pytorch",), scales=("8",)), catalog)
    assert all(item.example for item in named.configurations)


def test_a_number_of_gpus_alone_means_one_node(catalog):
    one = expand(replace(VARIED, precisions=("fp32",), batch_sizes=(4,), scales=("2",)), catalog)
    same = expand(replace(VARIED, precisions=("fp32",), batch_sizes=(4,), scales=("1n2g",)), catalog)
    assert ids(one) == ids(same) == ["two-boxes_varied_tiny_fp32_bs4_1n2g"]


def test_a_campaign_runs_on_the_nodes_and_from_the_seed_that_are_named(catalog):
    one = {"precisions": ("fp32",), "batch_sizes": (4,), "scales": ("1n2g",)}
    named = launch(catalog, **one, nodes=("second",), first_seed=7)
    assert ([node.gpu_indices for node in named.nodes], named.first_seed) == ([(6, 7)], 7)
    assert [node.gpu_indices for node in launch(catalog, **one).nodes] == [(4, 5)]


def test_one_configuration_asked_for_twice_is_one(catalog):
    plan = expand(replace(VARIED, precisions=("fp32", "fp32"), batch_sizes=(4,), scales=("2", "1n2g")), catalog)
    assert len(plan.configurations) == 1


IMPOSSIBLE = [
    ({"precisions": ("bf16",)}, "varied offers tiny in fp32, amp, not in bf16"),
    ({"batch_sizes": (16,), "frameworks": ("with-mpirun",)}, "with-mpirun offers tiny with batch size 4, not 16"),
    ({"scales": ("3n2g",)}, "two-boxes has 2 node(s) with 2 GPU(s) each, 3n2g needs more"),
    ({"scales": ("4",)}, "two-boxes has 2 node(s) with 2 GPU(s) each, 1n4g needs more"),
    ({"frameworks": ("numpy",), "cases": ("lenet5",)}, "numpy computes on cpu, two-boxes is a gpu machine"),
    ({"hardware": ("local",)}, "varied computes on gpu, local is a cpu machine"),
    ({"cases": ("other",)}, "varied has no recipe for other (it has tiny)"),
    ({"precisions": ("amp",), "batch_sizes": (8,)}, "out of memory"),
    (
        {"hardware": ("perf-v100",), "frameworks": ("paddleclas",), "cases": ("resnet50",), "precisions": ("tf32",)},
        "perf-v100 computes in fp32, amp, fp16, fp16-pure, not in tf32",
    ),
    (
        {"hardware": ("h200",), "frameworks": ("plsc",), "cases": ("arcface",)},
        "h200 does not say where plsc lies (write `data: {plsc: /path}` in its entry)",
    ),
    (
        {"frameworks": ("in-docker",), "protocol": "perf-paddle"},
        "in-docker needs steps, but protocol perf-paddle measures to the end of the run",
    ),
]


@pytest.mark.parametrize(("axes", "reason"), IMPOSSIBLE, ids=[reason for _, reason in IMPOSSIBLE])
def test_what_was_asked_for_and_cannot_run_is_listed_with_its_reason(catalog, axes, reason):
    plan = expand(replace(VARIED, **axes), catalog)
    assert plan.configurations == ()
    assert set(reasons(plan).values()) == {reason}


WRONG = [
    ({"hardware": ("two-box",)}, "unknown hardware 'two-box': did you mean two-boxes?"),
    ({"frameworks": ("Varied",)}, "unknown framework 'Varied': did you mean varied?"),
    ({"cases": ("teeny",)}, "unknown case 'teeny': did you mean tiny?"),
    ({"precisions": ("bf61",)}, "unknown precision 'bf61': did you mean bf16?"),
    ({"protocol": "quik"}, "unknown protocol 'quik': did you mean quick?"),
    ({"scales": ("2n",)}, "GPUs: invalid scale '2n': write 2n8g for 2 nodes with 8 GPUs each, or 8 for 1n8g"),
    ({"scales": ("0",)}, "GPUs: invalid scale '0': write 2n8g for 2 nodes with 8 GPUs each, or 8 for 1n8g"),
    ({"nodes": ("third",)}, "unknown node of two-boxes 'third': known: first, second"),
    ({"hardware": ("cluster",), "nodes": ("a",)}, "--node a: the scheduler of cluster chooses the nodes"),
    ({"batch_sizes": (0,)}, "batch size 0: must be 1 or more"),
    ({"repeats": 0}, "repeats 0: must be 1 or more"),
    ({"repeats": 10**9}, "repeats 1000000000: must be 10000 or fewer"),
    ({"frameworks": (), "cases": ("other",)}, "nothing to run: no framework has a recipe for other"),
    (
        {"hardware": ("local",), "frameworks": (), "cases": ("tiny",)},
        "nothing to run: with hardware local, nothing that was selected goes together",
    ),
    (
        {"hardware": ("perf-v100",), "frameworks": ("jax",), "cases": ("llama3-8b",)},
        "nothing to run: perf-v100 computes in fp32, amp, fp16, fp16-pure, not in bf16",
    ),
    (
        {"hardware": ("local",), "frameworks": ("varied",), "cases": (), "axes": ("sequence_length=3",)},
        "nothing to run: nothing in the catalogue fits this selection: name case, too, to see why",
    ),
]


@pytest.mark.parametrize(("axes", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_selection_is_said_in_one_line(catalog, axes, message):
    with pytest.raises(RequestError) as caught:
        expand(replace(VARIED, **axes), catalog)
    assert str(caught.value) == message


def test_weights_that_fit_into_no_gpu_are_not_planned_unless_they_are_kept_elsewhere(catalog):
    machine = catalog.hardware["h200"].model_copy(update={"accelerator": "h100-sxm"})
    small = replace(catalog, hardware=catalog.hardware | {"h200": machine})
    selection = Selection(("h200",), ("torchtitan",), ("llama3-8b",), ("bf16", "fp8"), scales=("1", "2"))
    plan = expand(selection, small)
    assert {(item.configuration.gpus, item.configuration.precision) for item in plan.impossible} == {
        (1, "bf16"),
        (1, "fp8"),
    }
    assert "two states of the optimizer take 128 GB on each of 1 GPU(s), which have 80 GB" in str(
        plan.impossible[0].reason
    )
    stack = small.frameworks["torchtitan"]
    offloading = small.frameworks | {"torchtitan": stack.model_copy(update={"options": {"offload": True}})}
    assert not expand(selection, replace(small, frameworks=offloading)).impossible
    experts = expand(replace(selection, cases=("qwen3-30b-a3b-4l",), precisions=("bf16",)), small)
    assert not experts.impossible  # 50 of 86 GB


def test_later_variants_win_and_add_to_command_setup_and_options(catalog):
    (item,) = expand(replace(VARIED, precisions=("amp",), batch_sizes=(4,), scales=("2n2g",)), catalog).configurations
    assert item.launch.command[-2:] == ("--amp", "--wide")
    assert item.launch.launcher_options == ("--of-torchrun", "--more")
    assert item.launch.setup == (("first", "120"), ("second",))
    assert item.options == {"from_framework": True, "level": 3, "amp": "O1"}


def test_a_variant_that_names_a_launcher_leaves_the_other_launchers_options_behind(catalog):
    plain = launch(catalog, precisions=("fp32",), batch_sizes=(4,), scales=("1",))
    assert (plain.launcher, plain.launcher_options) == ("plain", ())


def test_the_machine_has_the_last_word_on_the_environment(catalog):
    amp = launch(catalog, precisions=("amp",), batch_sizes=(4,), scales=("2n2g",))
    assert amp.env == {"SHARED": "hardware", "FROM_FRAMEWORK": "1", "AMP": "4", "FROM_HARDWARE": "1"}


def test_placeholders_known_at_planning_are_filled(catalog):
    wide = launch(catalog, precisions=("fp32",), batch_sizes=(4,), scales=("2n2g",))
    assert wide.command == ("train.py", "fp32", "16", "8", "0,1", "192.0.2.1,192.0.2.2")


def test_nodes_show_the_gpus_that_the_scale_uses(catalog):
    wide = launch(catalog, precisions=("fp32",), batch_sizes=(4,), scales=("2n1g",))
    assert [(node.name, node.gpu_indices) for node in wide.nodes] == [("first", (4,)), ("second", (6,))]
    assert wide.nodes[0].host == "first.test"
    assert wide.nodes[0].address == "192.0.2.1"
    assert wide.expected_gpu == ("A100-SXM4-40GB",)


def test_a_data_set_is_named_by_its_path_in_the_container_where_it_is_mounted(catalog):
    docked = launch(catalog, frameworks=("in-docker",), scales=("1",))
    assert docked.command[1] == "--data=/corpus"
    assert docked.container is not None
    assert docked.container.mounts == {'/data, and "more"': "/corpus"}


def test_builds_and_the_runtime_of_a_container_get_the_variables_of_the_hardware_alone(catalog):
    docked = launch(catalog, frameworks=("in-docker",), scales=("1",))
    assert docked.runtime_env == ("FROM_HARDWARE", "SHARED")
    assert docked.machine_env == {"FROM_HARDWARE": docked.env["FROM_HARDWARE"], "SHARED": "hardware"}


def test_data_that_a_container_mounts_nowhere_has_the_same_path_in_it(catalog):
    framework = catalog.frameworks["in-docker"]
    bare = framework.model_copy(update={"container": replace(framework.container, mounts={})})
    mounted = launch(
        replace(catalog, frameworks={"in-docker": bare}), frameworks=("in-docker",), cases=("tiny",), scales=("1",)
    )
    assert mounted.command[1] == '--data=/data, and "more"'
    assert mounted.container is not None
    assert mounted.container.mounts == {'/data, and "more"': '/data, and "more"'}


def with_build(catalog, name, *lines, **recipe):
    """The catalogue with one framework, whose only recipe is changed."""
    framework = catalog.frameworks[name]
    changed = framework.recipes[0].model_copy(update=recipe)
    built = framework.model_copy(update={"build": lines, "recipes": (changed,)})
    return replace(catalog, frameworks={name: built})


def test_a_case_is_built_after_its_framework_in_the_same_folder(catalog):
    built = with_build(catalog, "with-jax", "make")
    tiny = catalog.cases["tiny"].model_copy(update={"build": ("make tiny",)})
    both = replace(built, cases={"tiny": tiny})
    assert launch(both, frameworks=("with-jax",), scales=("1",)).build == ("make", "make tiny")


def test_a_command_that_uses_a_build_which_nothing_makes_cannot_run(catalog):
    without = with_build(catalog, "with-jax", command=("{build}/train",))
    plan = expand(replace(VARIED, frameworks=("with-jax",), scales=("1",)), without)
    assert set(reasons(plan).values()) == {"with-jax uses {build}, but neither it nor tiny has `build:`"}


def test_a_launcher_that_starts_the_other_nodes_itself_does_not_wait_for_their_builds(catalog):
    built = with_build(catalog, "with-mpirun", "make")
    plan = expand(replace(VARIED, frameworks=("with-mpirun",), batch_sizes=(4,), scales=("1n2g", "2n2g")), built)
    assert [item.configuration.nodes for item in plan.configurations] == [1]
    assert set(reasons(plan).values()) == {"mpirun starts the other nodes before their builds have ended"}


def test_hardware_without_containers_runs_the_program_on_the_node_itself(catalog):
    direct = launch(catalog, hardware=("bare",), frameworks=("in-docker",), scales=("1",))
    assert direct.container is None
    assert direct.command[1] == "--data=/host/corpus"


def test_slurm_hardware_keeps_its_options_and_learns_the_number_of_nodes(catalog):
    queued = launch(catalog, hardware=("cluster",), precisions=("fp32",), batch_sizes=(4,), scales=("2n2g",))
    assert queued.executor == "slurm"
    assert queued.queue is not None
    assert (queued.queue["partition"], queued.queue["nodes"]) == ("gpu", 2)
    assert queued.command[-1] == "address0.dlperf.invalid,address1.dlperf.invalid"
    assert [(node.name, node.host) for node in queued.nodes] == [("node0", "login.test"), ("node1", "login.test")]


def test_protocol_and_repeats_come_from_the_case_unless_given(catalog):
    axes = {"precisions": ("fp32",), "batch_sizes": (4,), "scales": ("1",)}
    (own,) = expand(replace(VARIED, **axes), catalog).configurations
    (quick,) = expand(replace(VARIED, protocol="quick", repeats=9, **axes), catalog).configurations
    assert (own.protocol.id, own.repeats) == ("dlperf", catalog.protocols["dlperf"].repeats)
    assert (quick.protocol.id, quick.repeats) == ("quick", 9)
    assert quick.launch.setup == (("first", "30"),)


def test_a_planned_configuration_carries_what_measuring_and_reporting_need(catalog):
    selection = Selection(("perf-a100",), ("paddleclas",), ("resnet50",), ("amp",), (256,), ("8",))
    (item,) = expand(selection, catalog).configurations
    assert (item.format, item.unit, item.gflops_per_sample) == ("paddleclas", "images/s", 24.5)
    assert item.accelerator is not None
    assert item.accelerator.peak_tflops["amp"] == 312
    assert item.facts["driver"] == "525.60.13"
    assert item.facts["commit"] == "5bb2e8c339cad16136e310d5c5a0285f20383470"
    assert item.options == {"dali": True, "synthetic_data": False, "amp_level": "O2"}


def test_planning_loads_neither_yaml_nor_pydantic():
    code = "import sys, dlperf.plan; sys.exit(bool({'yaml', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_planned_configuration_carries_the_numerics_of_its_precision_and_recipe(catalog):
    def numerics(framework: str, precision: str) -> dict[str, str]:
        (item,) = expand(
            Selection(("h200",), (framework,), ("resnet50",), (precision,), (128,), ("1",)), catalog
        ).configurations
        return item.numerics

    assert numerics("pytorch", "bf16") == numerics("jax", "bf16")
    assert (numerics("pytorch", "bf16")["weights"], numerics("pytorch", "bf16-pure")["weights"]) == ("fp32", "bf16")
    assert (numerics("jax", "fp16")["gradients"], numerics("mxnet", "fp16")["gradients"]) == ("fp32", "fp16")


def test_a_precision_has_the_peak_of_its_matrix_products(catalog):
    selection = Selection(("h200",), ("pytorch",), ("resnet50",), ("bf16-pure",), (128,), ("1",))
    (item,) = expand(selection, catalog).configurations
    assert item.accelerator is not None
    assert item.accelerator.peak_tflops["bf16-pure"] == item.accelerator.peak_tflops["bf16"]


def test_a_precision_of_a_workspace_can_be_planned(tmp_path):
    (tmp_path / "precisions.yaml").write_text("- {id: int4, title: INT4, cpu: true, numerics: {compute: int4}}\n")
    assert load_catalog(tmp_path).precisions["int4"].numerics.compute == "int4"


def test_a_format_whose_unit_cannot_become_that_of_the_case_is_refused_unless_the_plan_states_the_length() -> None:
    catalog = load_catalog()
    chosen = Selection(("local",), ("numpy",), ("lenet5",), ("fp32",), (64,), ("1n1g",), protocol="dlperf-v1")
    framework, case = catalog.frameworks["numpy"], catalog.cases["lenet5"]
    frameworks = {"numpy": framework.model_copy(update={"format": "megatron"})}
    formats = {"megatron": catalog.formats["megatron"].model_copy(update={"metadata": {}})}
    tokens = case.model_copy(update={"unit": "tokens/s"})
    long = tokens.model_copy(update={"axes": {"sequence_length": Axis(values=(64,))}})

    def plan(changed: Case) -> Plan:
        return expand(chosen, replace(catalog, frameworks=frameworks, formats=formats, cases={"lenet5": changed}))

    (refused,) = plan(tokens).impossible
    assert refused.reason.code == "format_of_other_unit"
    assert str(refused.reason).startswith(
        "logs of the format megatron count samples/s, lenet5 is measured in tokens/s:"
    )
    assert [len(plan(item).configurations) for item in (case, long)] == [1, 1]
