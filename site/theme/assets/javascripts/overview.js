/* The charts of the home page, drawn anew for the model, metric, precision, scale and baseline that a reader chooses.
   The page holds the default choice; the data of all others (figures.js, shared with Compare) is loaded once the page is idle. */
(function () {
  "use strict";

  const root = document.querySelector(".overview");
  if (!root) return;
  const { data, of, gpusOf, measure, unitOf, distinct } = dlperf;

  const CHOICES = ["case", "metric", "precision", "scale", "baseline"];
  const charts = [...root.querySelectorAll("figure")];

  /* Offer these values, keeping the one that was chosen. */
  function offer(select, pairs, chosen) {
    select.replaceChildren(...pairs.map(pair => new Option(pair[1], pair[0])));
    if (pairs.some(pair => String(pair[0]) === chosen)) select.value = chosen;
  }

  const named = values => values.map(value => [value, value]);
  const titleOf = row => [of(row, "chip"), of(row, "framework"), of(row, "precision")].join(" · ");
  const barTitle = row => [of(row, "framework"), [of(row, "precision"), dlperf.batchText(row), dlperf.scaleText(row)].filter(Boolean).join(" · ")];

  /* Offer what can be chosen beside what was, and return the rows of the chart. */
  function choose(form) {
    const wanted = Object.fromEntries(new FormData(form));
    const metric = wanted.metric;
    const ofCase = data.rows.filter(row => of(row, "case") === wanted.case && of(row, "newest") && of(row, "training"));
    const known = ofCase.filter(row => measure(row, metric));
    offer(form.precision, [["", data.words.all], ...named(distinct(known.map(row => of(row, "precision"))).sort())], wanted.precision);
    offer(form.scale, [["", data.words.all], ...named(distinct(known.map(gpusOf)).sort((a, b) => a - b))], wanted.scale);
    const matching = known.filter(row => (!form.precision.value || of(row, "precision") === form.precision.value) &&
      (!form.scale.value || gpusOf(row) === Number(form.scale.value)));
    const isFiltered = form.precision.value || form.scale.value;
    const shown = dlperf.bestOf(matching, metric, isFiltered ? dlperf.programOf : dlperf.kindOf);
    const own = shown.find(row => !of(row, "published")) || shown[0];
    offer(form.baseline, shown.map(row => [titleOf(row), titleOf(row)]), wanted.baseline || (own && titleOf(own)));
    return { ofCase, metric, shown };
  }

  /* Keep in the address what was chosen; the number of its chart stands before each name. */
  function keep(changed) {
    const kept = new URLSearchParams(location.hash.slice(1)), number = charts.indexOf(changed);
    CHOICES.forEach(name => kept.set(`${number}.${name}`, changed.querySelector("form")[name].value));
    history.replaceState(null, "", "#" + [...kept].filter(pair => pair[0].includes(".")).map(pair => pair.map(encodeURIComponent).join("=")).join("&"));
  }

  /* Choose what the address holds, one by one: what may be chosen depends on what was before. */
  function restore(figure) {
    const kept = dlperf.chosen(), form = figure.querySelector("form"), number = charts.indexOf(figure);
    if (!kept.has(`${number}.case`)) return;
    CHOICES.forEach(name => {
      const value = kept.get(`${number}.${name}`);
      if (value && [...form[name].options].some(option => option.value === value)) form[name].value = value;
      choose(form);
    });
    draw(figure);
  }

  function draw(figure) {
    const form = figure.querySelector("form");
    const { ofCase, metric, shown } = choose(form);
    const bars = dlperf.barsOf(shown, metric, shown.find(row => titleOf(row) === form.baseline.value), barTitle);
    const groups = distinct(shown.map(row => of(row, "chip"))).map(chip =>
      dlperf.element("section", {}, dlperf.element("h2", {}, chip),
        dlperf.list(bars.filter(bar => of(bar.row, "chip") === chip), new URL(root.dataset.source, location))));
    figure.querySelector(".groups").replaceChildren(...(groups.length ? groups : [dlperf.element("p", {}, data.words.no_bars)]));
    const unit = unitOf(ofCase[0], metric);
    figure.querySelector("figcaption").replaceChildren(form.case.value + " ",
      dlperf.element("small", {}, (unit && unit + " · ") + form.metric.selectedOptions[0].text));
    const wanted = Object.entries({ case: form.case.value, metric, precision: form.precision.value });
    figure.querySelector(".compare").hash = new URLSearchParams(wanted.filter(pair => pair[1]));
  }

  function begin(cases, figure) {
    const form = figure.querySelector("form");
    form.firstElementChild.disabled = false;
    offer(form.case, named(cases), figure.dataset.case);
    form.addEventListener("change", event => {
      if (event.target.name === "case") form.precision.value = form.scale.value = form.baseline.value = "";
      draw(figure);
      keep(figure);
    });
    choose(form);
    restore(figure);
  }

  /* Each step is a task of its own, so that a reader's touch is answered between them. */
  function beginAll() {
    dlperf.open();
    const cases = distinct(data.rows.filter(row => of(row, "newest") && of(row, "value") && of(row, "training")).map(row => of(row, "case")));
    const steps = charts.map(figure => () => begin(cases, figure));
    const next = () => { const step = steps.shift(); if (step) { step(); whenIdle(next); } };
    whenIdle(next);
  }

  /* After a second at the latest: a browser on a busy machine may never be idle. */
  const whenIdle = step => window.requestIdleCallback ? requestIdleCallback(step, { timeout: 1000 }) : setTimeout(step);
  window.addEventListener("load", () => whenIdle(() => {
    const script = dlperf.element("script", { src: root.dataset.source, load: () => whenIdle(beginAll) });
    document.head.append(script);
  }));
})();
