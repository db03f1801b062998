"""Every action of the screens and their parts: the source of key bars, help, palette and bindings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual.binding import Binding, BindingType
from textual.keys import key_to_character

from dlperf.messages import N_


@dataclass(frozen=True)
class Action:
    """A command with its key and its texts."""

    id: str
    """Names the method ``action_<id>`` of the screen, or of the app."""
    key: str
    text: str
    """One or two words, for the key bar."""
    help: str
    parameter: str | float = ""
    in_bar: bool = True

    @property
    def call(self) -> str:
        return f"{self.id}({self.parameter!r})" if self.parameter else self.id

    @property
    def shown_key(self) -> str:
        return _shown(self.key.split(",")[0])

    @property
    def shown_keys(self) -> str:
        return " ".join(map(_shown, self.key.split(",")))


def _shown(key: str) -> str:
    return SHOWN_KEYS.get(key) or character_of(key) or key


SHOWN_KEYS = {
    **{"escape": "esc", "space": "space", "tab": "tab", "up": "↑", "down": "↓", "left": "←", "right": "→"},
    **{"pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End"},
}
CHARACTERS = {"plus": "+", "minus": "-", "slash": "/", "at": "@", "backslash": "\\", "underscore": "_"}
"""Of keys whose names are not those of Unicode, so that Textual's ``key_to_character`` does not know them."""


def character_of(key: str) -> str | None:
    """Return what a key types, by the name that Textual gives it; None for those that type nothing."""
    return CHARACTERS.get(key) or key_to_character(key)


_unlisted = partial(Action, in_bar=False)

EVERYWHERE = (
    _unlisted("show_screen", "1", N_("Campaigns"), N_("Show the campaigns of this workspace"), "campaigns"),
    _unlisted("show_screen", "2", N_("Choose"), N_("Choose what to measure, and start it"), "choose"),
    _unlisted("show_screen", "3", N_("Watch"), N_("Watch a campaign: trials, logs, machines"), "watch"),
    _unlisted("show_screen", "4", N_("Results"), N_("Compare figures, measured and published"), "results"),
    _unlisted("show_screen", "5", N_("Publish"), N_("Build the web site and open it"), "publish"),
    _unlisted("show_screen", "6", N_("Machines"), N_("Show the machines: who uses them, what they do now"), "machines"),
    Action("command_palette", "colon,ctrl+p", N_("Commands"), N_("Every command of this screen, also by typing")),
    _unlisted("jump", "ctrl+o", N_("Jump"), N_("Go to a pane, or sort by a column, by the letter that appears there")),
    _unlisted("zoom", "z", N_("Zoom"), N_("Give the pane with the focus the whole screen, or take it back")),
    _unlisted("switch_theme", "T", N_("Theme"), N_("Change between dark and light")),
    _unlisted("switch_language", "L", N_("Language"), N_("Change between English and Chinese")),
    Action("help", "question_mark,f1", N_("Help"), N_("Show every key of this screen")),
    _unlisted("suspend_process", "ctrl+z", N_("To the shell"), N_("Back to the shell for a while: fg returns")),
    Action("leave", "q,ctrl+q", N_("Quit"), N_("Leave this window; what runs goes on")),
)

SORT_ACTIONS = (
    Action("sort", "s", N_("Sort"), N_("Sort by the next column")),
    _unlisted("reverse", "S", N_("Reverse"), N_("Turn the order round")),
)
LOG_ACTIONS = (
    Action("follow", "f", N_("Follow"), N_("Follow the end of the log, or stop there")),
    Action("match_lines", "ampersand", N_("Only matches"), N_("Show only the lines that match a regular expression")),
    Action("first_error", "e", N_("First error"), N_("Jump to the first error in the log")),
    _unlisted("find_again", "n", N_("Next"), N_("Jump to the next match"), 1),
    _unlisted("find_again", "N", N_("Previous"), N_("Jump to the previous match"), -1),
    _unlisted("turn", "left_square_bracket", N_("Previous log"), N_("Show the log of the node or rank before"), -1),
    Action("turn", "right_square_bracket", N_("Next log"), N_("Show the log of the next node or rank"), 1),
    _unlisted("wrap", "w", N_("Wrap"), N_("Wrap long lines, or cut them")),
    _unlisted("copy_line", "y", N_("Copy"), N_("Copy the marked line, or all that is in view")),
    _unlisted("copy_path", "Y", N_("Copy path"), N_("Copy the path of the log file")),
    _unlisted("page_log", "v", N_("Pager"), N_("Read the log in $PAGER")),
    _unlisted("log_in", "i", N_("Log in"), N_("Log in to the node of the log by ssh")),
)

