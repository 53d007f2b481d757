// Asks llama.cpp what a model file says after the prompts of a reference file, and compares token by token.
//   node reference.mjs FILE.gguf REFERENCE.json target|draft
// Where the scores of the reference's two best tokens differ by less than NEAR, another choice counts as a near tie, and
// the case ends there.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const NEAR = 0.02;
const entry = createRequire(process.cwd() + "/").resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));
const [file, referencePath, which] = process.argv.slice(2);
const {cases} = JSON.parse(readFileSync(referencePath, "utf8"));
const llama = await getLlama({gpu: false, build: "never", progressLogs: false, maxThreads: 1, logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: 512, threads: 1});
const sequence = context.getSequence();

let equal = 0, ties = 0, wrong = 0, tokenized = 0;
for (const one of cases) {
	if (JSON.stringify(model.tokenize(one.prompt)) === JSON.stringify(one.text_ids)) tokenized++;
	const {greedy, top1_minus_top2: gaps} = one[which];
	await sequence.clearHistory();
	let at = 0;
	for await (const token of sequence.evaluate(one.ids, {temperature: 0, yieldEogToken: true})) {
		if (token === greedy[at]) equal++;
		else if (gaps[at] < NEAR) { ties++; break; }
		else { wrong++; console.log(`${which}, ${JSON.stringify(one.prompt)}, token ${at}: llama.cpp says ${token}, the reference ${greedy[at]}, ahead by ${gaps[at]}`); break; }
		if (++at === greedy.length) break;
	}
}
console.log(`${which}: ${equal} tokens equal, ${ties} near ties, ${wrong} wrong; ${tokenized} of ${cases.length} prompts tokenized alike`);
process.exit(wrong ? 1 : 0);
