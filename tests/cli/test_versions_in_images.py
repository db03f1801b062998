"""The search for the image that made a program slower."""

from __future__ import annotations

from versioned_program import SCRIPT, WORDS, program_entry

from podman_lab import IMAGE, podman, podman_store

__all__ = ["podman", "podman_store"]


def test_the_first_worse_image_is_found_by_the_dates_of_the_tags(counting, podman):
    program_entry(counting, f"container: {{image: {IMAGE}, runtime: podman}}", "{batch_size}")
    (counting.workspace.catalog / "workloads" / "count.sh").write_text(SCRIPT.replace("SLOWER", "$SLOWER"))
    for day, slower in ((1, 1), (2, 2), (3, 2)):
        podman.build(f"localhost/dated:2026-06-0{day}", f"FROM {IMAGE}\nENV SLOWER={slower}\n")
    ends = ("image:localhost/dated:2026-06-01", "image:localhost/dated:2026-06-03")
    done = counting.dlperf("bisect", *ends, *WORDS, "--yes")
    assert done.stdout == "localhost/dated:2026-06-02\n"
    assert "2026-06-03 against 2026-06-01: worse: -50.00 %" in done.stderr
    done = counting.dlperf("ab", "--a", ends[0], "--b", "HEAD", *WORDS, code=2)
    assert "select one program whose recipe has a `workdir`" in done.stderr
