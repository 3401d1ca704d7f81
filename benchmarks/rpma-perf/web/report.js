// SPDX-License-Identifier: BSD-3-Clause
// Draws the results that the page holds. One section for each operation; in it charts by Chart.js.
"use strict";

const files = JSON.parse(document.getElementById("data").textContent);
const PERCENTILES = ["p50", "p99", "p99.9"];
const PERCENTILE_NAMES = {"p50": "50 %", "p99": "99 %", "p99.9": "99.9 %"};
const DASHES = {"p50": [], "p99": [6, 4], "p99.9": [2, 3]};
// Okabe and Ito's colours, which the colour-blind can tell apart; darker and lighter for the page's two modes.
const COLOURS = {
    light: ["#0072b2", "#b34a00", "#00795a", "#a8477f", "#8a6d00", "#2a86b8", "#444444", "#7a3db8"],
    dark: ["#56b4e9", "#f08c42", "#2ecc9a", "#e29bc4", "#f0e442", "#8fd0f5", "#c8c8c8", "#c79bf2"],
};
const MARKS = ["circle", "rect", "triangle", "rectRot", "cross", "star", "crossRot", "dash"];
const PRINTED = {width: 640, devicePixelRatio: 2};
const sections = [];  // each can be drawn anew

// ---------------------------------------------------------------- data

// All results of all files, with the name that a legend shows: the API, and the file if there are several.
function entries() {
    return files.flatMap((file) => file.results.results.map((result) => ({
        ...result, file: file.name,
        series: files.length > 1 ? `${result.case.api}, ${file.name}` : result.case.api,
    })));
}

const all = entries();
const distinct = (values) => [...new Set(values)];
const ascending = (values) => distinct(values).sort((a, b) => a - b);

// What makes a section: the operation, with everything that no axis shows.
function kind(entry) {
    const point = entry.case;
    const parts = [point.op];
    if (point.op === "flush" || point.op === "commit") {
        parts.push(point.flush);
    }
    if (point.connections > 1) {
        parts.push(`${point.connections} connections`);
    }
    if (point.threads > 1) {
        parts.push(`${point.threads} threads`);
    }
    parts.push(point.wait === "poll" ? "polling" : "waiting for events");
    return parts.join(", ") + (point.verify ? ", every byte verified" : "");
}

function sizeText(bytes) {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    while (bytes >= 1024 && unit < units.length - 1) {
        bytes /= 1024;
        unit++;
    }
    return `${Number(bytes.toPrecision(4))} ${units[unit]}`;
}

const digits = (value) => Number(value.toPrecision(4)).toLocaleString("en", {maximumSignificantDigits: 4});
const depthText = (entry) => `depth ${entry.case.queue_depth}` + (entry.case.batch > 1 ? `, batch ${entry.case.batch}` : "");

// ---------------------------------------------------------------- page

function element(name, text, parent) {
    const made = document.createElement(name);
    made.textContent = text;
    if (parent) {
        parent.append(made);
    }
    return made;
}

function table(parent, head, rows) {
    const scroll = element("div", "", parent);
    scroll.className = "scroll";
    const made = element("table", "", scroll);
    const first = element("tr", "", element("thead", "", made));
    head.forEach((text) => element("th", text, first));
    const body = element("tbody", "", made);
    rows.forEach((row) => {
        const line = element("tr", "", body);
        row.forEach((text) => element("td", text, line));
    });
}

function machineRows(side) {
    const described = files.map((file) => file.results[side]);
    const device = (machine) => machine.device
        ? `${machine.device.name}, ${machine.device.transport} over ${machine.device.link_layer}, MTU ${machine.device.mtu} bytes` +
          `, native: ${[machine.device.native_flush && "flush", machine.device.native_atomic_write && "atomic write"].filter(Boolean).join(", ") || "nothing"}`
        : "none";
    const rows = [
        ["host", (m) => m.host],
        ["system", (m) => `${m.os}, ${m.kernel}`],
        ["processor", (m) => `${m.processor}, ${m.processors} usable`],
        ["memory", (m) => sizeText(m.memory_bytes)],
        ["load before", (m) => digits(m.load_average)],
        ["device", device],
        ["librpma", (m) => `${m.librpma.path} (build ${m.librpma.build_id.slice(0, 12)})`],
        ["verbs", (m) => m.verbs],
    ];
    if (side === "target") {
        rows.push(["target memory", (m) => `${m.target_memory.kind} ${m.target_memory.path}` +
            (m.target_memory.direct_write ? ", direct write declared" : "")]);
    }
    return rows.map(([name, value]) => [`${side}: ${name}`, ...described.map(value)]);
}

