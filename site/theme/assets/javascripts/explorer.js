/* Compare: filters as chips, chart, rows side by side and the table, made again for every change of the state. The data is in
   figures.js beside the page (no fetch: the page also works from a folder). */
(function () {
  "use strict";

  const root = document.getElementById("figure-explorer");
  if (!root || !window.dlperf || !dlperf.state) return;
  const { data, of, element, state } = dlperf;
  const { words } = data;
  const PAGE = 50;
  const MOST_CHIPS = 7;
  const MOST_SIDES = 5;
  const PLACES = { case: "name", framework: "by", value: "value", spread: "aside" }; /* on a telephone, in the block of a row */
  const opened = new Set(); /* facets that show all chips */
  let current = { rows: [], chart: null };

  const search = element("input", { type: "search", "aria-label": words.search, placeholder: words.search,
    input: event => change({ q: event.target.value }) });
  const reset = element("button", { type: "button", class: "act", click: () => { history.replaceState(null, "", "#"); dlperf.read();
    show(); } }, words.reset);
  const region = (name, label) => element("div", { class: name, role: "region", "aria-label": label, tabindex: "-1" });
  const facets = element("div", { class: "explorer-facets" });
  const said = element("span", { role: "status", class: "explorer-said" });
  const chartControls = element("div", { class: "explorer-controls" });
  const chart = region("explorer-chart", words.metric);
  const sides = region("explorer-sides", words.side_by_side);
  const count = element("p", { role: "status", class: "explorer-count" });
  const tools = element("div", { class: "explorer-controls" });
  const holder = element("div", { class: "explorer-table rows", tabindex: "0", role: "region", "aria-label": words.title });
  const pager = element("p", { class: "explorer-pager" });
  const chosen = element("div", { class: "explorer-chosen" });

  function change(values) {
    Object.assign(state, { page: "" }, values);
    history.replaceState(null, "", dlperf.written());
    show();
  }

  /* The page was made again: the focus stays on what was used. */
  function keepFocus(make) {
    const key = document.activeElement && document.activeElement.dataset.key;
    make();
    const again = key && root.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (again) again.focus({ preventScroll: true });
  }

  function facet(name) {
    const counts = new Map();
    const put = value => counts.set(value, (counts.get(value) || 0) + 1);
    dlperf.matching(name).forEach(row => put(String(dlperf.valueOf(row, name))));
    state[name].forEach(value => { if (!counts.has(value)) counts.set(value, 0); });
    const values = Array.from(counts.keys());
    if (name === "gpu_count") values.sort((a, b) => a - b);
    if (name === "precision") values.sort((a, b) => counts.get(b) - counts.get(a));
    const first = opened.has(name) ? values : values.filter((value, index) => index < MOST_CHIPS || state[name].includes(value));
    if (values.length < 2 && !state[name].length) return null;
    const chip = value => element("button", { type: "button", class: "chip", "data-key": name + "=" + value,
      "aria-pressed": String(state[name].includes(value)), click: () => toggle(name, value) }, value + " ",
      element("small", {}, String(counts.get(value))));
    const left = values.length - first.length;
    const more = left > 0 || opened.has(name) ? element("button", { type: "button", class: "chip more", "data-key": name + "…",
      "aria-expanded": String(opened.has(name)), click: () => { if (!opened.delete(name)) opened.add(name); show(); } },
      left > 0 ? words.more.replace("{count}", left) : words.fewer) : null;
    return element("fieldset", { "data-facet": name }, element("legend", {}, dlperf.titleOf(name)),
      element("div", { class: "chips" }, ...first.map(chip), more));
  }

  function toggle(name, value) {
    change({ [name]: state[name].includes(value) ? state[name].filter(one => one !== value) : [...state[name], value] });
  }

  function header(column) {
    const now = state.sort.replace("-", "") === column, descending = now && state.sort[0] === "-";
    const first = dlperf.isNumber(column) ? "-" : "";
    const button = element("button", { type: "button", "data-key": "sort " + column,
      click: () => change({ sort: now ? (descending ? "" : "-") + column : first + column }) }, dlperf.titleOf(column));
    return element("th", { scope: "col", "data-column": column, class: dlperf.isNumber(column) ? "number" : "words",
      "aria-sort": now ? (descending ? "descending" : "ascending") : null }, button);
  }

  function cell(row, column) {
    const text = dlperf.textOf(row, column), missing = column === "value" && of(row, "value") === null;
    const address = dlperf.addressOf(row), caveats = column === "value" && !missing ? of(row, "caveats") : "";
    const small = column === "value" && !missing ? of(row, "unit") : column === "spread" && of(row, "n") ? words.n + " " + of(row, "n") : "";
    const kind = [dlperf.isNumber(column) ? "number" : "words", missing && "words"].filter(Boolean).join(" ");
    const labelled = dlperf.isNumber(column) && !PLACES[column] && text;
    return element("td", { "data-column": column, class: kind, "data-place": PLACES[column], "data-label": labelled && dlperf.titleOf(column) },
      column === "value" ? element("a", { href: address, title: missing ? null : of(row, "value") }, text) : text,
      small && " ", small && element("small", {}, small), caveats && " ", caveats && dlperf.doubt(address, caveats));
  }

  function chooser(row) {
    const address = dlperf.addressOf(row), ticked = state.row.includes(address);
    const name = [words.compare + ":", ...["case", "framework", "hardware", "precision", "nodes_gpus"].map(one => dlperf.textOf(row, one))];
    const box = element("input", { type: "checkbox", "aria-label": name.join(" "), "data-key": address, checked: ticked,
      disabled: !ticked && state.row.length >= MOST_SIDES,
      change: () => change({ page: state.page, row: ticked ? state.row.filter(one => one !== address) : [...state.row, address] }) });
    return element("td", { "data-place": "choice" }, box);
  }

  function columnChoice() {
    const shown = dlperf.columns();
    const boxes = dlperf.COLUMNS.filter(column => column !== "times").map(column => element("label", {}, element("input", {
      type: "checkbox", "aria-label": dlperf.titleOf(column), checked: shown.includes(column), "data-key": "column " + column,
      change: event => change({ page: state.page, columns: dlperf.COLUMNS.filter(one => one === column ? event.target.checked : shown.includes(one)).join(",") }),
    }), " " + dlperf.titleOf(column)));
    const open = tools.querySelector("details[open]") !== null;
    return element("details", { open }, element("summary", {}, words.columns), element("div", { class: "choices" }, ...boxes));
  }

  function turn(label, title, page, possible) {
    return element("button", { type: "button", "aria-label": title, disabled: !possible, click: () => {
      change({ page: String(page) });
      holder.focus({ preventScroll: true });
      holder.scrollIntoView();
    } }, label);
  }

  function table(rows) {
    const columns = dlperf.columns();
    const head = element("tr", {}, element("th", { scope: "col" }, words.compare), ...columns.map(header));
    const body = rows.map(row => element("tr", {}, chooser(row), ...columns.map(column => cell(row, column))));
    return element("table", { class: "figures", "aria-label": words.title }, element("thead", {}, head), element("tbody", {}, ...body));
  }

  function showChosen() {
    const rows = state.row.map(address => dlperf.byAddress.get(address));
    const known = rows.length > 1 && dlperf.loadConditions(root.dataset.conditions, show);
    sides.replaceChildren(...(rows.length > 1 ? dlperf.drawSides(rows, change) : []));
    sides.setAttribute("aria-busy", String(rows.length > 1 && !known));
    chosen.replaceChildren(...(rows.length ? [words.selected.replace("{count}", rows.length),
      element("button", { type: "button", class: "act", "data-key": "side by side", disabled: rows.length < 2,
        click: () => { sides.focus({ preventScroll: true }); sides.scrollIntoView(); } }, words.side_by_side),
      element("button", { type: "button", class: "act", "data-key": "clear", click: () => change({ row: [] }) }, words.clear)] : []));
  }

  function showTable() {
    const { rows } = current;
    if (!holder.isConnected) root.append(element("div", { class: "explorer-bar" }, count, tools), holder, pager, chosen);
    count.textContent = rows.length ? words.count.replace("{count}", dlperf.grouped(rows.length))
      .replace("{total}", dlperf.grouped(data.rows.length))
      .replace("{valued}", dlperf.grouped(rows.filter(row => of(row, "value") !== null).length)) : words.no_rows;
    tools.replaceChildren(columnChoice(), tableCopies);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    const page = Math.min(Math.max(1, parseInt(state.page || "1", 10) || 1), pages);
    holder.replaceChildren(table(rows.slice((page - 1) * PAGE, page * PAGE)));
    pager.replaceChildren(turn("←", words.previous, page - 1, page > 1), ` ${page} / ${pages} `, turn("→", words.next, page + 1, page < pages));
    pager.hidden = pages === 1;
  }

  function find() {
    const rows = dlperf.sorted(dlperf.matching());
    current = { rows, chart: dlperf.drawChart(rows) };
  }

  function showFilters() {
    document.body.classList.toggle("embedded", Boolean(state.embed));
    if (search.value !== state.q) search.value = state.q;
    facets.replaceChildren(...dlperf.FACETS.map(facet).filter(Boolean));
  }

  function showChart() {
    chartControls.replaceChildren(...dlperf.chartControls(current.rows, current.chart, change), chartCopies);
    chart.replaceChildren(...current.chart.body);
  }

  const parts = [find, showFilters, showChart, showTable, showChosen];
  const show = () => keepFocus(() => parts.forEach(part => part()));

  /* The first time in tasks of their own, between which a telephone paints and answers. */
  function begin([part, ...left]) {
    if (part) setTimeout(() => { part(); begin(left); });
  }

  const say = text => { said.textContent = text; };
  const copies = (label, kinds) => element("span", { class: "copies", role: "group", "aria-label": words[label] }, words[label] + " ",
    ...dlperf.copyButtons(kinds, () => current, say));
  const chartCopies = copies("copy_chart", ["PNG", "SVG", "embed", "cite"]);
  chartCopies.append(...dlperf.downloadButtons(["PNG", "SVG"], () => current, say));
  const tableCopies = copies("copy", ["Markdown", "CSV"]);

  root.replaceChildren(element("div", { class: "explorer-search", role: "search", "aria-label": words.title }, search, reset, said), facets, chartControls, chart,
    sides);
  window.addEventListener("hashchange", () => { dlperf.read(); show(); });
  dlperf.read();
  begin(parts);
})();
