// Prints min, median and max of the runs in a file of JSON lines, and in how many of them each aim was reached.
//   node summary.mjs LOG TYPE    TYPE of the weights, or "pair" for runs of the demo pair
import {readFileSync} from "node:fs";

const [log, type] = process.argv.slice(2);
const runs = readFileSync(log, "utf8").trim().split("\n").map(JSON.parse);
const spread = (values) => {
	const sorted = [...values].sort((a, b) => a - b);
	return [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]];
};

// show prints a line; an aim is "≥ x" or "≤ x".
function show(name, of, digits, aim = "") {
	const values = runs.map(of);
	const figure = Number(aim.slice(1));
	const reached = values.filter((v) => (aim[0] === "≥" ? v >= figure : v <= figure)).length;
	console.log("  " + name.padEnd(34) + spread(values).map((v) => v.toFixed(digits).padStart(9)).join("") +
		(aim ? `   ${aim}: ${reached} of ${values.length}` : ""));
}

const rows = (m) => (r) => r.kernels.verifications.find((v) => v.m === m).ratio;

// largest is the product of one row with the largest matrix, as a share of how fast memory can be read.
function ofReading(r) {
	const single = r.kernels.products.filter((p) => p.m === 1);
	const largest = single.reduce((a, b) => (b.rows * b.cols > a.rows * a.cols ? b : a));
	return 100 * largest.bytesPerS / r.kernels.ceilings.readBytesPerS;
}

function shape() {
	const aims = {Q8_0: {prefill: "≥ 1.5", reading: "≥ 80"}, Q4_K: {prefill: "≥ 1.2"}, F16: {prefill: "≥ 1.2", reading: "≥ 80"}}[type] ?? {};
	for (const [figure, name, aim] of [["decodePerS", "decode", "≥ 1.3"], ["prefillPerS", "prefill", aims.prefill]]) {
		show(name + ", tokens/s, llama.cpp", (r) => r.peer[figure], 1);
		show(name + ", tokens/s, specula", (r) => r.ours[figure], 1);
		show("  ratio", (r) => r.ours[figure] / r.peer[figure], 2, aim);
	}
	show("5 rows to one", rows(5), 2, "≤ 1.25");
	show("9 rows to one", rows(9), 2, "≤ 1.5");
	show("one row, % of reading", ofReading, 0, aims.reading);
	if (runs[0].ours.residentBytes)
		show("resident to allowed memory", (r) => r.ours.residentBytes / (r.ours.weightBytes + r.ours.cacheBytes + (64 << 20)), 2, "≤ 1.1");
}

function pair() {
	show("5 rows to one", rows(5), 2, "≤ 1.6");
	show("9 rows to one", rows(9), 2, "≤ 2.2");
	const gain = (name, greedy, sampled, hot) => {
		show("texts the same, of 50", (r) => r[name].same, 0, "≥ 50");
		if (greedy) show(`${name}, temperature 0`, (r) => r[name].greedy.speedup.value, 3, greedy);
		show(`${name}, temperature ${hot ? 1.5 : 0.7}`, (r) => r[name].sampled.speedup.value, 3, sampled);
	};
	gain("draft", "≥ 1.3", "≥ 1.2");
	gain("hot", "", "≥ 0.99", true);
	gain("ngram", "≥ 0.99", "≥ 0.99");
	gain("hostile", "≥ 0.99", "≥ 0.99");
	gain("hostileHot", "", "≥ 0.99", true);
}

console.log("  " + "".padEnd(34) + ["min", "median", "max"].map((t) => t.padStart(9)).join("") + "   aim: reached in");
(type === "pair" ? pair : shape)();
