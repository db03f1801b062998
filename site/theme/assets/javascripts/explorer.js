/* All figures in one table: filtered, sorted, a hundred at a time, any two compared. The data stands in figures.js
   beside the page (no fetch: the page also works from a folder), the state in the part of the address after "#". */
(function () {
  "use strict";

  var root = document.getElementById("figure-explorer");
  var data = window.dlperfFigures;
  if (!root || !data) return;

  var PAGE = 100;
  var FILTERS = ["case", "hardware", "framework", "precision", "source"];
  var COLUMNS = ["case", "framework", "value", "unit", "spread", "n", "nodes_gpus", "precision", "batch_size", "hardware",
    "speedup", "efficiency", "mfu", "roofline", "per_joule", "source"];
  var SHOWN = COLUMNS.filter(function (column) { return column !== "unit" && column !== "n"; });
  var NUMERIC = ["batch_size", "nodes_gpus", "value", "n", "spread", "speedup", "efficiency", "mfu", "roofline", "per_joule"];
  var WORDED = ["case", "framework", "hardware", "source"];
  var LABELLED = ["batch_size", "nodes_gpus", "speedup", "efficiency", "mfu", "roofline", "per_joule"]; /* on a telephone */
  var PLACES = { case: "name", framework: "by", value: "value", spread: "aside" }; /* there, in the block of a row */
  var RATIOS = ["spread", "efficiency", "mfu", "roofline"];
  var at = {};
  data.columns.forEach(function (name, index) { at[name] = index; });

  /* A row's value: names are stored once, a row holds their number. */
  function valueOf(row, column) {
    if (column === "nodes_gpus") return row[at.nodes] * row[at.gpus];
    var value = row[at[column]];
    return data.names[column] ? data.names[column][value] : value;
  }

  function textOf(row, column) {
    if (column === "nodes_gpus") return row[at.nodes] + " × " + row[at.gpus];
    if (column === "value") return row[at.value] === null ? valueOf(row, "status") : row[at.printed];
    var value = valueOf(row, column);
    if (value === null || value === "") return "";
    if (column === "speedup") return value.toFixed(2);
    var digits = column === "spread" && value < 0.0005 ? 2 : 1; /* no trials agree exactly */
    if (RATIOS.indexOf(column) >= 0) return (value * 100).toFixed(digits) + " %";
    return typeof value === "number" ? String(+value.toPrecision(4)) : value;
  }

  function addressOf(row) { return valueOf(row, "page") + "#" + row[at.anchor]; }

  var haystacks = data.rows.map(function (row) {
    return COLUMNS.map(function (column) { return textOf(row, column); }).join(" ").toLowerCase();
  });
  var byAddress = {};
  data.rows.forEach(function (row) { byAddress[addressOf(row)] = row; });

  var state = {};
  function readAddress() {
    state = {};
    new URLSearchParams(location.hash.slice(1)).forEach(function (value, name) { state[name] = value; });
  }

  function writeAddress() {
    var wanted = new URLSearchParams();
    Object.keys(state).forEach(function (name) { if (state[name]) wanted.set(name, state[name]); });
    history.replaceState(null, "", "#" + wanted.toString());
  }

  function element(name, attributes, children) {
    var made = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    (children || []).forEach(function (child) { made.append(child); });
    return made;
  }

  function selected() {
    var words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    var rows = data.rows.filter(function (row, index) {
      return FILTERS.every(function (name) { return !state[name] || valueOf(row, name) === state[name]; }) &&
        words.every(function (word) { return haystacks[index].indexOf(word) >= 0; });
    });
    return sorted(rows);
  }

  function sorted(rows) {
    if (!state.sort) return rows;
    var direction = state.sort[0] === "-" ? -1 : 1;
    var column = state.sort.replace("-", "");
    if (COLUMNS.indexOf(column) < 0) return rows;
    return rows.map(function (row, index) { return { row: row, key: valueOf(row, column), index: index }; })
      .sort(function (a, b) {
        var missing = (a.key === null) - (b.key === null); /* missing is not zero: it comes last either way */
        if (missing || a.key === b.key) return missing || a.index - b.index;
        return (a.key < b.key ? -1 : 1) * direction;
      }).map(function (item) { return item.row; });
  }

  /* The controls are made once; the table again for every change. */
  var form = element("form", { class: "explorer-form", role: "search" });
  var search = element("input", { type: "search", "aria-label": data.words.search, placeholder: data.words.search });
  var selects = {};
  form.append(search);
  FILTERS.forEach(function (name) {
    var values = Array.from(new Set(data.rows.map(function (row) { return valueOf(row, name); }))).sort();
    var all = element("option", { value: "" }, [data.words[name]]);
    selects[name] = element("select", { "aria-label": data.words[name] }, [all].concat(values.map(function (value) {
      return element("option", { value: value }, [value]);
    })));
    form.append(selects[name]);
  });
  var reset = element("button", { type: "button" }, [data.words.reset]);
  form.append(reset);
  var count = element("p", { role: "status", class: "explorer-count" });
  var comparison = element("div", { class: "explorer-comparison", tabindex: "-1", role: "region", "aria-label": data.words.compare });
  var holder = element("div", { class: "explorer-table rows", tabindex: "0", role: "region", "aria-label": data.words.title });
  var pager = element("p", { class: "explorer-pager" });
  root.replaceChildren(form, comparison, count, holder, pager);

  function change(values) {
    Object.assign(state, { page: "" }, values);
    writeAddress();
    show();
  }

  function header(column) {
    var current = (state.sort || "").replace("-", "") === column;
    var descending = current && state.sort[0] === "-";
    var button = element("button", { type: "button" }, [data.words[column]]);
    var first = NUMERIC.indexOf(column) >= 0 ? "-" : "";
    button.addEventListener("click", function () {
      change({ sort: current ? (descending ? "" : "-") + column : first + column });
      holder.querySelector('[data-column="' + column + '"] button').focus();
    });
    var attributes = { scope: "col", "data-column": column, class: NUMERIC.indexOf(column) >= 0 ? "number" : "words" };
    if (current) attributes["aria-sort"] = descending ? "descending" : "ascending";
    return element("th", attributes, [button]);
  }

  function cell(row, column) {
    var words = textOf(row, column);
    var content = column === "value" ? element("a", { href: addressOf(row) }, [words]) : words;
    var caveats = column === "value" && row[at.value] !== null ? valueOf(row, "caveats") : "";
    var facts = { class: "doubt", href: addressOf(row), title: caveats, "aria-label": caveats };
    var aside = caveats ? [" ", element("a", facts, ["†"])] : [];
    var kind = NUMERIC.indexOf(column) >= 0 ? "number" : WORDED.indexOf(column) >= 0 ? "words" : "";
    if (column === "value" && row[at.value] === null) kind += " words"; /* why there is no figure */
    var attributes = { "data-column": column };
    if (kind) attributes.class = kind;
    if (PLACES[column]) attributes["data-place"] = PLACES[column];
    if (LABELLED.indexOf(column) >= 0 && words) attributes["data-label"] = data.words[column];
    return element("td", attributes, [content].concat(aside));
  }

  /* In the long table unit and number of trials stand small beside what they belong to. */
  function withAside(row, column) {
    var made = cell(row, column);
    var aside = column === "value" && row[at.value] !== null ? valueOf(row, "unit")
      : column === "spread" && row[at.n] !== null ? data.words.n + " " + row[at.n] : "";
    if (aside) made.append(" ", element("small", {}, [aside]));
    return made;
  }

  function chooser(row) {
    var address = addressOf(row);
    var words = data.words.compare + ": " + FILTERS.map(function (name) { return valueOf(row, name); }).join(", ");
    var box = element("input", { type: "checkbox", "aria-label": words, value: address });
    box.checked = state.a === address || state.b === address;
    box.addEventListener("change", function () {
      var others = [state.a, state.b].filter(function (other) { return other && other !== address; });
      var chosen = box.checked ? others.concat(address).slice(-2) : others;
      Object.assign(state, { a: chosen[0] || "", b: chosen[1] || "" });
      writeAddress();
      show();
      goOn(address);
    });
    return element("td", { "data-place": "choice" }, [box]);
  }

  /* The table was made again: the reader goes on at the comparison, once there are two to compare, else where he was. */
  function goOn(address) {
    var boxes = Array.from(holder.querySelectorAll("input"));
    var there = state.a && state.b ? comparison : boxes.find(function (box) { return box.value === address; });
    there.focus({ preventScroll: true });
    there.scrollIntoView({ block: there === comparison ? "start" : "nearest" });
  }

  function compared(a, b) {
    var notes = [];
    if (valueOf(a, "unit") !== valueOf(b, "unit") || !a[at.value] || !b[at.value]) return data.words.no_ratio;
    var ratio = b[at.value] / a[at.value];
    notes.push("B ÷ A = " + ratio.toFixed(3));
    notes.push(data.words.untested);
    if (valueOf(a, "protocol") !== valueOf(b, "protocol")) notes.push(data.words.other_protocol);
    return notes.join(data.words.list_separator);
  }

  function showComparison() {
    var pair = [byAddress[state.a], byAddress[state.b]];
    comparison.replaceChildren();
    if (!pair[0] || !pair[1]) return;
    var head = element("tr", {}, ["", "A", "B"].map(function (name) { return element("th", { scope: "col" }, [name]); }));
    var told = COLUMNS.concat("protocol").filter(function (column) {
      return pair.some(function (row) { return textOf(row, column) !== ""; });
    });
    var rows = told.map(function (column) {
      var differs = textOf(pair[0], column) !== textOf(pair[1], column);
      var cells = pair.map(function (row) { return cell(row, column); });
      return element("tr", differs ? { class: "differs" } : {}, [element("th", { scope: "row" }, [data.words[column]])].concat(cells));
    });
    var table = element("table", { class: "figures", "aria-label": data.words.compare },
      [element("thead", {}, [head]), element("tbody", {}, rows)]);
    comparison.append(element("p", {}, [element("strong", {}, [compared(pair[0], pair[1])])]),
      element("div", { class: "explorer-table" }, [table]));
  }

  function turn(label, page, possible) {
    var button = element("button", { type: "button" }, [label]);
    button.disabled = !possible;
    button.addEventListener("click", function () {
      change({ page: String(page) });
      holder.focus({ preventScroll: true });
      holder.scrollIntoView();
    });
    return button;
  }

  function show() {
    search.value = state.q || "";
    FILTERS.forEach(function (name) { selects[name].value = state[name] || ""; });
    var rows = selected();
    var pages = Math.max(1, Math.ceil(rows.length / PAGE));
    var page = Math.min(Math.max(1, parseInt(state.page || "1", 10) || 1), pages);
    count.textContent = data.words.count.replace("{count}", rows.length).replace("{total}", data.rows.length);
    var compare = element("th", { scope: "col" }, [data.words.compare]);
    var head = element("tr", {}, [compare].concat(SHOWN.map(header)));
    var body = rows.slice((page - 1) * PAGE, page * PAGE).map(function (row) {
      return element("tr", {}, [chooser(row)].concat(SHOWN.map(function (column) { return withAside(row, column); })));
    });
    holder.replaceChildren(element("table", { class: "figures", "aria-label": data.words.title }, [element("thead", {}, [head]), element("tbody", {}, body)]));
    pager.replaceChildren(turn("←", page - 1, page > 1), " " + page + " / " + pages + " ", turn("→", page + 1, page < pages));
    pager.hidden = pages === 1;
    showComparison();
  }

  form.addEventListener("submit", function (event) { event.preventDefault(); });
  search.addEventListener("input", function () { change({ q: search.value }); });
  FILTERS.forEach(function (name) {
    selects[name].addEventListener("change", function () {
      var wanted = {};
      wanted[name] = selects[name].value;
      change(wanted);
    });
  });
  reset.addEventListener("click", function () { state = {}; writeAddress(); show(); });
  window.addEventListener("hashchange", function () { readAddress(); show(); });
  readAddress();
  show();
})();
