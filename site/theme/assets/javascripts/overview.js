/* The charts of the home page, drawn anew for the model, metric, precision, scale and baseline that a reader chooses.
   The page holds the default choice; the data of all others (figures.js, shared with the explorer) is loaded once the page is idle. */
(function () {
  "use strict";

  var root = document.querySelector(".overview");
  if (!root) return;
  var WORDS = root.dataset;
  var data, at = {};

  function of(row, column) {
    var value = row[at[column]];
    return data.names[column] ? data.names[column][value] : value;
  }

  function gpusOf(row) { return of(row, "nodes") * of(row, "gpus"); }

  function measure(row, metric) {
    return metric === "per_gpu" ? of(row, "value") / gpusOf(row) : of(row, metric);
  }

  /* As figures.four_digits does. */
  function text(value, metric) {
    if (metric === "mfu") return (value * 100).toFixed(1) + " %";
    var digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value) || 1)));
    return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(digits, 8) });
  }

  function distinct(rows, read) {
    return Array.from(new Set(rows.map(read)));
  }

  function element(tag, name, words) {
    var made = document.createElement(tag);
    if (name) made.className = name;
    if (words !== undefined) made.textContent = words;
    return made;
  }

  /* Offer these values, keeping the one that was chosen. */
  function offer(select, pairs, chosen) {
    select.replaceChildren.apply(select, pairs.map(function (pair) { return new Option(pair[1], pair[0]); }));
    if (pairs.some(function (pair) { return String(pair[0]) === chosen; })) select.value = chosen;
  }

  function named(values) {
    return values.map(function (value) { return [value, value]; });
  }

  /* The best row of each accelerator and family of frameworks, the best accelerator first. */
  function bestOf(rows, metric) {
    var best = new Map();
    rows.forEach(function (row) {
      var key = of(row, "chip") + "|" + of(row, "family");
      if (!best.has(key) || measure(row, metric) > measure(best.get(key), metric)) best.set(key, row);
    });
    return Array.from(best.values()).sort(function (a, b) { return measure(b, metric) - measure(a, metric); });
  }

  function titleOf(row) { return of(row, "framework") + ", " + of(row, "chip"); }

  function bar(row, metric, longest, baseline) {
    var value = measure(row, metric);
    var item = element("li", "series-" + of(row, "series") % 8 + (of(row, "published") ? " published" : ""));
    item.style.setProperty("--share", 100 * value / longest + "%");
    var name = element("span", "name", of(row, "framework") + " ");
    name.append(element("small", "", of(row, "precision") + " · " + (gpusOf(row) === 1 ? WORDS.gpu : WORDS.gpus.replace("{}", gpusOf(row)))));
    var length = element("span", "bar");
    length.append(element("span"));
    var shown = element("span", "value"), link = element("a", "", text(value, metric));
    link.href = new URL(of(row, "page") + "#" + of(row, "anchor"), new URL(WORDS.source, location)).href;
    link.title = value;
    shown.append(link);
    if (of(row, "caveats")) {
      var caveat = element("a", "doubt", "†");
      caveat.href = link.href;
      caveat.title = of(row, "caveats");
      shown.append(" ", caveat);
    }
    var ratio = value / measure(baseline, metric);
    item.append(name, length, shown, element("span", "times", ratio.toFixed(2) + "×"));
    return item;
  }

  function draw(figure) {
    var form = figure.querySelector("form");
    var wanted = {};
    form.querySelectorAll("select").forEach(function (select) { wanted[select.name] = select.value; });
    var ofCase = data.rows.filter(function (row) { return of(row, "case") === wanted.case && of(row, "value") && of(row, "newest"); });
    var known = ofCase.filter(function (row) { return measure(row, wanted.metric); });
    offer(form.precision, [["", WORDS.all]].concat(named(distinct(known, function (row) { return of(row, "precision"); }).sort())), wanted.precision);
    offer(form.scale, [["", WORDS.all]].concat(named(distinct(known, gpusOf).sort(function (a, b) { return a - b; }))), wanted.scale);
    var shown = bestOf(known.filter(function (row) {
      return (!form.precision.value || of(row, "precision") === form.precision.value)
        && (!form.scale.value || gpusOf(row) === Number(form.scale.value));
    }), wanted.metric);
    var own = shown.find(function (row) { return !of(row, "published"); }) || shown[0];
    offer(form.baseline, shown.map(function (row) { return [titleOf(row), titleOf(row)]; }), wanted.baseline || (own && titleOf(own)));
    var baseline = shown.find(function (row) { return titleOf(row) === form.baseline.value; });
    var chips = distinct(shown, function (row) { return of(row, "chip"); });
    figure.querySelector(".groups").replaceChildren.apply(figure.querySelector(".groups"), chips.map(function (chip) {
      var section = element("section"), list = element("ul", "bars");
      shown.forEach(function (row) {
        if (of(row, "chip") === chip) list.append(bar(row, wanted.metric, measure(shown[0], wanted.metric), baseline));
      });
      section.append(element("h2", "", chip), list);
      return section;
    }));
    var unit = wanted.metric === "mfu" ? "" : of(ofCase[0], "unit") + " · ";
    figure.querySelector("figcaption").replaceChildren(wanted.case + " ",
      element("small", "", unit + form.metric.selectedOptions[0].text));
  }

  function begin() {
    data = window.dlperfFigures;
    data.columns.forEach(function (name, index) { at[name] = index; });
    var cases = distinct(data.rows.filter(function (row) { return of(row, "value"); }), function (row) { return of(row, "case"); });
    root.querySelectorAll("figure").forEach(function (figure) {
      var form = figure.querySelector("form");
      offer(form.case, named(cases), figure.dataset.case);
      form.addEventListener("change", function (event) {
        if (event.target.name === "case") form.precision.value = form.scale.value = form.baseline.value = "";
        draw(figure);
      });
      draw(figure);
      form.firstElementChild.disabled = false;
    });
  }

  function load() {
    var script = document.createElement("script");
    script.src = WORDS.source;
    script.onload = begin;
    document.head.append(script);
  }

  window.addEventListener("load", function () { (window.requestIdleCallback || setTimeout)(load); });
})();
