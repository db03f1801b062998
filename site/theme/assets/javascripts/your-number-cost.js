/* Your number: what training costs at a reader's prices on each accelerator. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.number) return;
  const { data, of, gpusOf, gpusText, text, grouped, distinct, element } = dlperf;
  const { words, energy } = window.dlperfNumber;
  const { root, say, isAt, noun, field, number, ofModel, unitOf, typed, best, link, nameOf, precisionOf, conditionsOf, doubt, table,
    pricesTyped } = dlperf.number;
  const HOUR = 3600;
  const MILLION = 1e6;

  /* The best of the results on the number of GPUs that a reader typed, else on the nearest one. */
  function bestOn(gpus, rows) {
    const distance = one => gpus ? Math.abs(Math.log(gpusOf(one.row) / gpus)) : 0, nearest = Math.min(...rows.map(distance));
    return best(rows.filter(one => distance(one) === nearest));
  }

  /* The results from which a reader chose to see some. */
  function chosenRows() {
    const precision = field("precision").value, origin = field("origin").value, framework = field("framework").value;
    return ofModel().filter(one => isAt(one, precision) && (!origin || String(of(one.row, "published")) === origin) && (!framework || nameOf(one) === framework));
  }

  /* A result of each accelerator, of which rate, time and cost are, or the reader's own number. */
  function sides() {
    const perGpu = typed(), rows = chosenRows();
    const found = distinct(rows.map(one => of(one.row, "chip"))).map(chip => bestOn(number("fleet"), rows.filter(one => of(one.row, "chip") === chip)));
    const all = found.map(one => ({ one, chip: of(one.row, "chip"), perGpu: one.perGpu, gpus: gpusOf(one.row), precision: of(one.row, "precision"), doubt: doubt(one),
      said: [link(one), " ", element("small", {}, conditionsOf(one))] }));
    return perGpu ? [{ chip: field("gpu").value, perGpu, gpus: number("gpus") || 1, doubt: "", said: [words.your_number] }, ...all] : all;
  }

  const money = value => value === null ? "" : grouped(value < 100 ? +value.toPrecision(3) : Math.round(value));
  const millions = side => side.perGpu * HOUR / MILLION;

  /* Of a million on a result's accelerator; null without a price. */
  const costOf = (one, prices) => prices.get(of(one.row, "chip")) ? prices.get(of(one.row, "chip")) / millions(one) : null;
  const gpuHours = side => (number("amount") || 0) * MILLION / side.perGpu / HOUR;

  /* The hours on the number of GPUs that a reader typed, long ones in days, too, and on how many the result ran where these are others. */
  function timeOf(side) {
    const gpus = number("fleet"), hours = gpus && gpuHours(side) / gpus;
    if (!hours) return "";
    const more = [hours >= 48 && say("days", { count: text(hours / 24) }), gpus !== side.gpus && say("ran_on", { gpus: gpusText(side.gpus) })];
    return element("span", {}, text(hours), ...more.filter(Boolean).flatMap(said => [element("br"), element("small", {}, said)]));
  }

  /* What one GPU may cost beside the first with a price, by the programs that ran on both with equal settings; without one it is left out. */
  function breakEven(side, reference, price) {
    if (side.chip === reference.chip) return [`${money(price)} (1.00×)`];
    const [a, b] = [reference.chip, side.chip].map(chip => chosenRows().filter(one => of(one.row, "chip") === chip));
    const pairs = dlperf.number.alikePairs(a, b);
    if (!pairs.length) return [element("small", {}, words.break_even_unlike)];
    const ratios = dlperf.number.ends(pairs), names = distinct(pairs.map(([one]) => [nameOf(one), precisionOf(one)].join(" · ")));
    return [ratios.map(ratio => money(price * ratio)).join("–") + ` (${ratios.map(ratio => ratio.toFixed(2)).join("–")}×) `, dlperf.number.doubtOf(pairs.flat()),
      element("br"), element("small", {}, say("by_programs", { programs: names.join(words.separator) }))];
  }

  function costRow(side, reference, prices) {
    const price = prices.get(side.chip) || null;
    const program = side.one && element("small", {}, [nameOf(side.one), side.precision].join(" · "));
    return [[side.chip, program && element("br"), program], element("span", {}, text(side.perGpu), side.doubt && " ", side.doubt), text(millions(side)),
      price ? money(price / millions(side)) : "", side.one ? side.one.kwh : "", timeOf(side), price && gpuHours(side) ? money(price * gpuHours(side)) : "",
      reference ? breakEven(side, reference, prices.get(reference.chip)) : "", side.said];
  }

  /* In what the rows are unlike, which are each the best of what was chosen. */
  function unlikeSides(rows) {
    const [frameworks, precisions] = [nameOf, precisionOf].map(by => distinct(rows.map(side => side.one).filter(Boolean).map(by)));
    return [frameworks.length > 1 && say("unlike_frameworks", { frameworks: frameworks.join(words.separator) }),
      precisions.length > 1 && say("unlike_precisions", { precisions: precisions.join(words.separator) }),
      precisions.length === 1 && say("one_precision", { precision: precisions[0] })].filter(Boolean);
  }

  /* Whether no result of ours ran on the number of GPUs that a reader typed. */
  function noneTogether() {
    const gpus = number("fleet"), own = ofModel().filter(one => !of(one.row, "published"));
    if (!(gpus > 1) || !own.length || field("origin").value === "1" || own.some(one => gpusOf(one.row) === gpus)) return [];
    return [say("none_together", { model: of(own[0].row, "case"), gpus: text(gpus) })];
  }

  function showCost() {
    const rows = sides(), prices = pricesTyped(), out = root.querySelector(".costs");
    if (!rows.length) return out.replaceChildren(element("p", {}, data.words.no_rows));
    const first = rows.find(side => prices.get(side.chip));
    const unit = noun(unitOf());
    const said = [...noneTogether(), ...unlikeSides(rows)].map(one => element("p", { class: "small" }, one));
    out.replaceChildren(...said, table(words.cost,
      [words.gpu, unitOf() + " · " + words.one_gpu, say("millions", { unit }), say("cost_per_million", { unit }), element("a", { href: energy }, say("kwh", { unit })),
        words.time, words.cost, first ? say("break_even", { gpu: first.chip, price: money(prices.get(first.chip)) }) : words.break_even_none, words.result],
      rows.map(side => costRow(side, first, prices)), 1));
  }

  Object.assign(dlperf.number, { showCost, money, costOf });
})();
