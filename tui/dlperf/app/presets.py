"""Presets that users save: ``presets.json``, which holds options of ``dlperf run`` by name."""

import json

from dlperf.app.model.choice import Choice, Preset
from dlperf.errors import RequestError
from dlperf.opening import read_bytes
from dlperf.runs.bounded import load_json
from dlperf.runs.paths import WorkspacePaths


def saved_presets(workspace: WorkspacePaths) -> list[Preset]:
    """Return the presets of a workspace in the order of saving. Raises RequestError: the file is damaged."""
    if not workspace.presets.exists():
        return []
    try:
        found = load_json(read_bytes(workspace.presets))
        saved = [Preset(name, str(options), str(options)) for name, options in found.items()]
        for preset in saved:
            preset.applied(Choice())
    except (OSError, ValueError, AttributeError) as error:
        what = "it holds names with options of `dlperf run`, as text"
        raise RequestError(f"{workspace.presets}: {what} ({error}): correct it or delete it") from error
    return saved


def save_preset(workspace: WorkspacePaths, name: str, options: str) -> None:
    """Add a preset, or replace the one of that name. Raises DlperfError: the file is damaged, or cannot be written."""
    _write(workspace, {preset.name: preset.options for preset in saved_presets(workspace)} | {name: options})


def delete_preset(workspace: WorkspacePaths, name: str) -> None:
    """Forget a preset; see ``save_preset`` for errors."""
    _write(workspace, {item.name: item.options for item in saved_presets(workspace) if item.name != name})


def _write(workspace: WorkspacePaths, presets: dict[str, str]) -> None:
    from dlperf.runs.store import write_atomic

    write_atomic(workspace.presets, json.dumps(presets, ensure_ascii=False, indent=2).encode() + b"\n")
