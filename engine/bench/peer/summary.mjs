// Prints min, median and max of the runs in a file of JSON lines, and the ratios ours ÷ peer.
import {readFileSync} from "node:fs";

const runs = readFileSync(process.argv[2], "utf8").trim().split("\n").map(JSON.parse);
const spread = (values) => {
	const sorted = [...values].sort((a, b) => a - b);
	return [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]];
};
const show = (name, values, digits) =>
	console.log("  " + name.padEnd(28) + spread(values).map((v) => v.toFixed(digits).padStart(9)).join(""));

console.log("  " + "".padEnd(28) + ["min", "median", "max"].map((t) => t.padStart(9)).join(""));
for (const [figure, name] of [["decodePerS", "decode, tokens/s"], ["prefillPerS", "prefill, tokens/s"]]) {
	show(name + ", llama.cpp", runs.map((r) => r.peer[figure]), 1);
	show(name + ", specula", runs.map((r) => r.ours[figure]), 1);
	show("ratio", runs.map((r) => r.ours[figure] / r.peer[figure]), 2);
}