function describe() {
    const section = document.getElementById("machines");
    document.getElementById("summary").textContent =
        files.map((file) => `${files.length > 1 ? file.name + ": " : ""}${file.results.date}, ${file.results.command}`).join(" · ");
    const broken = files.filter((file) => !file.results.complete);
    if (broken.length > 0) {
        const warning = document.getElementById("incomplete");
        warning.hidden = false;
        warning.textContent = "Incomplete: " + broken.map((file) => `${file.name}: ${file.results.note}`).join("; ");
    }
    table(section, ["", ...files.map((file) => file.name)], [...machineRows("initiator"), ...machineRows("target")]);
}

function allFigures() {
    const us = (value) => digits(value / 1000);
    table(document.getElementById("figures"),
        ["case; latencies in µs", "size", "depth", "batch", "min", "50 %", "90 %", "99 %", "99.9 %", "max", "op/s", "MB/s", "CPU init.", "CPU target", "runs"],
        all.map((entry) => {
            const latency = entry.latency_ns;
            return [`${entry.series}: ${kind(entry)}`, sizeText(entry.case.size), entry.case.queue_depth, entry.case.batch,
                us(latency.min), us(latency.p50), us(latency.p90), us(latency.p99), us(latency["p99.9"]), us(latency.max),
                digits(entry.operations_per_s), digits(entry.bytes_per_s / 1e6),
                `${Math.round(entry.cpu_initiator * 100)} %`, `${Math.round(entry.cpu_target * 100)} %`, entry.runs.length];
        }));
}

// Each later file beside the first, case by case.
function comparison() {
    if (files.length < 2) {
        return;
    }
    const caseOf = (result) => JSON.stringify(result.case);
    const rows = files[0].results.results.flatMap((first) => {
        const others = files.slice(1).map((file) => file.results.results.find((result) => caseOf(result) === caseOf(first)));
        const ratio = (value) => others.map((other) => other ? digits(value(other) / value(first)) : "-");
        return others.some(Boolean) ? [[`${first.case.api}: ${kind(first)}`, sizeText(first.case.size), depthText(first),
            ...ratio((result) => result.latency_ns.p50), ...ratio((result) => result.operations_per_s)]] : [];
    });
    const section = element("section", "", document.getElementById("sections"));
    section.id = "comparison";
    element("h2", `Compared with ${files[0].name}`, section);
    element("p", "Ratios; below 1 is better for latency, above 1 for the rate. rpma-perf compare tells which of them exceed the noise.", section);
    const names = files.slice(1).map((file) => file.name);
    table(section, ["case", "size", "depth", ...names.map((name) => `median latency, ${name}`), ...names.map((name) => `rate, ${name}`)], rows);
}

// ---------------------------------------------------------------- charts

let printing = false;
const isDark = () => !printing && matchMedia("(prefers-color-scheme: dark)").matches;

function colourOf(series) {
    const names = distinct(all.map((entry) => entry.series));
    const palette = COLOURS[isDark() ? "dark" : "light"];
    return palette[names.indexOf(series) % palette.length];
}

function markOf(series) {
    return MARKS[distinct(all.map((entry) => entry.series)).indexOf(series) % MARKS.length];
}

function axis(title, type, text, bounds = {}) {
    return {type, title: {display: true, text: title}, ticks: {callback: text, maxRotation: 0, autoSkip: true}, ...bounds};
}

// Only the powers that a logarithmic axis is read by, so that labels do not run into each other.
function powers(base, text) {
    return (value) => {
        const power = Math.log(value) / Math.log(base);
        return Math.abs(power - Math.round(power)) < 1e-6 ? text(value) : null;
    };
}

const axes = {
    size: (values) => ({
        ...axis("size of an operation", "logarithmic", (value) => sizeText(value)),
        min: Math.min(...values), max: Math.max(...values),
        afterBuildTicks: (scale) => { scale.ticks = values.map((value) => ({value})); },
    }),
    depth: (values) => ({
        ...axis("queue depth, operations in flight", "logarithmic", (value) => String(value)),
        min: Math.min(...values), max: Math.max(...values),
        afterBuildTicks: (scale) => { scale.ticks = values.map((value) => ({value})); },
    }),
    latency: () => axis("latency, µs", "logarithmic", powers(10, digits)),
    bandwidth: () => axis("bandwidth, MB/s", "linear", digits, {min: 0}),
    share: () => axis("share of operations, %", "linear", digits, {min: 0}),
    slower: () => axis("share of slower operations, %", "logarithmic", powers(10, digits)),
};

