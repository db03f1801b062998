/* Compare: two to five rows side by side: results, conditions, numerics, versions and caveats. The conditions are in a file of
   their own, which is loaded when it is first needed. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.state) return;
  const { data, of, element, state } = dlperf;
  const RESULT = ["value", "times", "per_gpu", "spread", "n", "speedup", "efficiency", "mfu", "roofline", "per_joule"];
  const SECTIONS = ["conditions", "numerics", "versions"];
  const OWN = ["case", "hardware", "nodes_gpus", "precision", "batch_size", "protocol", "source", "date"];
  let loading = null;

  function load(address, then) {
    if (window.dlperfConditions) return true;
    if (!loading) {
      loading = element("script", { src: address, load: then });
      document.head.append(loading);
    }
    return false;
  }

  /* Section → name → text of what a row states beside its own columns. */
  function conditionsOf(row) {
    const known = window.dlperfConditions, found = {};
    if (!known) return found;
    const pairs = known.sets[known.rows[data.rows.indexOf(row)]];
    for (let place = 0; place < pairs.length; place += 2) {
      const [section, name] = known.names[pairs[place]];
      (found[section] = found[section] || {})[name] = known.values[pairs[place + 1]];
    }
    return found;
  }

  /* What a third party does not state is unknown, which is no difference; what our own results lack is one. */
  function differ(rows, section, texts) {
    const all = section === "caveats" || rows.every(row => !of(row, "published"));
    return new Set(all ? texts : texts.filter(Boolean)).size > 1;
  }
  const further = () => dlperf.COLUMNS.filter(column => column in data.metrics && !RESULT.includes(column));

  /* [section, [[name, [text of each row]]]] */
  function table(rows) {
    const base = dlperf.baseline() || rows[0];
    const read = column => row => column === "times" ? ratioText(row, base) : column === "n" ? String(of(row, "n") || "")
      : dlperf.textOf(row, column) + (column === "value" && of(row, "value") !== null ? " " + of(row, "unit") : "");
    const lines = columns => columns.map(column => [dlperf.titleOf(column), rows.map(read(column))]);
    const stated = rows.map(conditionsOf);
    const facts = section => dlperf.distinct(stated.flatMap(one => Object.keys(one[section] || {})))
      .map(name => [name, stated.map(one => (one[section] || {})[name] || "")]);
    const own = { conditions: lines([...OWN, ...dlperf.axes]), numerics: [], versions: [] };
    return [
      ["result", lines([...RESULT, ...further()])],
      ...SECTIONS.map(section => [section, [...own[section], ...facts(section)]]),
      ["caveats", [[data.words.caveats, rows.map(row => of(row, "caveats"))]]],
    ].map(([section, found]) => [section, found.filter(([, texts]) => texts.some(Boolean) &&
      (!state.differences || differ(rows, section, texts)))]).filter(([, found]) => found.length);
  }

  function ratioText(row, base) {
    const ratio = dlperf.ratio(row, base);
    return ratio === null ? "" : ratio.toFixed(2) + "×";
  }

  const titleOfSide = row => [dlperf.textOf(row, "framework"), of(row, "chip"), of(row, "precision"), dlperf.batchText(row)].filter(Boolean).join(", ");

  function head(row, change) {
    const others = state.row.filter(address => dlperf.byAddress.get(address) !== row);
    const name = titleOfSide(row);
    const base = row === (dlperf.baseline() || dlperf.byAddress.get(state.row[0]));
    return element("th", { scope: "col" }, element("a", { href: dlperf.addressOf(row) }, name),
      element("span", { class: "acts" },
        element("button", { type: "button", "aria-pressed": String(base), click: () => change({ baseline: dlperf.addressOf(row) }) },
          base ? data.words.baseline : data.words.use_as_baseline),
        element("button", { type: "button", "aria-label": data.words.remove + ": " + name, click: () => change({ row: others }) }, "×")));
  }

  function draw(rows, change) {
    const top = element("tr", {}, element("td", {}), ...rows.map(row => head(row, change)));
    const bodies = table(rows).map(([section, lines]) => element("tbody", {},
      element("tr", { class: "section" }, element("th", { scope: "rowgroup" }, data.words[section]), element("td", { colspan: rows.length })),
      ...lines.map(([name, texts]) => element("tr", { class: differ(rows, section, texts) ? "differs" : null },
        element("th", { scope: "row" }, name), ...texts.map(words => element("td", {}, words || "–"))))));
    const only = element("input", { type: "checkbox", "aria-label": data.words.differences, checked: Boolean(state.differences),
      change: event => change({ differences: event.target.checked ? "1" : "" }) });
    const strict = rows.every(row => dlperf.comparable(row, rows[0]) && of(row, "protocol") === of(rows[0], "protocol"));
    const box = element("div", { class: "explorer-table", tabindex: "0", role: "region", "aria-label": data.words.compare },
      element("table", { class: "figures sides", "aria-label": data.words.side_by_side, style: `--sides:${rows.length}` },
        element("thead", {}, top), ...bodies));
    const hint = element("p", { hidden: true }, data.words.sideways);
    new ResizeObserver(() => { hint.hidden = box.scrollWidth <= box.clientWidth; }).observe(box);
    return [
      element("h2", {}, data.words.side_by_side),
      element("p", {}, strict ? null : element("strong", {}, data.words.other_conditions + " "), data.words.untested + " ",
        element("label", {}, only, " " + data.words.differences)),
      hint,
      box,
    ];
  }

  Object.assign(dlperf, { loadConditions: load, drawSides: draw, sidesTable: table, titleOfSide });
})();
