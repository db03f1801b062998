/* Compare: the chart. One panel for each model and unit, so that units are never mixed. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.state) return;
  const { data, of, element, state, measure } = dlperf;
  const MOST_BARS = 12;
  const MOST_PROGRAMS = 24;
  const MOST_PANELS = 2;
  const KEYS = ["chip", "framework", "precision", "gpu_count", "batch_size", "tuning", "earlier", "hardware", "settings", "source"];
  const OF_PROGRAMS = KEYS.slice(5); /* in which our results of one program differ; each source of others stands for itself */

  const valueIn = (row, name) => OF_PROGRAMS.includes(name) && !state.programs && !of(row, "published") ? "" : dlperf.valueOf(row, name);
  const keyOf = (row, depth) => KEYS.slice(0, depth).map(name => valueIn(row, name)).join("|");

  /* The best row of each hardware and framework, our best among them; also of each precision, GPU count and so on, as long as all fit. */
  function shown(rows, metric) {
    const most = state.programs ? MOST_PROGRAMS : MOST_BARS;
    let depth = 2;
    while (depth < KEYS.length && new Set(rows.map(row => keyOf(row, depth + 1))).size <= most) depth += 1;
    const best = dlperf.bestOf(rows, metric, row => keyOf(row, depth)), drawn = best.slice(0, most);
    const own = best.find(row => !of(row, "published"));
    return !own || drawn.includes(own) ? drawn : [...drawn.slice(0, -1), own];
  }

  function titles(rows) {
    const varies = name => new Set(rows.map(row => dlperf.valueOf(row, name))).size > 1;
    const batch = varies("batch_size") ? dlperf.batchText : () => "";
    return row => [of(row, "framework"), [of(row, "chip"), of(row, "precision"), dlperf.programText(row), dlperf.scaleText(row), batch(row)]
      .filter(Boolean).join(" · ")];
  }

  /* Other work than training the model is drawn only where there is nothing else. */
  function panelOf(rows, metric) {
    const training = rows.filter(row => of(row, "training"));
    const drawn = shown(training.length ? training : rows, metric), first = drawn[0], chosen = dlperf.baseline();
    const own = drawn.find(row => !of(row, "published")) || first;
    const base = chosen && dlperf.comparable(chosen, first, metric) ? chosen : own;
    const unit = dlperf.unitOf(first, metric);
    const bases = dlperf.distinct(drawn.map(row => dlperf.basisOf(row, metric)).filter(Boolean));
    const aside = [unit, data.metrics[metric].title, dlperf.isLower(first, metric) && data.words.lower, ...bases];
    return { title: of(first, "case"), aside: aside.filter(Boolean).join(" · "), bars: dlperf.barsOf(drawn, metric, base, titles(drawn)) };
  }

  /* The panels of these rows, the most relevant models first, and how many more there are. */
  function panels(rows) {
    const metric = dlperf.metricOf(rows), groups = new Map();
    rows.filter(row => of(row, "newest") && measure(row, metric)).forEach(row => {
      const key = of(row, "case") + "|" + dlperf.unitOf(row, metric);
      groups.set(key, [...(groups.get(key) || []), row]);
    });
    const most = Math.max(MOST_PANELS, state.case.length);
    return { metric, drawn: Array.from(groups.values()).slice(0, most).map(members => panelOf(members, metric)), left: groups.size - most };
  }

  function select(name, pairs, chosen, change) {
    const made = element("select", { change: event => change(event.target.value) }, ...pairs.map(([value, title]) =>
      element("option", { value, selected: value === chosen }, title)));
    return element("label", {}, data.words[name] + " ", made);
  }

  function controls(rows, found, change) {
    const chosen = dlperf.baseline();
    const offered = found.drawn.flatMap(panel => panel.bars.map(bar => bar.row));
    const candidates = chosen && !offered.includes(chosen) ? [chosen, ...offered] : offered;
    const several = found.drawn.length > 1;
    const metrics = Object.entries(data.metrics).filter(([name]) => rows.some(row => measure(row, name)));
    const names = dlperf.named(candidates, titles(candidates));
    const nameOf = (row, place) => [...(several ? [of(row, "case")] : []), ...names[place]].join(" · ");
    return [
      select("metric", metrics.map(([name, one]) => [name, one.title]), found.metric, metric => change({ metric })),
      select("baseline", [["", data.words.best_of_ours], ...candidates.map((row, place) => [dlperf.addressOf(row), nameOf(row, place)])],
        chosen ? state.baseline : "", baseline => change({ baseline })),
      select("programs", [["", data.words.programs_best], ["all", data.words.programs_all]], state.programs, programs => change({ programs })),
    ];
  }

  function draw(rows) {
    const found = panels(rows);
    const words = data.words;
    const notes = [words.untested];
    if (found.left > 0) notes.unshift(words.other_panels.replace("{count}", found.left));
    const bars = found.drawn.flatMap(panel => panel.bars), caveats = state.embed ? dlperf.caveatsOf(bars) : [];
    const body = found.drawn.map(panel => element("figure", { class: "chart" },
      element("figcaption", {}, panel.title + " ", element("small", {}, panel.aside)), dlperf.list(panel.bars, null, caveats)));
    const key = bars.some(bar => bar.published) && element("span", { class: "published" }, element("i", { class: "key" }), words.published_key);
    const legend = element("p", { class: "legend" }, key, element("span", {}, notes.join(" ")), state.embed && element("a", { href: dlperf.written({ embed: "" }),
      target: "_blank" }, dlperf.credit(bars)));
    const said = caveats.length ? [element("p", { class: "small" }, ...dlperf.notesOf(bars).flatMap(note => [note, element("br")]))] : [];
    const panelled = element("div", { class: "panels" }, ...body);
    const parts = state.embed ? [legend, panelled, ...said] : [panelled, legend]; /* who says it is seen in however low a frame */
    return { ...found, body: body.length ? parts : [element("p", {}, words.no_bars)] };
  }

  Object.assign(dlperf, { drawChart: draw, chartControls: controls });
})();
