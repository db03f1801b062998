/* Compare: what a reader chose, kept in the part of the address after "#", and the rows that it selects. */
(function () {
  "use strict";

  if (!window.dlperfFigures || !window.dlperf) return;
  dlperf.open();
  const { data, at, of, gpusOf, measure, text, distinct } = dlperf;

  const MANY = ["case", "framework", "chip", "precision", "gpu_count", "origin", "source", "row"]; /* may have several values */
  const FACETS = MANY.slice(0, -1);
  const axes = distinct(data.rows.flatMap(row => of(row, "axes").map(axis => axis[0])));
  const further = Object.keys(data.metrics).filter(name => name !== "per_gpu" && !(name in at));
  const COLUMNS = ["case", "framework", "value", "times", "per_gpu", "spread", "nodes_gpus", "precision", "batch_size", "hardware",
    ...axes, "speedup", "efficiency", "mfu", "roofline", "per_joule", ...further, "protocol", "date", "origin", "source"];
  const DEFAULT = ["case", "framework", "value", "per_gpu", "spread", "nodes_gpus", "precision", "batch_size", "hardware", "source"];
  const WORDED = ["case", "framework", "hardware", "protocol", "date", "origin", "source", "precision"];
  const OF_UNITS = ["value", "per_gpu", "per_joule", "times"]; /* never put in one order where units differ */
  const state = {};

  const isNumber = column => !WORDED.includes(column);

  function titleOf(column) {
    const metric = column === "value" ? null : data.metrics[column];
    if (metric) return metric.title + (metric.unit && !metric.title.includes(metric.unit) ? ` (${metric.unit})` : "");
    return data.words[column] || (column[0].toUpperCase() + column.slice(1)).replace(/_/g, " ");
  }

  function valueOf(row, column) {
    if (column === "nodes_gpus" || column === "gpu_count") return gpusOf(row);
    if (column === "times") return ratio(row);
    if (axes.includes(column)) return (of(row, "axes").find(axis => axis[0] === column) || [0, null])[1];
    return column in at ? of(row, column) : measure(row, column);
  }

  function textOf(row, column) {
    if (column === "nodes_gpus") return [of(row, "nodes") + " × " + of(row, "gpus"), dlperf.togetherText(row)].filter(Boolean).join(" · ");
    if (column === "framework") return [of(row, "framework"), dlperf.programText(row)].filter(Boolean).join(" · ");
    if (column === "value") return of(row, "value") === null ? of(row, "status") : of(row, "printed");
    const value = valueOf(row, column);
    if (value === null || value === undefined || value === "") return "";
    if (column === "times") return value.toFixed(2) + "×";
    if (column === "speedup") return value.toFixed(2);
    if (axes.includes(column) || column === "batch_size") return String(value);
    const basis = dlperf.basisOf(row, column);
    if (basis) return `${text(value, column)} ${dlperf.unitOf(row, column)}: ${basis}`;
    return typeof value === "number" ? text(value, column) : value;
  }

  const byAddress = new Map(data.rows.map(row => [dlperf.addressOf(row), row]));
  const haystacks = new Map();

  /* All that a search looks at in a row; made when the first search needs it. */
  function haystack(row) {
    if (!haystacks.has(row)) haystacks.set(row, [...COLUMNS.filter(column => column !== "times"), "chip"]
      .map(column => textOf(row, column)).join(" ").toLowerCase());
    return haystacks.get(row);
  }

  function read() {
    const wanted = dlperf.chosen();
    Object.keys(state).forEach(name => delete state[name]);
    MANY.forEach(name => { state[name] = wanted.getAll(name); });
    ["q", "sort", "page", "metric", "baseline", "programs", "columns", "differences", "embed"].forEach(name => {
      state[name] = wanted.get(name) || "";
    });
    state.row = state.row.filter(address => byAddress.has(address)).slice(0, 5);
  }

  /* The part of the address that keeps the state. */
  function written(more) {
    const wanted = new URLSearchParams();
    Object.entries({ ...state, ...more }).forEach(([name, value]) => [].concat(value).filter(Boolean)
      .forEach(one => wanted.append(name, one)));
    return "#" + wanted;
  }

  const passes = (row, name) => !state[name].length || state[name].includes(String(valueOf(row, name)));

  /* The rows that match; without the filter of one facet for the counts of its chips. */
  function matching(except) {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    return data.rows.filter(row => FACETS.every(name => name === except || passes(row, name)) &&
      words.every(word => haystack(row).includes(word)));
  }

  const baseline = () => byAddress.get(state.baseline);
  const comparable = (a, b, metric) => of(a, "case") === of(b, "case") && of(a, "unit") === of(b, "unit") &&
    dlperf.unitOf(a, metric) === dlperf.unitOf(b, metric);

  /* The metric that was chosen; else the first that any of the rows has. */
  function metricOf(rows) {
    const names = Object.keys(data.metrics);
    if (names.includes(state.metric)) return state.metric;
    return names.find(name => rows.some(row => measure(row, name))) || "value";
  }

  function ratio(row, base) {
    const against = base || baseline(), metric = metricOf(against ? [against] : []);
    if (!against || !comparable(row, against, metric) || !measure(row, metric) || !measure(against, metric)) return null;
    return dlperf.compared(row, metric) / dlperf.compared(against, metric);
  }

  function columns() {
    const chosen = state.columns.split(",").filter(column => COLUMNS.includes(column));
    const shown = chosen.length ? chosen : DEFAULT;
    return COLUMNS.filter(column => column === "times" ? baseline() : shown.includes(column));
  }

  /* Sorted, by unit first where units differ; missing is not zero, it comes last either way. */
  function sorted(rows) {
    const column = state.sort.replace("-", ""), direction = state.sort[0] === "-" ? -1 : 1;
    if (!COLUMNS.includes(column)) return rows;
    const units = distinct(data.rows.map(row => of(row, "unit")));
    const keyed = rows.map((row, index) => ({ row, index, key: valueOf(row, column), unit: units.indexOf(of(row, "unit")) }));
    const empty = key => key === null || key === undefined || key === "";
    return keyed.sort((a, b) => empty(a.key) - empty(b.key) || (OF_UNITS.includes(column) ? a.unit - b.unit : 0) ||
      (a.key === b.key || empty(a.key) ? a.index - b.index : (a.key < b.key ? -1 : 1) * direction)).map(item => item.row);
  }

  Object.assign(dlperf, { state, FACETS, COLUMNS, DEFAULT, axes, isNumber, WORDED, titleOf, valueOf, textOf, byAddress, read, written,
    matching, baseline, comparable, metricOf, ratio, columns, sorted });
})();
