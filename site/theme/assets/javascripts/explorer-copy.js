/* Compare: what is shown as Markdown, CSV, SVG, PNG and as code that embeds the chart in another page. */
(function () {
  "use strict";

  if (!window.dlperf || !dlperf.state) return;
  const { data, of, element, state } = dlperf;
  const SCALE = 2; /* pixels of a PNG for each of the SVG */

  const fullAddress = row => new URL(dlperf.addressOf(row), location).href;
  const selected = rows => state.row.length ? state.row.map(address => dlperf.byAddress.get(address)) : rows;

  const quoted = words => String(words).replace(/[|\\]/g, "\\$&");
  const line = cells => "| " + cells.map(quoted).join(" | ") + " |";

  /* The side-by-side table of the selected rows, with its sections. */
  function sidesMarkdown(rows) {
    const head = ["", ...rows.map(dlperf.titleOfSide)];
    const body = dlperf.sidesTable(rows).flatMap(([section, lines]) => [line([data.words[section], ...rows.map(() => "")]),
      ...lines.map(([name, texts]) => line([name, ...texts]))]);
    return [line(head), "|" + "---|".repeat(head.length), ...body, "", ...rows.map(row => "- " + fullAddress(row)), "", location.href].join("\n") + "\n";
  }

  function markdown(rows) {
    if (state.row.length > 1) return sidesMarkdown(selected(rows));
    const columns = dlperf.columns();
    const notes = [];
    const cell = (row, column) => {
      const words = dlperf.textOf(row, column);
      if (column !== "value" || of(row, "value") === null) return words;
      const caveats = of(row, "caveats");
      if (caveats && !notes.includes(caveats)) notes.push(caveats);
      return words + " " + of(row, "unit") + (caveats ? " †" + (notes.indexOf(caveats) + 1) : "");
    };
    const body = selected(rows).map(row => line(columns.map(column => cell(row, column))));
    const rule = "|" + columns.map(column => dlperf.isNumber(column) ? "---:|" : "---|").join("");
    return [line(columns.map(dlperf.titleOf)), rule, ...body, "", ...notes.map((note, number) => `†${number + 1} ${note}  `),
      location.href].join("\n") + "\n";
  }

  /* With all digits, and a quote before what a spreadsheet would take for a formula. */
  function csv(rows) {
    const safe = value => {
      const words = value === null || value === undefined ? "" : String(value);
      const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(words) ? "'" + words : words;
      return /[",\n]/.test(plain) ? '"' + plain.replace(/"/g, '""') + '"' : plain;
    };
    const exact = (row, column) => dlperf.basisOf(row, column) ? dlperf.textOf(row, column) : dlperf.valueOf(row, column);
    const columns = dlperf.columns().flatMap(column => column === "value" ? ["value", "unit"]
      : column === "nodes_gpus" ? ["nodes", "gpus"] : [column]);
    const lines = selected(rows).map(row => [...columns.map(column => exact(row, column)), of(row, "caveats"), fullAddress(row)]);
    return [[...columns, "caveats", "address"], ...lines].map(cells => cells.map(safe).join(",")).join("\n") + "\n";
  }

  const titleOf = chart => chart.drawn.map(panel => `${panel.title}, ${panel.aside}`).join("; ") || document.title;
  const creditOf = chart => dlperf.credit(chart.drawn.flatMap(panel => panel.bars));
  const addressOf = embed => new URL(dlperf.written({ embed, row: [], page: "" }), location).href;

  const citation = chart => `${titleOf(chart)}. ${creditOf(chart)}. ${addressOf("")}\n`;

  /* In pixels, of a page of 800 or more; a narrower one scrolls in its frame. */
  function heightOf(chart) {
    const bars = chart.drawn.flatMap(panel => panel.bars);
    return 290 + 36 * bars.length + 20 * dlperf.notesOf(bars).length;
  }

  function embedding(chart) {
    const address = addressOf("1"), title = titleOf(chart);
    const safe = words => words.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
    const size = `width="100%" height="${heightOf(chart)}"`;
    return `<iframe src="${safe(address)}" title="${safe(title)}" ${size} loading="lazy" style="border:0"></iframe>\n`;
  }

  function svg(chart) {
    const bars = chart.drawn.flatMap(panel => panel.bars);
    const key = bars.some(bar => bar.published) ? ["▨ " + data.words.published_key] : [];
    return dlperf.picture(chart.drawn, [...key, data.words.untested, ...dlperf.notesOf(bars), dlperf.credit(bars), addressOf("")]);
  }

  function png(chart) {
    return new Promise((done, failed) => {
      const image = new Image();
      image.onerror = failed;
      image.onload = () => {
        const canvas = element("canvas", { width: image.width * SCALE, height: image.height * SCALE });
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(done, "image/png");
      };
      image.src = "data:image/svg+xml," + encodeURIComponent(svg(chart));
    });
  }

  function save(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return data.words.saved;
  }

  /* Put it on the clipboard, or save it as a file where the browser refuses; gives the words that say which. */
  async function take(blob, name) {
    const kind = blob.type === "image/png" ? blob.type : "text/plain";
    try {
      await navigator.clipboard.write([new ClipboardItem({ [kind]: blob.type === kind ? blob : new Blob([blob], { type: kind }) })]);
      return data.words.copied;
    } catch (refused) {
      return save(blob, name);
    }
  }

  /* Content, type and the end of a file's name. */
  const KINDS = {
    Markdown: rows => [markdown(rows), "text/plain", "md"],
    CSV: rows => [csv(rows), "text/csv", "csv"],
    SVG: (rows, chart) => [svg(chart), "image/svg+xml", "svg"],
    PNG: async (rows, chart) => [await png(chart), "image/png", "png"],
    cite: (rows, chart) => [citation(chart), "text/plain", "txt"],
    embed: (rows, chart) => [embedding(chart), "text/plain", "html"],
  };

  const fileName = (chart, ending) => titleOf(chart).toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).join("-").slice(0, 80) + "." + ending;

  /* Buttons that copy, or those that save a file; shown() gives the rows and the chart, say(words) tells what happened. */
  function buttons(kinds, shown, say, act = take) {
    return kinds.map(kind => element("button", {
      type: "button",
      click: async () => {
        const { rows, chart } = shown(), [content, type, ending] = await KINDS[kind](rows, chart);
        say(await act(new Blob([content], { type }), fileName(chart, ending)));
      },
    }, (act === save ? data.words.download + " " : "") + (data.words[kind] || kind)));
  }

  const downloadButtons = (kinds, shown, say) => buttons(kinds, shown, say, save);

  Object.assign(dlperf, { copyButtons: buttons, downloadButtons, markdown, csv, embedding, svg });
})();
