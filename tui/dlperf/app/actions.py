"""Every action of the screens: its key, its words and where it works. Key bars, help and palette read this table."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True)
class Action:
    """Something that a key, a click and the palette can do."""

    id: str
    """The method ``action_<id>`` of the screen, or of the app."""
    key: str
    text: str
    """One or two words, for the key bar."""
    help: str
    """What it does, for the help and the palette."""
    parameter: str = ""
    in_bar: bool = True

    @property
    def call(self) -> str:
        """The action as Textual writes it."""
        return f"{self.id}({self.parameter!r})" if self.parameter else self.id

    @property
    def shown_key(self) -> str:
        """The key as the keyboard writes it."""
        key = self.key.split(",")[0]
        return SHOWN_KEYS.get(key, key)


SHOWN_KEYS = {
    "slash": "/",
    "ampersand": "&",
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "space": "space",
    "apostrophe": "'",
}

EVERYWHERE = (
    Action("show_screen", "1", "Campaigns", "Show the campaigns of this workspace", "campaigns", in_bar=False),
    Action("show_screen", "2", "Choose", "Choose what to measure, and start it", "choose", in_bar=False),
    Action("show_screen", "3", "Watch", "Watch a campaign: trials, logs, machines", "watch", in_bar=False),
    Action("show_screen", "4", "Results", "Compare figures, measured and published", "results", in_bar=False),
    Action("show_screen", "5", "Publish", "Build the web site and open it", "publish", in_bar=False),
    Action("command_palette", "colon,ctrl+p", "Commands", "Every command of this screen, also by typing"),
    Action("switch_theme", "T", "Theme", "Change between dark and light", in_bar=False),
    Action("switch_language", "L", "Language", "Change between English and Chinese", in_bar=False),
    Action("help", "question_mark,f1", "Help", "Show every key of this screen"),
    Action("suspend_process", "ctrl+z", "To the shell", "Back to the shell for a while: fg returns", in_bar=False),
    Action("leave", "q,ctrl+q", "Quit", "Leave this window; what runs goes on"),
)

LOG_ACTIONS = (
    Action("follow", "f", "Follow", "Follow the end of the log, or stop there"),
    Action("match_lines", "ampersand", "Only matches", "Show only the lines that match a regular expression"),
    Action("first_error", "e", "First error", "Jump to the first error in the log"),
    Action("next_match", "n", "Next", "Jump to the next match", in_bar=False),
    Action("previous_match", "N", "Previous", "Jump to the previous match", in_bar=False),
    Action(
        "previous_stream",
        "left_square_bracket",
        "Previous log",
        "Show the log of the node or rank before",
        in_bar=False,
    ),
    Action("next_stream", "right_square_bracket", "Next log", "Show the log of the next node or rank"),
    Action("wrap", "w", "Wrap", "Wrap long lines, or cut them", in_bar=False),
    Action("copy_line", "y", "Copy", "Copy the marked line, or all that is in view", in_bar=False),
    Action("copy_path", "Y", "Copy path", "Copy the path of the log file", in_bar=False),
)

ACTIONS: dict[str, tuple[Action, ...]] = {
    "campaigns": (
        Action("watch_selected", "w", "Watch", "Watch the selected campaign, running or finished"),
        Action("resume", "R", "Resume", "Start the engine again where it stopped"),
        Action("find", "slash", "Filter", "Show only campaigns whose name holds what is typed"),
        Action("escape", "escape", "Back", "Clear the filter", in_bar=False),
    ),
    "choose": (
        Action("start", "s", "Start", "Start the plan, after asking"),
        Action("check", "c", "Check machines", "Ask every chosen machine whether it is ready"),
        Action("script", "v", "Script", "Show the exact script of the selected configuration"),
        Action("presets", "p", "Presets", "Mark a whole report, or what the last campaign ran"),
        Action("find", "slash", "Filter", "Show only entries that hold what is typed"),
        Action("fewer_repeats", "minus", "Fewer repeats", "Run each configuration once less", in_bar=False),
        Action("more_repeats", "plus", "More repeats", "Run each configuration once more", in_bar=False),
        Action("clear", "X", "Clear", "Unmark everything"),
        Action("copy_command", "y", "Copy command", "Copy the command line that starts the same plan", in_bar=False),
        Action("escape", "escape", "Back", "Clear the filter", in_bar=False),
    ),
    "watch": (
        Action("open_trial", "o", "Open", "Open the selected trial: curve, environment, command, findings, log"),
        Action("cancel_trial", "x", "Cancel", "Cancel the selected trial, after asking"),
        Action("cancel_campaign", "X", "Cancel all", "Cancel every trial of the campaign, after asking", in_bar=False),
        Action("retry", "r", "Retry", "Run the selected trial again, as a new trial"),
        Action("pause", "p", "Pause", "Start no new trial, or start them again"),
        Action("resume", "R", "Resume", "Start the engine again where it stopped"),
        Action("find", "slash", "Filter or find", "Filter the trials, or find in the log that has the focus"),
        Action("fold", "space", "Fold", "Fold or unfold the trials of a configuration", in_bar=False),
        Action("maximize_log", "m", "Zoom", "Give the log the whole screen, or take it back", in_bar=False),
        *LOG_ACTIONS,
        Action("escape", "escape", "Back", "Clear filter and search", in_bar=False),
    ),
    "trial": (
        Action("escape", "escape", "Back", "Go back to the campaign"),
        Action("next_tab", "tab", "Next page", "Curve, findings, environment, command, log"),
        Action("previous_tab", "shift+tab", "Page before", "Curve, findings, environment, command, log", in_bar=False),
        Action("measured_lines", "m", "Lines of the figure", "Show the log lines that gave the figure"),
        Action("find", "slash", "Find", "Find in the log"),
        *LOG_ACTIONS,
    ),
    "results": (
        Action("open_result", "o", "Open", "Show all that is known of the selected figure: trials, findings, source"),
        Action("sort", "s", "Sort", "Sort by the next column"),
        Action("reverse", "S", "Reverse", "Turn the order round", in_bar=False),
        Action("find", "slash", "Filter", "Show only rows that hold all the words typed"),
        Action("compare", "c", "Compare", "Compare the campaign of the selected figure with another one, or end that"),
        Action("published", "p", "Published", "Show or hide the figures of published reports"),
        Action("reload", "ctrl+r", "Reload", "Read the results again", in_bar=False),
        Action("copy_row", "y", "Copy", "Copy the selected row", in_bar=False),
        Action("escape", "escape", "Back", "Clear filter and comparison", in_bar=False),
    ),
    "publish": (
        Action("build", "b", "Build", "Build the web site from the results"),
        Action("serve", "s", "Serve", "Serve the site on this machine, or stop serving"),
        Action("open_site", "o", "Open", "Open the site in a browser"),
        Action("copy_path", "y", "Copy path", "Copy the path of the site's first page", in_bar=False),
    ),
}
"""Actions by screen; a letter means one thing on a screen, wherever the focus is."""


def actions_of(place: str) -> tuple[Action, ...]:
    """The actions that work on a screen: its own, then those that work everywhere."""
    return ACTIONS.get(place, ()) + EVERYWHERE


def bindings_of(place: str) -> list[BindingType]:
    """The bindings of a screen's own actions, or of the app's (``everywhere``)."""
    actions = EVERYWHERE if place == "everywhere" else ACTIONS[place]
    return [
        Binding(item.key, item.call, item.text, id=f"{place}.{item.id}{item.parameter}", show=item.in_bar)
        for item in actions
    ]
