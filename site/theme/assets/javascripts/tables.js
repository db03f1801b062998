/* Tables that sort by a click on a column's name, and say so to assistive technology. Without JavaScript they are
   plain tables. A cell counts as a number when it begins with one; a cell without a figure always comes last:
   missing is not zero. */
(function () {
  "use strict";

  var LEADING_NUMBER = /^[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(?![\w-])/;

  function numberIn(cell) {
    var found = LEADING_NUMBER.exec(cell.textContent.trim());
    return found ? parseFloat(found[0].replace(/,/g, "")) : null;
  }

  /* Why a figure is missing stands in <em>: it says nothing about what kind of column it is. */
  function keysOf(rows, column) {
    var cells = rows.map(function (row) { return row.cells[column]; });
    var numeric = cells.filter(function (cell) { return numberIn(cell) !== null; }).length;
    var missing = cells.filter(function (cell) { return cell.querySelector("em") || cell.textContent.trim() === ""; });
    if (numeric > 0 && numeric * 2 >= cells.length - missing.length) return cells.map(numberIn);
    return cells.map(function (cell) { return cell.textContent.trim().toLowerCase() || null; });
  }

  function compare(a, b, direction) {
    if (a === null || b === null) return (a === null) - (b === null);
    return a < b ? -direction : a > b ? direction : 0;
  }

  function sort(table, column, direction) {
    var body = table.tBodies[0];
    var rows = Array.from(body.rows);
    var keys = keysOf(rows, column);
    var order = rows.map(function (_, index) { return index; });
    order.sort(function (a, b) { return compare(keys[a], keys[b], direction) || a - b; });
    order.forEach(function (index) { body.appendChild(rows[index]); });
  }

  function makeSortable(table) {
    var headers = Array.from(table.tHead.rows[0].cells);
    headers.forEach(function (header, column) {
      if (header.textContent.trim() === "") return;
      function sortByThis() {
        var direction = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        headers.forEach(function (other) { other.removeAttribute("aria-sort"); });
        header.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
        sort(table, column, direction);
      }
      header.tabIndex = 0;
      header.classList.add("sortable");
      header.addEventListener("click", function (event) {
        if (!event.target.closest("a")) sortByThis();
      });
      header.addEventListener("keydown", function (event) {
        if ((event.key !== "Enter" && event.key !== " ") || event.target !== header) return;
        event.preventDefault(); /* the space bar would scroll */
        sortByThis();
      });
    });
  }

  function hasFigures(table) {
    var rows = Array.from(table.tBodies[0].rows);
    return Array.from(table.tHead.rows[0].cells).some(function (_, column) {
      return keysOf(rows, column).some(function (key) { return typeof key === "number"; });
    });
  }

  /* Things side by side, named by links: their rows have an order of their own. */
  function isMatrix(table) { return table.tHead.querySelector("a") !== null; }

  /* A table is called like the heading that it stands below, with what leads to it. */
  function nameTables() {
    var heading = "", lead = "";
    document.querySelectorAll("article :is(h1, h2, h3, h4, p, table)").forEach(function (it) {
      var words = it.textContent.replace("¶", "").trim();
      if (it.tagName === "P") lead = /[:：]$/.test(words) ? ", " + words.slice(0, -1) : "";
      else if (it.tagName !== "TABLE") heading = words, lead = "";
      else if (!it.caption && !it.hasAttribute("aria-label")) it.setAttribute("aria-label", heading + lead);
    });
  }

  document.querySelectorAll("article table:not([class])").forEach(function (table) {
    var isList = !table.tHead || table.tHead.rows[0].cells.length < 3 || isMatrix(table);
    if (!isList && table.tBodies.length && table.tBodies[0].rows.length > 1 && hasFigures(table)) makeSortable(table);
  });
  nameTables();
})();
