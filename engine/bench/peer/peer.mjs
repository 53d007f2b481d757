// Times llama.cpp on one model file: prefill of some tokens, then greedy decoding behind them. Prints one line of JSON.
//   node peer.mjs FILE THREADS PROMPT_TOKENS DECODE_TOKENS
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

// The package lies in the ignored folder from which the script is called, not beside the script.
const entry = createRequire(process.cwd() + "/").resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));

const [file, threads, promptTokens, decodeTokens] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const llama = await getLlama({gpu: false, build: "never", progressLogs: false, maxThreads: threads, logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: promptTokens + decodeTokens + 32, batchSize: promptTokens, threads});
const sequence = context.getSequence();
const prompt = Array.from({length: promptTokens}, (_, i) => (i * 7919 + 13) % 900);

async function prefill(ids) {
	const start = performance.now();
	await sequence.evaluateWithoutGeneratingNewTokens(ids);
	return performance.now() - start;
}

async function decode(tokens) {
	const start = performance.now();
	let done = 0;
	for await (const _ of sequence.evaluate([7], {temperature: 0, yieldEogToken: true}))
		if (++done === tokens) break;
	return performance.now() - start;
}

await prefill(prompt.slice(0, 32)); // pages and threads wake up
await decode(2);
await sequence.clearHistory();
const prefillMS = await prefill(prompt);
const decodeMS = await decode(decodeTokens);
console.log(JSON.stringify({prefillPerS: promptTokens / prefillMS * 1000, decodePerS: decodeTokens / decodeMS * 1000}));
process.exit(0);
