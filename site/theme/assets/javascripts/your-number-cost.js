/* Your number: what training costs at a reader's prices on each accelerator. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.number) return;
  const { data, of, gpusOf, gpusText, text, grouped, distinct, element } = dlperf;
  const { words } = window.dlperfNumber;
  const { root, say, precisionOf, nameOfPrecision, isAt, noun, field, number, ofModel, unitOf, typed, best, link, conditionsOf, doubt, table,
    pricesTyped } = dlperf.number;
  const HOUR = 3600;
  const MILLION = 1e6;

  /* The best result of each accelerator, or the reader's own number. */
  function sides() {
    const precision = field("precision").value, origin = field("origin").value, perGpu = typed();
    const rows = ofModel().filter(one => isAt(one, precision) && (!origin || String(of(one.row, "published")) === origin));
    const found = distinct(rows.map(one => of(one.row, "chip"))).map(chip => best(rows.filter(one => of(one.row, "chip") === chip)));
    const all = found.map(one => ({ rows, chip: of(one.row, "chip"), perGpu: one.perGpu, gpus: gpusOf(one.row), precision: of(one.row, "precision"), doubt: doubt(one),
      said: [link(one), " ", element("small", {}, conditionsOf(one))] }));
    return perGpu ? [{ chip: field("gpu").value, perGpu, gpus: number("gpus") || 1, doubt: "", said: [words.your_number] }, ...all] : all;
  }

  const money = value => value === null ? "" : grouped(value < 100 ? +value.toPrecision(3) : Math.round(value));
  const millions = side => side.perGpu * HOUR / MILLION;

  /* Of a million on a result's accelerator; null without a price. */
  const costOf = (one, prices) => prices.get(of(one.row, "chip")) ? prices.get(of(one.row, "chip")) / millions(one) : null;
  const gpuHours = side => (number("amount") || 0) * MILLION / side.perGpu / HOUR;

  /* The best result of the same accelerator whose number of GPUs is nearer to the reader's than that of the side, at its precision
     where there is one; null without. */
  function nearerTo(gpus, side) {
    const distance = one => Math.abs(Math.log(gpusOf(one.row) / gpus));
    const nearer = (side.rows || []).filter(one => of(one.row, "chip") === side.chip && distance(one) < Math.abs(Math.log(side.gpus / gpus)));
    const alike = nearer.filter(one => isAt(one, nameOfPrecision(side.precision))), rows = alike.length ? alike : nearer;
    const nearest = Math.min(...rows.map(distance));
    return rows.length ? best(rows.filter(one => distance(one) === nearest)) : null;
  }

  /* The time on the number of GPUs that a reader typed, and on how many the result ran where these are others. */
  function timeOf(side, inDays) {
    const gpus = number("fleet"), value = gpus && gpuHours(side) / gpus;
    if (!value) return "";
    const said = inDays ? say("days", { count: text(value / 24) }) : say("hours", { count: text(value) });
    const near = nearerTo(gpus, side), hours = near && gpuHours(near) / gpus;
    const measured = near && [element("br"), element("small", {}, link(near), " ", precisionOf(near) === side.precision ? "" : precisionOf(near) + " ", say("at_rate_of", { gpus: gpusText(gpusOf(near.row)),
      time: inDays ? say("days", { count: text(hours / 24) }) : say("hours", { count: text(hours) }) }))];
    return gpus === side.gpus ? said : element("span", {}, said, element("br"), element("small", {}, say("ran_on", { gpus: gpusText(side.gpus) })),
      ...(measured || []));
  }

  function costRow(side, reference, prices, inDays) {
    const price = prices.get(side.chip) || null;
    return [[side.chip], element("span", {}, text(side.perGpu), side.doubt && " ", side.doubt), text(millions(side)),
      price ? money(price / millions(side)) : "",
      timeOf(side, inDays),
      price && gpuHours(side) ? money(price * gpuHours(side)) : "",
      reference ? `${money(reference.price * side.perGpu / reference.perGpu)} (${(side.perGpu / reference.perGpu).toFixed(2)}×)` : "", side.said];
  }

  function showCost() {
    const rows = sides(), prices = pricesTyped(), out = root.querySelector(".costs");
    if (!rows.length) return out.replaceChildren(element("p", {}, data.words.no_rows));
    const first = rows.find(side => prices.get(side.chip));
    const reference = first && { price: prices.get(first.chip), perGpu: first.perGpu };
    const unit = noun(unitOf()), inDays = rows.every(side => gpuHours(side) / number("fleet") >= 2 * 24);
    out.replaceChildren(table(words.cost,
      [words.gpu, unitOf() + " · " + words.one_gpu, say("millions", { unit }), say("cost_per_million", { unit }),
        words.time, words.cost, first ? say("break_even", { gpu: first.chip, price: money(reference.price) }) : words.break_even_none, words.result],
      rows.map(side => costRow(side, reference, prices, inDays))));
    const precisions = distinct(rows.map(side => side.precision).filter(Boolean));
    const said = precisions.length > 1 ? say("unlike_precisions", { precisions: precisions.join(words.separator) }) : say("one_precision", { precision: precisions[0] });
    if (precisions.length) out.append(element("p", {}, said));
  }

  Object.assign(dlperf.number, { showCost, money, costOf });
})();
