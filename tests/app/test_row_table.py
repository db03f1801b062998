"""The table of rows, alone."""

from __future__ import annotations

from driving import driving, until_shown
from textual.app import App, ComposeResult

from dlperf.app.dialogs.pages import ListPage
from dlperf.app.model.table import Column, Row
from dlperf.app.widgets.row_drawing import folded
from dlperf.app.widgets.row_table import RowTable
from dlperf.runs.paths import WorkspacePaths


class Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield RowTable((Column("", 20),), header=False)


async def test_a_row_that_changes_after_the_table_was_told_of_its_size_is_drawn_again():
    said = {"key": "before"}
    app = Alone()
    async with app.run_test() as pilot:
        table = app.query_one(RowTable)
        table.show_rows(list(said), lambda key: Row((said[str(key)],)))
        await pilot.pause()
        table.on_resize()
        await pilot.pause()
        said["key"] = "after"
        table.refresh_rows()
        await pilot.pause()
        assert "after" in app.screen._compositor.render_strips()[0].text


async def test_cells_are_cut_with_an_ellipsis_beside_the_scroll_bar():
    app = Alone()
    async with app.run_test(size=(30, 5)) as pilot:
        app.query_one(RowTable).show_rows(range(50), lambda key: Row(("long" * 10,)))
        await pilot.pause()
        await pilot.pause()
        assert "…" in app.screen._compositor.render_strips()[0].text


def test_a_text_in_place_of_rows_is_folded_below_its_beginning():
    assert folded("  2 p   presets, such as quickstart", 22) == ["  2 p   presets, such", "        as quickstart"]
    assert folded("  i     导入别人测量的日志", 18) == ["  i     导入别人测", "        量的日志"]
    assert folded("No results yet", 80) == ["No results yet"]
    assert folded("", 80) == [""]


async def test_the_selected_row_of_a_long_list_is_below_it_in_full(workspace: WorkspacePaths):
    columns = Column("a", 10), Column("b", 20, flexible=True)
    async with driving(workspace, size=(80, 24)) as pilot:
        rows = {number: Row((f"row {number}", "words " * 20 + "end")) for number in range(60)}
        pilot.app.push_screen(ListPage("many", columns, rows))
        await until_shown(pilot, "row 12", "words end")
