/* Your number: which of two accelerators trains for less, by results that one program gave on both; the best of each, where these are
   unlike, stand apart and give no ratio. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.number) return;
  const { data, of, text, distinct, element } = dlperf;
  const { words } = window.dlperfNumber;
  const { root, say, precisionOf, nameOfPrecision, isAt, noun, field, ofModel, unitOf, best, link, nameOf, conditionsOf, placeOf, doubt, table,
    pricesTyped, unlike, costOf, money } = dlperf.number;

  const sum = (values, by) => values.reduce((total, one) => total + by(one), 0);
  const supportOf = pair => Math.min(...pair.map(one => of(one.row, "support")));

  /* The pairs that one program made with equal settings: of each program and precision the best supported, then the fastest one. */
  function alikePairs(a, b) {
    const pairs = a.flatMap(one => b.filter(other => !unlike(one, other).length).map(other => [one, other]))
      .sort((x, y) => supportOf(y) - supportOf(x) || sum(y, one => one.perGpu) - sum(x, one => one.perGpu));
    const keyOf = ([one]) => [precisionOf(one), nameOf(one), of(one.row, "published")].join("|");
    const order = distinct(a.map(precisionOf)), first = new Map();
    pairs.forEach(pair => { if (!first.has(keyOf(pair))) first.set(keyOf(pair), pair); });
    return [...first.values()].sort((x, y) => order.indexOf(precisionOf(x[0])) - order.indexOf(precisionOf(y[0])));
  }

  /* The lowest and the highest ratio of pairs; one where both are written alike. */
  function ends(pairs) {
    const [low, high] = [Math.min, Math.max].map(end => end(...pairs.map(ratioOf)));
    return low.toFixed(2) === high.toFixed(2) ? [low] : [low, high];
  }

  const ratioOf = ([one, other]) => other.perGpu / one.perGpu;
  const chipOf = one => of(one.row, "chip");
  const sideCell = one => [link(one, text(one.perGpu)), " ", element("small", {}, placeOf(one)), " ", doubt(one)];
  const bestCell = one => [text(one.perGpu) + " ", link(one), " ", element("small", {}, [of(one.row, "origin"), conditionsOf(one)].join(" · ")), " ", doubt(one)];
  const programCell = one => [nameOf(one) + " ", element("small", {}, [dlperf.programText(one.row), of(one.row, "origin"), dlperf.batchText(one.row), of(one.row, "settings")].filter(Boolean).join(" · "))];

  /* One mark with the caveats of all sides, that leads to the first of them. */
  function doubtOf(all) {
    const sides = all.filter(one => of(one.row, "caveats"));
    return sides.length ? doubt(sides[0], distinct(sides.map(one => `${chipOf(one)}: ${of(one.row, "caveats")}`)).join("\n")) : "";
  }

  function alikeRow(pair, prices) {
    const costs = pair.map(side => [chipOf(side), costOf(side, prices)]).sort((x, y) => x[1] - y[1]);
    return [[precisionOf(pair[0])], element("span", {}, ratioOf(pair).toFixed(2) + "× ", doubtOf(pair)),
      costs.every(cost => cost[1]) ? costs.map(([chip, cost]) => `${chip} ${money(cost)}`).join(" < ") : "", programCell(pair[0]), ...pair.map(sideCell)];
  }

  /* Which of two accelerators trains for less at the reader's prices, of which the second is ``price`` times the first: where all programs
     say the same. */
  function cheaper(first, second, ratios, price) {
    if (!(price > 0 && price < Infinity)) return [];
    const where = test => [...ratios.keys()].filter(precision => ratios.get(precision).every(test));
    const below = where(ratio => price < ratio), above = where(ratio => price >= ratio);
    const unclear = [...ratios.keys()].filter(precision => !below.includes(precision) && !above.includes(precision));
    const [gpu, sure] = below.length ? [second, below] : [first, above];
    const verdict = !ratios.size ? "" : sure.length === ratios.size ? say("cheaper_always", { gpu })
      : sure.length ? say("cheaper_at", { gpu, precisions: sure.join(words.separator) }) : "";
    const doubted = unclear.length ? say("cheaper_unclear", { precisions: unclear.join(words.separator) }) : "";
    return [element("p", { class: "large" }, say("prices_ratio", { first, second, price: price.toFixed(2) }), verdict && words.gap,
      element("strong", {}, verdict), doubted && words.gap, doubted)];
  }

  /* The ratios of one program, by precision, with the pair of results that each is of. */
  function alikeTable(a, b, pairs, prices) {
    if (!pairs.length) return [element("p", {}, words.pair_no_program)];
    return [element("p", {}, say("pair", { first: a, second: b, ratio: ends(pairs).map(ratio => ratio.toFixed(2)).join("–") })),
      table(say("pair_title", { first: a, second: b }),
        [data.words.precision, `${b} ÷ ${a}`, say("cost_per_million", { unit: noun(unitOf()) }), words.alike, a, b], pairs.map(pair => alikeRow(pair, prices)), 1)];
  }

  /* The best results of each at a precision where they are not of one program with equal settings. */
  function bestTable(a, b, bests) {
    const apart = bests.map(pair => [pair, unlike(...pair)]).filter(([, names]) => names.length);
    if (!apart.length) return [];
    return [element("p", {}, words.pair_unlike),
      table(words.pair_unlike, [data.words.precision, words.differ, a, b], apart.map(([pair, names]) =>
        [[nameOfPrecision(precisionOf(pair[0]))], [names.join(words.separator)], ...pair.map(bestCell)]), 0)];
  }

  /* Whether there are two accelerators to choose from; the heading names those that are compared. */
  function offerPair(a, b) {
    const chips = distinct(ofModel().map(chipOf)), some = chips.length > 1;
    root.querySelector("#pair").firstChild.data = some && a !== b ? say("pair_heading", { first: a, second: b }) : words.pair_any;
    field("first").closest("fieldset").hidden = !some;
    return some ? "" : say("pair_alone", { model: of(ofModel()[0].row, "case"), gpu: chips[0] });
  }

  function showPair() {
    const out = root.querySelector(".pair"), [a, b] = ["first", "second"].map(name => field(name).value), origin = field("origin").value;
    const chosen = field("precision").value, rows = ofModel().filter(one => isAt(one, chosen) && (!origin || String(of(one.row, "published")) === origin));
    const alone = offerPair(a, b);
    if (alone) return out.replaceChildren(element("p", {}, alone));
    const [ofA, ofB] = [a, b].map(chip => rows.filter(one => chipOf(one) === chip));
    const at = (side, precision) => side.filter(one => nameOfPrecision(precisionOf(one)) === precision);
    const both = distinct(rows.map(one => nameOfPrecision(precisionOf(one)))).filter(precision => at(ofA, precision).length && at(ofB, precision).length);
    if (a === b || !both.length) return out.replaceChildren(element("p", {}, chosen ? say("pair_none_at", { precision: chosen }) : words.pair_none));
    const pairs = alikePairs(ofA, ofB), prices = pricesTyped(), ratios = new Map();
    pairs.forEach(pair => ratios.set(precisionOf(pair[0]), [...ratios.get(precisionOf(pair[0])) || [], ratioOf(pair)]));
    out.replaceChildren(...cheaper(a, b, ratios, prices.get(b) / prices.get(a)), ...alikeTable(a, b, pairs, prices),
      ...bestTable(a, b, both.map(precision => [best(at(ofA, precision)), best(at(ofB, precision))])));
  }

  Object.assign(dlperf.number, { showPair, alikePairs, ends, doubtOf });
})();
