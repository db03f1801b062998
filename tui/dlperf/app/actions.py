"""Every action of the screens: its key, its words and where it works. Key bars, help and palette read this table."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType

from dlperf.messages import N_


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
    Action("show_screen", "1", N_("Campaigns"), N_("Show the campaigns of this workspace"), "campaigns", in_bar=False),
    Action("show_screen", "2", N_("Choose"), N_("Choose what to measure, and start it"), "choose", in_bar=False),
    Action("show_screen", "3", N_("Watch"), N_("Watch a campaign: trials, logs, machines"), "watch", in_bar=False),
    Action("show_screen", "4", N_("Results"), N_("Compare figures, measured and published"), "results", in_bar=False),
    Action("show_screen", "5", N_("Publish"), N_("Build the web site and open it"), "publish", in_bar=False),
    Action("command_palette", "colon,ctrl+p", N_("Commands"), N_("Every command of this screen, also by typing")),
    Action("switch_theme", "T", N_("Theme"), N_("Change between dark and light"), in_bar=False),
    Action("switch_language", "L", N_("Language"), N_("Change between English and Chinese"), in_bar=False),
    Action("help", "question_mark,f1", N_("Help"), N_("Show every key of this screen")),
    Action(
        "suspend_process", "ctrl+z", N_("To the shell"), N_("Back to the shell for a while: fg returns"), in_bar=False
    ),
    Action("leave", "q,ctrl+q", N_("Quit"), N_("Leave this window; what runs goes on")),
)

LOG_ACTIONS = (
    Action("follow", "f", N_("Follow"), N_("Follow the end of the log, or stop there")),
    Action("match_lines", "ampersand", N_("Only matches"), N_("Show only the lines that match a regular expression")),
    Action("first_error", "e", N_("First error"), N_("Jump to the first error in the log")),
    Action("next_match", "n", N_("Next"), N_("Jump to the next match"), in_bar=False),
    Action("previous_match", "N", N_("Previous"), N_("Jump to the previous match"), in_bar=False),
    Action(
        "previous_stream",
        "left_square_bracket",
        N_("Previous log"),
        N_("Show the log of the node or rank before"),
        in_bar=False,
    ),
    Action("next_stream", "right_square_bracket", N_("Next log"), N_("Show the log of the next node or rank")),
    Action("wrap", "w", N_("Wrap"), N_("Wrap long lines, or cut them"), in_bar=False),
    Action("copy_line", "y", N_("Copy"), N_("Copy the marked line, or all that is in view"), in_bar=False),
    Action("copy_path", "Y", N_("Copy path"), N_("Copy the path of the log file"), in_bar=False),
)

ACTIONS: dict[str, tuple[Action, ...]] = {
    "campaigns": (
        Action("watch_selected", "w", N_("Watch"), N_("Watch the selected campaign, running or finished")),
        Action("resume", "R", N_("Resume"), N_("Start the engine again where it stopped")),
        Action("find", "slash", N_("Filter"), N_("Show only campaigns whose name holds what is typed")),
        Action("escape", "escape", N_("Back"), N_("Clear the filter"), in_bar=False),
    ),
    "choose": (
        Action("start", "s", N_("Start"), N_("Start the plan, after asking")),
        Action("check", "c", N_("Check machines"), N_("Ask every chosen machine whether it is ready")),
        Action("script", "v", N_("Script"), N_("Show the exact script of the selected configuration")),
        Action("presets", "p", N_("Presets"), N_("Mark a whole report, or what the last campaign ran")),
        Action("find", "slash", N_("Filter"), N_("Show only entries that hold what is typed")),
        Action("fewer_repeats", "minus", N_("Fewer repeats"), N_("Run each configuration once less"), in_bar=False),
        Action("more_repeats", "plus", N_("More repeats"), N_("Run each configuration once more"), in_bar=False),
        Action("clear", "X", N_("Clear"), N_("Unmark everything")),
        Action(
            "copy_command", "y", N_("Copy command"), N_("Copy the command line that starts the same plan"), in_bar=False
        ),
        Action("escape", "escape", N_("Back"), N_("Clear the filter"), in_bar=False),
    ),
    "watch": (
        Action(
            "open_trial", "o", N_("Open"), N_("Open the selected trial: curve, environment, command, findings, log")
        ),
        Action("cancel_trial", "x", N_("Cancel"), N_("Cancel the selected trial, after asking")),
        Action(
            "cancel_campaign",
            "X",
            N_("Cancel all"),
            N_("Cancel every trial of the campaign, after asking"),
            in_bar=False,
        ),
        Action("retry", "r", N_("Retry"), N_("Run the selected trial again, as a new trial")),
        Action("pause", "p", N_("Pause"), N_("Start no new trial, or start them again")),
        Action("resume", "R", N_("Resume"), N_("Start the engine again where it stopped")),
        Action("find", "slash", N_("Filter or find"), N_("Filter the trials, or find in the log that has the focus")),
        Action("fold", "space", N_("Fold"), N_("Fold or unfold the trials of a configuration"), in_bar=False),
        Action("maximize_log", "m", N_("Zoom"), N_("Give the log the whole screen, or take it back"), in_bar=False),
        *LOG_ACTIONS,
        Action("escape", "escape", N_("Back"), N_("Clear filter and search"), in_bar=False),
    ),
    "trial": (
        Action("escape", "escape", N_("Back"), N_("Go back to the campaign")),
        Action("next_tab", "tab", N_("Next page"), N_("Curve, findings, environment, command, log")),
        Action(
            "previous_tab",
            "shift+tab",
            N_("Page before"),
            N_("Curve, findings, environment, command, log"),
            in_bar=False,
        ),
        Action("measured_lines", "m", N_("Lines of the figure"), N_("Show the log lines that gave the figure")),
        Action("find", "slash", N_("Find"), N_("Find in the log")),
        *LOG_ACTIONS,
    ),
    "results": (
        Action(
            "open_result",
            "o",
            N_("Open"),
            N_("Show all that is known of the selected figure: trials, findings, source"),
        ),
        Action("sort", "s", N_("Sort"), N_("Sort by the next column")),
        Action("reverse", "S", N_("Reverse"), N_("Turn the order round"), in_bar=False),
        Action("find", "slash", N_("Filter"), N_("Show only rows that hold all the words typed")),
        Action(
            "compare",
            "c",
            N_("Compare"),
            N_("Compare the campaign of the selected figure with another one, or end that"),
        ),
        Action("published", "p", N_("Published"), N_("Show or hide the figures of published reports")),
        Action("reload", "ctrl+r", N_("Reload"), N_("Read the results again"), in_bar=False),
        Action("copy_row", "y", N_("Copy"), N_("Copy the selected row"), in_bar=False),
        Action("escape", "escape", N_("Back"), N_("Clear filter and comparison"), in_bar=False),
    ),
    "publish": (
        Action("build", "b", N_("Build"), N_("Build the web site from the results")),
        Action("serve", "s", N_("Serve"), N_("Serve the site on this machine, or stop serving")),
        Action("open_site", "o", N_("Open"), N_("Open the site in a browser")),
        Action("copy_path", "y", N_("Copy path"), N_("Copy the path of the site's first page"), in_bar=False),
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
