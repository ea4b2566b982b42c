// Draws the charts of a report. Each <div class="chart"> names a script element of
// JSON with its data (chartData in html_charts.go); what is drawn is Vega-Lite.
// Colours of text and axes are the style sheet's, so that they follow the theme and
// the printer; those of protocols can be told apart by the colour-blind (Okabe and
// Ito), and each has a shape and a dash of its own.
"use strict";
(() => {
  const protocols = ["h1", "h2", "h3"];
  const colors = ["#d55e00", "#0072b2", "#009e73"];
  const grey = "#767676";
  const failed = "M-1,-1L1,1M-1,1L1,-1";
  const color = { field: "protocol", type: "nominal", scale: { domain: protocols, range: colors }, legend: null };
  const shape = { field: "protocol", type: "nominal", scale: { domain: protocols, range: ["circle", "square", "triangle-up"] }, legend: null };
  const dash = { field: "protocol", type: "nominal", scale: { domain: protocols, range: [[6, 2], [2, 2], [1, 0]] }, legend: null };
  const tip = { field: "text", type: "nominal" };
  // By name: Vega measures text with it, which "inherit" would make wrong.
  const font = getComputedStyle(document.body).fontFamily;

  function offset(d) {
    const have = protocols.filter((p) => d.marks.some((m) => m.protocol === p));
    return { field: "protocol", type: "nominal", scale: { domain: have } };
  }

  // The room for names of rows, on a screen of any width.
  function limit(width) {
    return Math.max(60, Math.min(220, width * 0.3));
  }

  function across(d, width) {
    const scale = { type: d.log ? "log" : "linear", nice: false, zero: false };
    if (d.domain) scale.domain = d.domain;
    const axis = { title: d.x, tickCount: Math.max(3, Math.min(8, Math.round(width / 90))), grid: true, labelOverlap: "greedy" };
    if (d.log) axis.format = "~g";
    return { type: "quantitative", scale, axis };
  }

  function rows(d, width) {
    return { field: "label", type: "nominal", sort: d.labels, scale: { domain: d.labels, paddingInner: 0.25 }, axis: { title: null, labelLimit: limit(width), grid: true, tickBand: "extent", domain: false } };
  }

  const make = {
    medians(d, width) {
      const x = across(d, width), y = rows(d, width), yOffset = offset(d);
      const of = (kind) => [{ filter: { field: "kind", equal: kind } }];
      return {
        height: { step: 13, for: "offset" },
        layer: [
          { mark: { type: "rule", strokeWidth: 2.5 }, transform: [{ filter: "isValid(datum.low) && isValid(datum.high)" }], encoding: { y, yOffset, x: { ...x, field: "low" }, x2: { field: "high" }, color } },
          { data: { values: d.boxes || [] }, mark: { type: "tick", thickness: 2, size: 11, color: grey }, encoding: { y, yOffset, x: { ...x, field: "x" }, tooltip: tip } },
          { mark: { type: "point", filled: true, size: 60, opacity: 1 }, transform: of("median"), encoding: { y, yOffset, x: { ...x, field: "x" }, color, shape, tooltip: tip } },
          { mark: { type: "point", filled: false, size: 80, shape: "triangle-right", strokeWidth: 2 }, transform: of("beyond"), encoding: { y, yOffset, x: { ...x, field: "x" }, color, tooltip: tip } },
        ],
      };
    },
    sites(d, width) {
      const x = across(d, width), y = rows(d, width), yOffset = offset(d);
      return {
        height: { step: 13, for: "offset" },
        layer: [
          { mark: { type: "rule", strokeWidth: 2 }, encoding: { y, yOffset, x: { ...x, field: "low" }, x2: { field: "high" }, color } },
          { mark: { type: "point", filled: false, size: 60, strokeWidth: 2 }, encoding: { y, yOffset, x: { ...x, field: "low" }, color, shape, tooltip: tip } },
          { mark: { type: "point", filled: true, size: 60, opacity: 1 }, encoding: { y, yOffset, x: { ...x, field: "high" }, color, shape, tooltip: tip } },
        ],
      };
    },
    spread(d, width) {
      const x = across(d, width), y = rows(d, width), yOffset = offset(d);
      const boxes = { values: d.boxes || [] };
      return {
        height: { step: 16, for: "offset" },
        layer: [
          { data: boxes, mark: { type: "bar", size: 11, fillOpacity: 0.2, strokeWidth: 1 }, encoding: { y, yOffset, x: { ...x, field: "low" }, x2: { field: "high" }, color, stroke: color } },
          { data: boxes, mark: { type: "tick", thickness: 2.5, size: 12 }, transform: [{ filter: "isValid(datum.x)" }], encoding: { y, yOffset, x: { ...x, field: "x" }, color } },
          { mark: { type: "point", filled: true, size: 22, opacity: 0.65 }, transform: [{ filter: { field: "kind", equal: "ok" } }], encoding: { y, yOffset, x: { ...x, field: "x" }, color, shape, tooltip: tip } },
          { mark: { type: "point", shape: failed, size: 40, filled: false, strokeWidth: 2, opacity: 0.9 }, transform: [{ filter: { field: "kind", equal: "failed" } }], encoding: { y, yOffset, x: { ...x, field: "x" }, color, tooltip: tip } },
        ],
      };
    },
    ecdf(d, width) {
      return {
        height: 180,
        mark: { type: "line", interpolate: "step-after", strokeWidth: 2, clip: true },
        encoding: {
          x: { ...across(d, width), field: "x" },
          y: { field: "y", type: "quantitative", scale: { domain: [0, 1] }, axis: { title: d.y, tickCount: 5 } },
          order: null, color, strokeDash: dash,
        },
      };
    },
    throughput(d, width) {
      return {
        height: 180,
        mark: { type: "line", interpolate: "step-after", strokeWidth: 2 },
        encoding: {
          x: { ...across(d, width), field: "x" },
          y: { field: "y", type: "quantitative", axis: { title: d.y, tickCount: 5 } },
          color, strokeDash: dash,
        },
      };
    },
    heat(d) {
      const most = Math.max(0.5, ...d.marks.map((m) => Math.abs(m.x || 0)));
      const x = { field: "across", type: "ordinal", sort: d.across, scale: { domain: d.across }, axis: { title: d.x, labelAngle: 0, labelOverlap: true } };
      const y = { field: "label", type: "ordinal", sort: d.labels, scale: { domain: d.labels }, axis: { title: d.y } };
      const of = (kinds) => [{ filter: { field: "kind", oneOf: kinds } }];
      const rect = { type: "rect", stroke: "#888888", strokeWidth: 0.5 };
      return {
        height: { step: 40 },
        layer: [
          // A small difference that is claimed has a colour, too: none is between the two.
          { mark: rect, transform: of(["claim"]), encoding: { x, y, tooltip: tip, color: { field: "x", type: "quantitative", scale: { type: "linear", domain: [-most, -1e-9, 1e-9, most], range: ["#5b9bd9", "#d9e8f7", "#fbe6cf", "#ee9645"] }, legend: null } } },
          { mark: { ...rect, fill: "#f2e394" }, transform: of(["same"]), encoding: { x, y, tooltip: tip } },
          { mark: { ...rect, fill: "#d0d0d0" }, transform: of(["open", "other"]), encoding: { x, y, tooltip: tip } },
          { mark: { type: "text", fontSize: 12, fill: "#111111" }, encoding: { x, y, text: { field: "word" }, tooltip: tip } },
        ],
      };
    },
    waterfall(d, width) {
      const x = across(d, width);
      const y = { field: "label", type: "ordinal", sort: d.labels, scale: { domain: d.labels }, axis: { title: d.y, labelOverlap: true } };
      const kinds = ["connecting", "waiting", "receiving"];
      return {
        height: { step: 12 },
        layer: [
          { mark: { type: "bar", height: { band: 0.75 } }, encoding: { y, x: { ...x, field: "low" }, x2: { field: "high" }, color: { field: "kind", type: "nominal", scale: { domain: kinds, range: ["#cc79a7", "#b8b8b8", "#56b4e9"] }, legend: { orient: "top", title: null } }, tooltip: tip } },
          { data: { values: d.boxes || [] }, mark: { type: "point", shape: failed, size: 40, strokeWidth: 2, color: "#d55e00" }, encoding: { y, x: { ...x, field: "x" }, tooltip: tip } },
        ],
      };
    },
    resolution(d, width) {
      const x = { ...across(d, width) }, y = rows(d, width);
      return {
        height: { step: 16 },
        layer: [
          { data: { values: [{ zero: 0 }] }, mark: { type: "rule", color: grey, strokeDash: [3, 3] }, encoding: { x: { field: "zero", type: "quantitative" } } },
          { mark: { type: "rule", strokeWidth: 2.5 }, encoding: { y, x: { ...x, field: "low" }, x2: { field: "high" }, color, tooltip: tip } },
          { mark: { type: "point", filled: true, size: 50, opacity: 1 }, encoding: { y, x: { ...x, field: "x" }, color, shape, tooltip: tip } },
        ],
      };
    },
  };

  function spec(d, width) {
    return {
      data: { values: d.marks },
      width: "container",
      autosize: { type: "fit-x", contains: "padding" },
      background: null,
      ...make[d.kind](d, width),
      config: {
        font,
        view: { stroke: null },
        axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.6 },
        legend: { labelFontSize: 12, symbolType: "square" },
      },
    };
  }

  async function draw(div) {
    const data = JSON.parse(document.getElementById(div.dataset.from).textContent);
    const { compile, parse, View, expressionInterpreter } = globalThis.samewireVega;
    const logger = { level() { return this; }, error(...a) { throw new Error(a.join(" ")); }, warn() { return this; }, info() { return this; }, debug() { return this; } };
    const vega = compile(spec(data, div.clientWidth), { logger }).spec;
    const view = new View(parse(vega, null, { ast: true }), {
      expr: expressionInterpreter, renderer: "svg", container: div, hover: true, description: div.getAttribute("aria-label"),
    });
    await view.runAsync();
    div.dataset.drawn = "yes";
  }

  async function all() {
    const root = document.documentElement;
    root.classList.add("scripted");
    for (const div of document.querySelectorAll(".chart")) {
      try {
        await draw(div);
      } catch (e) {
        div.textContent = "This chart could not be drawn; the table below has its values. (" + e.message + ")";
        console.error(e);
      }
      // The page stays alive between two charts.
      await new Promise((go) => setTimeout(go));
    }
    root.dataset.charts = "done";
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