ACTIONS: dict[str, tuple[Action, ...]] = {
    "campaigns": (
        Action("watch_selected", "w", N_("Watch"), N_("Watch the selected campaign, running or finished")),
        Action("resume", "R", N_("Resume"), N_("Start the engine again where it stopped")),
        Action("repeat", "r", N_("Repeat"), N_("Choose what the selected campaign ran, to run it again")),
        Action("find", "slash", N_("Filter"), N_("Show only campaigns that hold all the words typed")),
        _unlisted("rename", "n", N_("Rename"), N_("Rename the selected campaign")),
        _unlisted("tag", "t", N_("Tag"), N_("Tag the selected campaign; / finds tags")),
        _unlisted("remove", "D", N_("Remove"), N_("Move the selected campaign to the trash, after asking")),
        _unlisted("undo", "u", N_("Undo"), N_("Take back the last renaming, tagging, removing or restoring")),
        _unlisted("trash", "U", N_("Trash"), N_("List the campaigns that were removed, and restore one")),
        *SORT_ACTIONS,
        _unlisted("escape", "escape", N_("Back"), N_("Clear the filter")),
    ),
    "choose": (
        Action("start", "s", N_("Start"), N_("Start the plan, after asking")),
        Action("check", "c", N_("Check machines"), N_("Ask every chosen machine whether it is ready")),
        Action("script", "v", N_("Script"), N_("Show the exact script of the selected configuration")),
        Action("presets", "p", N_("Presets"), N_("Mark what you saved, a whole report, or what the last campaign ran")),
        Action("repeat", "r", N_("Repeat"), N_("Mark what the last campaign ran")),
        _unlisted("save_preset", "P", N_("Save preset"), N_("Save the marks as a preset")),
        _unlisted("mark", "space", N_("Mark"), N_("Mark the selected entry, or take its mark away")),
        _unlisted("next_part", "tab,right", N_("Next list"), N_("Go to the next list, or to the plan"), 1),
        _unlisted("next_part", "shift+tab,left", N_("List before"), N_("Go to the list before"), -1),
        _unlisted("name", "n", N_("Name"), N_("Name the campaign")),
        _unlisted("protocol", "o", N_("Protocol"), N_("Choose the protocol")),
        Action("find", "slash", N_("Filter"), N_("Show only entries that hold what is typed")),
        _unlisted("edit", "E", N_("Edit"), N_("Edit the files of the catalogue in $EDITOR")),
        Action("add_value", "a", N_("Add value"), N_("Mark a value that the list does not offer: type it")),
        _unlisted("set_repeats", "equals_sign", N_("Repeats"), N_("Type how often each configuration runs")),
        _unlisted("add_repeats", "minus", N_("Fewer repeats"), N_("Run each configuration once less"), -1),
        _unlisted("add_repeats", "plus", N_("More repeats"), N_("Run each configuration once more"), 1),
        Action("clear", "X", N_("Clear"), N_("Unmark everything")),
        _unlisted("copy_command", "y", N_("Copy command"), N_("Copy the command line that starts the same plan")),
        _unlisted("escape", "escape", N_("Back"), N_("Clear the filter")),
    ),
    "watch": (
        Action(
            "open_trial", "o", N_("Open"), N_("Open the selected trial: curve, environment, command, findings, log")
        ),
        Action("cancel_trial", "x", N_("Cancel"), N_("Cancel the selected trial or configuration, after asking")),
        _unlisted("cancel_campaign", "X", N_("Cancel all"), N_("Cancel every trial of the campaign, after asking")),
        Action("retry", "r", N_("Retry"), N_("Run the selected trial again; of a configuration, all that failed")),
        Action("pause", "p", N_("Pause"), N_("Start no new trial")),
        Action("unpause", "p", N_("Go on"), N_("End the pause: start trials again")),
        Action("resume", "R", N_("Resume"), N_("Start the engine again where it stopped")),
        Action("find", "slash", N_("Filter or find"), N_("Filter the trials, or find in the log that has the focus")),
        _unlisted("fold", "space", N_("Fold"), N_("Fold or unfold the trials of a configuration")),
        Action("events", "E", N_("Events"), N_("List what happened: trials, nodes, pauses, requests")),
        _unlisted(
            "history", "H", N_("Machines"), N_("Show utilization, power, clock and memory of each GPU over time")
        ),
        _unlisted("fold_all", "O", N_("Fold all"), N_("Fold every configuration, or unfold them")),
        _unlisted("failed_only", "exclamation_mark", N_("Failed only"), N_("Show only trials that failed, or all")),
        Action("follow_running", "F", N_("Follow running"), N_("Keep the cursor on the running trial, or stop that")),
        _unlisted("maximize_log", "m", N_("Zoom the log"), N_("Give the log the whole screen, or take it back")),
        _unlisted(
            "split_logs",
            "vertical_line",
            N_("Side by side"),
            N_("Show the logs of other nodes and running trials beside this one, or end that"),
        ),
        _unlisted("rank", "s", N_("Rank"), N_("Sort the configurations: the best first, or as planned")),
        *LOG_ACTIONS,
        _unlisted("escape", "escape", N_("Back"), N_("Clear filter and search, or go back to the campaigns")),
    ),
    "trial": (
        Action("escape", "escape", N_("Back"), N_("Clear the search, or go back to where the trial was opened")),
        Action("turn_page", "tab", N_("Next page"), N_("Curve, findings, environment, command, log"), 1),
        _unlisted("turn_page", "shift+tab", N_("Page before"), N_("The page before"), -1),
        Action("show_trial", "greater_than_sign", N_("Next trial"), N_("Show the next trial of the configuration"), 1),
        _unlisted("show_trial", "less_than_sign", N_("Trial before"), N_("Show the trial before"), -1),
        Action("compare", "c", N_("Compare"), N_("Set another trial beside this one, with what differs between them")),
        Action(
            "overlay", "a", N_("All trials"), N_("Draw the other trials of the configuration behind the curve, or not")
        ),
        _unlisted("repeat", "r", N_("Repeat"), N_("Choose what the trial ran, to run it again with a change")),
        Action("plot_with", "p", N_("Plot with"), N_("Draw the curve of another trial into the same plot")),
        _unlisted("zoom_curve", "plus", N_("Zoom in"), N_("Show half of the steps of the curve"), 0.5),
        _unlisted("zoom_curve", "minus", N_("Zoom out"), N_("Show twice the steps of the curve"), 2.0),
        _unlisted("pan_curve", "comma", N_("Steps before"), N_("Move a zoomed curve to earlier steps"), -0.5),
        _unlisted("pan_curve", "full_stop", N_("Steps after"), N_("Move a zoomed curve to later steps"), 0.5),
        Action("measured_lines", "m", N_("Lines of the figure"), N_("Show the log lines that gave the figure")),
        Action("find", "slash", N_("Find"), N_("Find in the log")),
        *LOG_ACTIONS,
    ),
    "results": (
        Action("open_trials", "enter", N_("Trial"), N_("Open the trial that gave the figure: curve, log lines")),
        Action(
            "open_result",
            "o",
            N_("Details"),
            N_("Show all that is known of the selected figure: trials, findings, source"),
        ),
        *SORT_ACTIONS,
        Action("find", "slash", N_("Filter"), N_("Show only rows that hold all the words typed")),
        Action(
            "compare",
            "c",
            N_("Compare"),
            N_(
                "Compare the campaign of the selected figure with another one, or end that; marked figures side by side"
            ),
        ),
        Action(
            "repeat", "r", N_("Repeat"), N_("Choose what the marked figures ran, or the selected one, to run it again")
        ),
        _unlisted("mark", "space", N_("Mark"), N_("Mark the figure, to compare, repeat or copy several")),
        _unlisted("swap", "b", N_("Swap baseline"), N_("Make the other campaign of a comparison the baseline")),
        Action("published", "p", N_("Published"), N_("Show or hide the figures of published reports")),
        _unlisted("reload", "ctrl+r", N_("Reload"), N_("Read the results again")),
        _unlisted("copy_row", "y", N_("Copy"), N_("Copy the selected row")),
        _unlisted(
            "copy_table",
            "M",
            N_("Copy Markdown"),
            N_("Copy the marked rows, or all shown, as a Markdown table"),
            "markdown",
        ),
        _unlisted("copy_table", "V", N_("Copy CSV"), N_("Copy the marked rows, or all shown, as CSV"), "csv"),
        _unlisted("escape", "escape", N_("Back"), N_("Leave the comparison, or clear filter and marks")),
    ),
    "machines": (
        Action("ran_there", "enter", N_("What ran"), N_("List the campaigns that ran on the selected machine")),
        Action("check", "c", N_("Check"), N_("Ask the selected machine whether it is ready")),
        Action("diagnose", "d", N_("Diagnose"), N_("Measure compute, memory, all-reduce and disk, after asking")),
        Action("log_in", "i", N_("Log in"), N_("Log in to the selected machine by ssh")),
        Action("add_machine", "n", N_("Add machine"), N_("Add a machine: host, user, GPUs")),
        Action("edit", "E", N_("Edit"), N_("Edit the file of the selected entry in $EDITOR, at its line")),
        Action("find", "slash", N_("Filter"), N_("Show only machines that hold all the words typed")),
        *SORT_ACTIONS,
        _unlisted("escape", "escape", N_("Back"), N_("Clear the filter")),
    ),
    "form": (
        _unlisted("close", "escape", N_("Back"), N_("Close the form: nothing is written")),
        _unlisted("ask", "ctrl+g", N_("Ask"), N_("Ask the machine for its GPUs")),
        _unlisted("add", "ctrl+s", N_("Add"), N_("Add what is in the form")),
    ),
    "table": (
        _unlisted("move", "up,k", N_("Up"), N_("Go to the row above"), -1),
        _unlisted("move", "down,j", N_("Down"), N_("Go to the row below"), 1),
        _unlisted("page", "pageup", N_("Page up"), N_("Go a page up"), -1),
        _unlisted("page", "pagedown", N_("Page down"), N_("Go a page down"), 1),
        _unlisted("first", "home,g", N_("First"), N_("Go to the first row")),
        _unlisted("last", "end,G", N_("Last"), N_("Go to the last row")),
        _unlisted("choose", "enter", N_("Choose"), N_("Open or mark what is selected")),
    ),
    "log": (
        _unlisted("scroll_rows", "up,k", N_("Up"), N_("Go a line up"), -1),
        _unlisted("scroll_rows", "down,j", N_("Down"), N_("Go a line down"), 1),
        _unlisted("scroll_pages", "pageup,ctrl+u,b", N_("Page up"), N_("Go a page up"), -1),
        _unlisted("scroll_pages", "pagedown,ctrl+d", N_("Page down"), N_("Go a page down"), 1),
        _unlisted("start", "home,g", N_("Start"), N_("Go to the start of the log")),
        _unlisted("end", "end,G", N_("End"), N_("Go to the end of the log, and follow it")),
        _unlisted("sideways", "left", N_("Left"), N_("Move to the left in a long line"), -16),
        _unlisted("sideways", "right", N_("Right"), N_("Move to the right in a long line"), 16),
    ),
    "prompt": (_unlisted("give_up", "escape", N_("Back"), N_("Give up typing: the text from before stays")),),
    "text_page": (
        _unlisted("dismiss", "escape,q,enter,question_mark", N_("Close"), N_("Close the page")),
        _unlisted("copy", "y", N_("Copy"), N_("Copy the text of the page")),
    ),
    "list_page": (
        _unlisted("dismiss", "escape,q", N_("Close"), N_("Close the list")),
        _unlisted("delete", "D", N_("Delete"), N_("Delete the selected entry, where that is offered")),
    ),
    "question": (
        _unlisted("yes", "y", N_("Yes"), N_("Answer with yes")),
        _unlisted("no", "n,escape", N_("No"), N_("Answer with no")),
        _unlisted("app.focus_next", "left,right", N_("Other answer"), N_("Go to the other answer")),
    ),
    "jump": (_unlisted("dismiss", "escape,ctrl+o", N_("Back"), N_("Jump nowhere")),),
    "publish": (
        Action("build", "b", N_("Build"), N_("Build the web site from the results")),
        Action("serve", "s", N_("Serve"), N_("Serve the site on this machine, or stop serving")),
        Action("open_site", "o", N_("Open"), N_("Open the site in a browser")),
        _unlisted("copy_path", "y", N_("Copy path"), N_("Copy the path of the site's first page")),
    ),
}
"""By screen, or by part of a screen. A letter means one thing on a screen, wherever the focus is."""
PARTS = {
    "table": N_("In tables"),
    "log": N_("In logs"),
    "prompt": N_("While typing"),
    "text_page": N_("In a page"),
    "list_page": N_("In a list to choose from"),
    "question": N_("In a question"),
    "form": N_("In a form"),
}
"""Parts that the help names, by their key in ``ACTIONS``."""


def actions_of(place: str) -> tuple[Action, ...]:
    """Return the actions of a screen, then those that work everywhere."""
    return ACTIONS.get(place, ()) + EVERYWHERE


def bindings_of(place: str) -> list[BindingType]:
    """Return the bindings of a screen's own actions, or of the app's (``everywhere``)."""
    actions = EVERYWHERE if place == "everywhere" else ACTIONS[place]
    return [
        Binding(item.key, item.call, item.text, id=f"{place}.{item.id}{item.parameter}", show=item.in_bar)
        for item in actions
    ]