function dataset(series, label, points, more = {}) {
    const colour = colourOf(series);
    return {label, data: points, borderColor: colour, backgroundColor: colour, pointStyle: markOf(series), borderWidth: 2, pointRadius: 4, ...more};
}

function paint(chart) {
    const style = getComputedStyle(document.documentElement);
    const [text, line] = printing ? ["#000000", "#bbbbbb"] : ["--text", "--line"].map((name) => style.getPropertyValue(name).trim());
    chart.options.color = text;
    Object.values(chart.options.scales).forEach((scale) => {
        scale.grid = {color: line, borderColor: line};
        scale.ticks.color = text;
        scale.title.color = text;
    });
    chart.update("none");
}

// Lines in the legend where dashes tell percentiles or batches apart, else the marks of the points.
function legendLabels(datasets) {
    const dashed = datasets.some((one) => (one.borderDash || []).length > 0);
    return dashed ? {usePointStyle: true, pointStyle: "line", pointStyleWidth: 40, padding: 12}
        : {usePointStyle: true, boxWidth: 9, boxHeight: 9, padding: 14};
}

// The legend's lines come on top of what the lines themselves need.
function heightFor(datasets) {
    return 290 + 22 * Math.ceil(datasets.length / 3);
}

function draw(parent, id, title, remark, x, y, datasets) {
    const figure = element("figure", "", parent);
    const caption = element("figcaption", title + " ", figure);
    const small = element("small", remark, caption);
    const box = element("div", "", figure);
    box.className = "canvas";
    box.style.setProperty("--height", `${heightFor(datasets)}px`);
    const canvas = element("canvas", "", box);
    canvas.id = id;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}. The figures are in the table below.`);
    const chart = new Chart(canvas, {
        type: "line",
        data: {datasets},
        options: {
            animation: false, parsing: false, normalized: true, responsive: true, maintainAspectRatio: false,
            interaction: {mode: "nearest", intersect: false},
            scales: {x, y},
            plugins: {legend: {position: "bottom", labels: legendLabels(datasets)}},
        },
    });
    paint(chart);
    return {chart, small};
}

// Points (x, y) of the entries that belong to a series.
function points(entriesOfSeries, x, y) {
    return entriesOfSeries.map((entry) => ({x: x(entry), y: y(entry)})).sort((a, b) => a.x - b.x);
}

function latencyBySize(entriesOfKind, depth) {
    const chosen = entriesOfKind.filter((entry) => depthText(entry) === depth);
    return distinct(chosen.map((entry) => entry.series)).flatMap((series) => PERCENTILES.map((percentile) =>
        dataset(series, `${series} ${PERCENTILE_NAMES[percentile]}`,
            points(chosen.filter((entry) => entry.series === series), (entry) => entry.case.size, (entry) => entry.latency_ns[percentile] / 1000),
            {borderDash: DASHES[percentile]})));
}

function bandwidthBySize(entriesOfKind, depth) {
    const chosen = entriesOfKind.filter((entry) => depthText(entry) === depth);
    return distinct(chosen.map((entry) => entry.series)).map((series) =>
        dataset(series, series, points(chosen.filter((entry) => entry.series === series), (entry) => entry.case.size, (entry) => entry.bytes_per_s / 1e6)));
}

function bandwidthByDepth(entriesOfKind, size) {
    const chosen = entriesOfKind.filter((entry) => entry.case.size === size);
    const batches = distinct(chosen.map((entry) => entry.case.batch));
    return distinct(chosen.map((entry) => entry.series)).flatMap((series) => batches.map((batch, i) =>
        dataset(series, series + (batch > 1 ? `, batch ${batch}` : ""),
            points(chosen.filter((entry) => entry.series === series && entry.case.batch === batch), (entry) => entry.case.queue_depth, (entry) => entry.bytes_per_s / 1e6),
            {borderDash: i === 0 ? [] : [6, 4]})));
}

// Buckets of equal width on the logarithmic axis, 24 to each factor of ten.
function distribution(entry) {
    const counts = new Map();
    const total = entry.histogram_ns.reduce((sum, [, count]) => sum + count, 0);
    entry.histogram_ns.forEach(([value, count]) => {
        const bucket = Math.round(Math.log10(Math.max(value, 1)) * 24);
        counts.set(bucket, (counts.get(bucket) || 0) + count);
    });
    const [low, high] = [Math.min(...counts.keys()) - 1, Math.max(...counts.keys()) + 1];
    return Array.from({length: high - low + 1}, (_, i) =>
        ({x: 10 ** ((low + i) / 24) / 1000, y: (counts.get(low + i) || 0) / total * 100}));
}

function tail(entry) {
    const total = entry.histogram_ns.reduce((sum, [, count]) => sum + count, 0);
    let left = total;
    return entry.histogram_ns.map(([value, count]) => {
        left -= count;
        return {x: value / 1000, y: left / total * 100};
    }).filter((point) => point.y > 0);
}

function ofEach(entriesOfKind, size, depth, values, more) {
    return entriesOfKind.filter((entry) => entry.case.size === size && depthText(entry) === depth)
        .map((entry) => dataset(entry.series, entry.series, values(entry), {pointRadius: 0, ...more}));
}

function choice(parent, title, texts, chosen, onChange) {
    if (texts.length < 2) {
        return;
    }
    const label = element("label", `${title} `, parent);
    const select = element("select", "", label);
    texts.forEach((text, i) => element("option", text, select).value = i);
    select.value = chosen;
    select.addEventListener("change", () => onChange(Number(select.value)));
}

// The section of one kind of operation. Size and depth, where a chart has no axis for them, are chosen above it.
function section(title, number) {
    const mine = all.filter((entry) => kind(entry) === title);
    const sizes = ascending(mine.map((entry) => entry.case.size));
    const depths = distinct(mine.map((entry) => entry.case.queue_depth)).length > 0 ? distinct(mine.map(depthText)) : [];
    const queueDepths = ascending(mine.map((entry) => entry.case.queue_depth));
    const part = element("section", "", document.getElementById("sections"));
    element("h2", title, part);
    const controls = element("p", "", part);
    const grid = element("div", "", part);
    grid.className = "charts";
    const at = {size: Math.floor(sizes.length / 2), low: 0, high: depths.length - 1};
    const definitions = [
        ["latency", "Latency by size", () => depths[at.low], axes.size(sizes), axes.latency(), () => latencyBySize(mine, depths[at.low])],
        ["bandwidth", "Bandwidth by size", () => depths[at.high], axes.size(sizes), axes.bandwidth(), () => bandwidthBySize(mine, depths[at.high])],
        ["depth", "Bandwidth by queue depth", () => sizeText(sizes[at.size]), axes.depth(queueDepths), axes.bandwidth(), () => bandwidthByDepth(mine, sizes[at.size])],
        ["distribution", "Distribution of latency", () => `${sizeText(sizes[at.size])}, ${depths[at.low]}`, axes.latency(), axes.share(),
            () => ofEach(mine, sizes[at.size], depths[at.low], distribution, {stepped: "middle"})],
        ["tail", "Tail of latency", () => `${sizeText(sizes[at.size])}, ${depths[at.low]}`, axes.latency(), axes.slower(),
            () => ofEach(mine, sizes[at.size], depths[at.low], tail, {})],
    ];
    const drawn = definitions.map(([name, caption, remark, x, y, data]) =>
        ({...draw(grid, `${name}-${number}`, caption, remark(), x, y, data()), remark, data}));
    const redraw = () => drawn.forEach(({chart, small, remark, data}) => {
        chart.data.datasets = data();
        small.textContent = remark();
        paint(chart);
    });
    sections.push({redraw, charts: drawn.map(({chart}) => chart)});
    choice(controls, "Size in the charts without sizes:", sizes.map(sizeText), at.size, (i) => { at.size = i; redraw(); });
    choice(controls, "Latency at:", depths, at.low, (i) => { at.low = i; redraw(); });
    choice(controls, "Bandwidth at:", depths, at.high, (i) => { at.high = i; redraw(); });
}

// In print the page's layout is known too late for the charts to follow it: they get a size here, and are scaled.
function repaint(forPrint) {
    printing = forPrint;
    sections.forEach(({redraw, charts}) => {
        charts.forEach((chart) => {
            chart.options.devicePixelRatio = forPrint ? PRINTED.devicePixelRatio : undefined;
            chart.resize(...(forPrint ? [PRINTED.width, heightFor(chart.data.datasets)] : []));
        });
        redraw();
    });
}

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.font.size = 13;
describe();
distinct(all.map(kind)).forEach(section);
comparison();
allFigures();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint(false));
addEventListener("beforeprint", () => repaint(true));
addEventListener("afterprint", () => repaint(false));
