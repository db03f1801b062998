/* Your number: what training costs at a reader's prices, on each accelerator and on two of them by precision. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.number) return;
  const { data, of, gpusOf, gpusText, text, grouped, distinct, element } = dlperf;
  const { words } = window.dlperfNumber;
  const { root, say, precisionOf, nameOfPrecision, isAt, noun, field, number, ofModel, unitOf, typed, best, link, nameOf, conditionsOf, doubt, table,
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
    return [[side.chip], element("span", {}, text(side.perGpu), side.doubt && " ", side.doubt), text(side.perGpu * HOUR / MILLION),
      price ? money(price / (side.perGpu * HOUR / MILLION)) : "",
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

  /* Two accelerators */

  /* A program with a fault that another run's lacks is not the same. */
  const ALIKE = ["framework", "precision", "batch_size", "settings", "published", "program_caveats"];
  const isAlike = (one, other) => gpusOf(one.row) === gpusOf(other.row) && ALIKE.every(name => of(one.row, name) === of(other.row, name));

  /* The fastest pair that one program made with equal settings; null where there is none. */
  function alikeOf(a, b) {
    const pairs = a.flatMap(one => b.filter(other => isAlike(one, other)).map(other => [one, other]));
    return pairs.sort((x, y) => y[0].perGpu + y[1].perGpu - x[0].perGpu - x[1].perGpu)[0] || null;
  }

  const ratioOf = (one, other) => other.perGpu / one.perGpu;
  const times = (one, other) => ratioOf(one, other).toFixed(2) + "×";
  const bestCell = one => [text(one.perGpu) + " ", link(one), " ", element("small", {}, [of(one.row, "origin"), conditionsOf(one)].join(" · ")), " ", doubt(one)];

  function pairRow(precision, a, b, prices) {
    const pair = alikeOf(a, b), [one, other] = [best(a), best(b)];
    const costs = [one, other].map(side => [of(side.row, "chip"), (prices.get(of(side.row, "chip")) || NaN) / (side.perGpu * HOUR / MILLION)])
      .sort((x, y) => x[1] - y[1]);
    return [[precision], times(one, other),
      costs.some(cost => isNaN(cost[1])) ? "" : costs.map(([chip, cost]) => `${chip} ${money(cost)}`).join(" < "),
      pair ? [times(...pair) + " ", element("small", {}, [nameOf(pair[0]), ...pair.map(side => dlperf.scaleText(side.row))].join(" · ")), " ",
        pair.map(doubt).find(Boolean) || ""] : ["–"],
      bestCell(one), bestCell(other)];
  }

  /* Which of two accelerators trains for less at the reader's prices, of which the second is ``price`` times the first: where the best
     results and those of one program say the same. */
  function cheaper(first, second, ratios, price) {
    if (!(price > 0 && price < Infinity)) return [];
    const where = test => [...ratios.keys()].filter(precision => ratios.get(precision).every(test));
    const below = where(ratio => price < ratio), above = where(ratio => price >= ratio);
    const unclear = [...ratios.keys()].filter(precision => !below.includes(precision) && !above.includes(precision));
    const [gpu, sure] = below.length ? [second, below] : [first, above];
    const verdict = sure.length === ratios.size ? say("cheaper_always", { gpu })
      : sure.length ? say("cheaper_at", { gpu, precisions: sure.join(words.separator) }) : "";
    const doubted = unclear.length ? say("cheaper_unclear", { precisions: unclear.join(words.separator) }) : "";
    return [element("p", { class: "large" }, say("prices_ratio", { first, second, price: price.toFixed(2) }) + words.gap,
      element("strong", {}, verdict), verdict && doubted && words.gap, doubted)];
  }

  /* Two accelerators at each precision at which there are results of both, or at the chosen one: what one is worth in hours of the other;
     first where one program ran on both. */
  function showPair() {
    const out = root.querySelector(".pair"), [a, b] = ["first", "second"].map(name => field(name).value), origin = field("origin").value;
    const chosen = field("precision").value, rows = ofModel().filter(one => isAt(one, chosen) && (!origin || String(of(one.row, "published")) === origin));
    const at = (chip, precision) => rows.filter(one => of(one.row, "chip") === chip && nameOfPrecision(precisionOf(one)) === precision);
    const found = distinct(rows.map(one => nameOfPrecision(precisionOf(one)))).filter(precision => at(a, precision).length && at(b, precision).length);
    const byOne = new Set(found.filter(precision => alikeOf(at(a, precision), at(b, precision))));
    const both = [...found.filter(precision => byOne.has(precision)), ...found.filter(precision => !byOne.has(precision))];
    if (a === b || !both.length) return out.replaceChildren(element("p", {}, chosen ? say("pair_none_at", { precision: chosen }) : words.pair_none));
    const unit = noun(unitOf()), prices = pricesTyped();
    const ratios = new Map(both.map(precision => [precision, [[best(at(a, precision)), best(at(b, precision))],
      alikeOf(at(a, precision), at(b, precision))].filter(Boolean).map(pair => ratioOf(...pair))]));
    const range = distinct([Math.min, Math.max].map(end => end(...[...ratios.values()].map(([ratio]) => ratio)).toFixed(2))).join("–");
    out.replaceChildren(...cheaper(a, b, ratios, prices.get(b) / prices.get(a)), element("p", {}, say("pair", { first: a, second: b, ratio: range })),
      table(say("pair_title", { first: a, second: b }), [data.words.precision, `${b} ÷ ${a}`, say("cost_per_million", { unit }), words.alike, a, b],
        both.map(precision => pairRow(precision, at(a, precision), at(b, precision), prices))));
  }

  Object.assign(dlperf.number, { showCost, showPair });
})();
