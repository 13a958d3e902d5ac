// A real client of each era calls everything that `sextant mcp` offers, over stdio and over HTTP.
//
//   node clients.mjs PROGRAM FOLDER SOURCES    FOLDER is empty; files are made in it
//
// The clients check what comes: the envelope of every message, and each tool's structured content
// against its output schema. Here it is checked that the answers are answers, that progress and
// cancelling work, that nothing outside the folder is read and that no secret of the environment
// gets out. Prints a line a check that fails, and how many there were.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import Ajv2020 from "ajv/dist/2020.js";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [program, folder, sources] = process.argv.slice(2);
const SECRET = "sk-planted-0123456789abcdef0123456789abcdef";
let checks = 0;
let failures = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) {
    failures += 1;
    console.log(`  failed: ${what}`);
  }
}

// A profile of two steps, as PyTorch writes it.
function profile() {
  const events = [];
  const span = (cat, name, tid, ts, dur, args = {}) =>
    events.push({ ph: "X", cat, name, pid: tid === 7 ? 0 : 100, tid, ts, dur, args });
  for (let step = 0; step < 4; step += 1) {
    const at = step * 10000;
    span("user_annotation", `ProfilerStep#${step}`, 1, at, 10000);
    span("cuda_runtime", "cudaLaunchKernel", 1, at + 100, 10, { correlation: step + 1 });
    span("kernel", "gemm_bf16_128x128", 7, at + 500, 6000, { correlation: step + 1, stream: 7, device: 0 });
  }
  return JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3" }], traceEvents: events });
}

function makeFiles() {
  const root = join(folder, "root");
  mkdirSync(root);
  writeFileSync(join(root, "run.pt.trace.json"), profile());
  writeFileSync(
    join(root, "train.sh"),
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 " +
      "--ffn-hidden-size 14336 --group-query-attention --num-query-groups 8 --swiglu --seq-length 4096 " +
      "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 --tensor-model-parallel-size 2 --bf16\n",
  );
  copyFileSync(join(sources, "data/measured/h200_memory.csv"), join(root, "memory.csv"));
  writeFileSync(join(folder, "outside.json"), '{"outside": "must not be read"}');
  symlinkSync(join(folder, "outside.json"), join(root, "link.json"));
  return root;
}

const root = makeFiles();
const environment = { PATH: process.env.PATH, HOME: folder, USER: "tester", OPENAI_API_KEY: SECRET, SEXTANT_TOKEN: SECRET };
const job = { model: "llama-3.1-8b", on: "8xh100-sxm" };
const laid = { ...job, layout: "tp=2,mbs=1", gbs: 64 };

// What each tool is asked, and a word its answer has.
const CALLS = {
  model: [{ model: "llama-3.1-8b" }, "parameters"],
  cluster: [{ cluster: "8xh100-sxm" }, "NVLink"],
  memory: [laid, "GiB"],
  plan: [{ ...job, gbs: 64, fix: "pp=1,tp=2", top: 1 }, "step"],
  estimate: [laid, "step"],
  compare: [{ ...job, gbs: 64, on: ["8xh100-sxm"], layout: ["tp=2", "tp=4"] }, "tp"],
  explain: [{ topic: "KV-HEADS-TP" }, "kv"],
  traffic: [laid, "tp"],
  check: [{ file: ["train.sh"] }, "tp"],
  emit: [laid, "tensor-model-parallel-size"],
  summarize: [{ trace: ["run.pt.trace.json"] }, "run.sxs"],
  diagnose: [{ trace: ["run.pt.trace.json"] }, "step"],
  diff: [{ a: "run.pt.trace.json", b: "run.pt.trace.json" }, "step"],
  tune: [{ ...laid, "no-planner": true }, "llama"],
  validate: [{ table: ["memory.csv"] }, "memory"],
  kb_search: [{ what: ["exposed tensor parallel communication"], limit: 3 }, "tp"],
  verify_proposal: [{ ...laid, change: "tp=4", claim: ["step lower"] }, ""],
  kb_add: [{ title: "A note of the tests", advice: "Try tp=2 first.", source: "the tests" }, "note"],
};
const textOf = (result) => result.content.filter((one) => one.type === "text").map((one) => one.text).join("\n");

// More of what a tool can answer, for the fields of its documents.
const OTHERS = {
  memory: [{ model: "llama-3.1-405b", on: "8xh100-sxm" }, { ...laid, layout: "tp=3" }],
  plan: [{ model: "llama-3.1-405b", on: "8xh100-sxm" }, { ...job, gbs: 64, fix: "pp=1,tp=2", "why-not": "tp=4", tokens: "1T" }],
  estimate: [
    { ...laid, layout: "tp=3" },
    { ...laid, sweep: "mbs=1,2" },
    { ...laid, tokens: "1T", price: 2, verbose: true },
    { on: "8xh100-sxm", collective: "all_reduce" },
    { on: "8xh100-sxm", collective: "all_reduce", sweep: "bytes" },
  ],
  explain: [{ topic: "input-bound" }, { topic: "memory", ...laid }],
  traffic: [{ ...laid, layout: "tp=3" }],
  emit: [{ ...laid, layout: "tp=3" }, { diff: "train.sh", on: "8xh100-sxm", layout: "tp=4" }],
  diagnose: [{ trace: ["run.pt.trace.json"], ...laid, verbose: true }],
  tune: [{ trace: ["run.pt.trace.json"] }, { ...job, idea: ["tp=4"], "no-planner": true }],
  kb_search: [{ what: ["recomputation"], kind: "win" }],
  verify_proposal: [{ ...laid, change: "tp=3", cite: ["kb:nothing"] }],
};

// The schema with nothing allowed that it does not name, wherever it names members.
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== "object") return schema;
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return schema.properties ? { ...all, additionalProperties: false } : all;
}

// A tool's schema says every field that its answers have, to a validator that knows nothing else.
async function sayEveryField(client, label) {
  const { tools } = await client.listTools();
  for (const tool of tools.filter((one) => one.name !== "kb_add")) {
    const validate = new Ajv2020({ strict: false }).compile(closed(tool.outputSchema));
    for (const given of [CALLS[tool.name][0], ...(OTHERS[tool.name] ?? [])]) {
      const result = await client.callTool({ name: tool.name, arguments: given });
      const holds = !result.isError && validate(result.structuredContent);
      check(holds, `${label}: ${tool.name} ${JSON.stringify(given)}: ${JSON.stringify(validate.errors ?? textOf(result))}`);
    }
    check(!validate({ outcome: "fine", answer: { schema: "sextant.text/1", nonsense: 1 }, notes: [], handle: "h" }), `${label}: ${tool.name}: the closed schema can fail`);
  }
}

async function callEverything(client, label) {
  const { tools } = await client.listTools();
  check(tools.length === Object.keys(CALLS).length, `${label}: ${tools.length} tools are listed`);
  for (const tool of tools) {
    const [given, word] = CALLS[tool.name] ?? [{}, ""];
    // An id is given once.
    const own = tool.name === "kb_add" ? { ...given, title: `${given.title}, ${label}` } : given;
    const result = await client.callTool({ name: tool.name, arguments: own });
    check(!result.isError, `${label}: ${tool.name}: ${textOf(result).slice(0, 300)}`);
    check(textOf(result).toLowerCase().includes(word.toLowerCase()), `${label}: ${tool.name} says '${word}': ${textOf(result).slice(0, 200)}`);
    check(JSON.stringify(result).length < 24000, `${label}: ${tool.name} fits a context window`);
    check(result.isError || result.structuredContent.answer.schema.startsWith("sextant."), `${label}: ${tool.name} has a document`);
    check(!JSON.stringify(result).includes(SECRET), `${label}: ${tool.name} keeps secrets`);
  }
}

async function readEverything(client, label) {
  const { resources } = await client.listResources();
  for (const resource of resources) {
    const { contents } = await client.readResource({ uri: resource.uri });
    check(contents[0].text.length > 100, `${label}: ${resource.uri}`);
  }
  const whole = await client.callTool({ name: "explain", arguments: { topic: "step", ...laid } });
  const left = whole.structuredContent.left_out[0];
  const part = await client.callTool({ name: "explain", arguments: { topic: "step", ...laid, detail: left.at } });
  check(!part.isError && part.structuredContent.answer.at === left.at, `${label}: detail of an answer`);
  const link = whole.content.find((one) => one.type === "resource_link");
  const { contents } = await client.readResource({ uri: link.uri });
  check(JSON.parse(contents[0].text).schema === "sextant.explain/1", `${label}: an answer as a resource`);
  for (const [tool, given, type] of [
    ["diagnose", { trace: ["run.pt.trace.json"], report: "report.html" }, "text/html"],
    ["traffic", { ...laid, "heat-map": "who.png" }, "image/png"],
  ]) {
    const result = await client.callTool({ name: tool, arguments: given });
    const [file] = result.structuredContent?.files ?? [{}];
    const got = await client.readResource({ uri: file.uri });
    const size = got.contents[0].blob ? Buffer.from(got.contents[0].blob, "base64").length : Buffer.byteLength(got.contents[0].text);
    check(got.contents[0].mimeType === type && size === file.bytes, `${label}: ${file.name} as a resource`);
    check(!existsSync(join(root, file.name)), `${label}: ${file.name} is not written`);
  }
  const { prompts } = await client.listPrompts();
  check(prompts.length === 2, `${label}: prompts`);
  const prompt = await client.getPrompt({ name: "plan_job", arguments: { model: "llama-3.1-8b", on: "8xh100-sxm" } });
  check(prompt.messages[0].content.text.includes("llama-3.1-8b"), `${label}: a prompt takes its arguments`);
  const words = await client.complete({ ref: { type: "ref/prompt", name: "plan_job" }, argument: { name: "model", value: "llama-3.1" } });
  check(words.completion.values.includes("llama-3.1-8b"), `${label}: completion`);
}

async function stayInside(client, label) {
  for (const path of [join(folder, "outside.json"), "../outside.json", "link.json", "/etc/passwd", "-"]) {
    const result = await client.callTool({ name: "check", arguments: { file: [path] } });
    check(result.isError && !textOf(result).includes("must not"), `${label}: ${path} is not read`);
  }
}

// A search that goes on for long enough to be told of and to be stopped.
async function progressAndCancel(client, label, kind) {
  const long = { model: "llama-3.1-405b", on: "1024xh100-sxm" };
  const controller = new AbortController();
  let told = 0;
  const onprogress = () => {
    told += 1;
    controller.abort("enough");
  };
  const options = { signal: controller.signal, onprogress, timeout: 60000 };
  const call = { name: "plan", arguments: long };
  const asked = kind === "old" ? client.callTool(call, undefined, options) : client.callTool(call, options);
  const outcome = await asked.then(() => "answered", () => "cancelled");
  check(outcome === "cancelled" && told > 0, `${label}: progress is told (${told}) and a call cancelled (${outcome})`);
  const after = await client.callTool({ name: "model", arguments: { model: "llama-3.1-8b" } });
  check(!after.isError, `${label}: answers after a cancelled call`);
}

// Nothing until a level is asked for, then what is of it or above.
async function logged(client, label) {
  const told = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void told.push(params));
  const ask = () => client.callTool({ name: "model", arguments: { model: "llama-3.1-8b" } });
  await ask();
  check(told.length === 0, `${label}: nothing is logged before a level is set`);
  await client.setLoggingLevel("info");
  await ask();
  check(told.some((one) => one.level === "info" && one.data.includes("model")), `${label}: a call is logged: ${JSON.stringify(told)}`);
  check(told.every((one) => one.level !== "debug"), `${label}: nothing below the level is logged`);
  await client.setLoggingLevel("emergency");
}

function newClient(version) {
  return new NewClient({ name: "sextant-tests", version: "1" }, { versionNegotiation: { mode: version } });
}

async function run(kind, label, client, transport) {
  await client.connect(transport);
  await callEverything(client, label);
  await readEverything(client, label);
  await stayInside(client, label);
  if (kind === "old") await logged(client, label);
  if (label === "new client, stdio") await sayEveryField(client, label);
  await progressAndCancel(client, label, kind);
  await client.close();
}

const ARGUMENTS = ["mcp", "--root", root, "--allow-write"];

async function overStdio(kind) {
  const parameters = { command: program, args: ARGUMENTS, env: environment, stderr: "pipe" };
  const label = `${kind} client, stdio`;
  const transport = kind === "old" ? new OldStdio(parameters) : new NewStdio(parameters);
  const client = kind === "old" ? new OldClient({ name: "sextant-tests", version: "1" }) : newClient({ pin: "2026-07-28" });
  await run(kind, label, client, transport);
}

async function listening() {
  const child = spawn(program, [...ARGUMENTS, "--http", "0"], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const found = said.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    child.on("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
  return { child, url, said: () => said };
}

async function overHttp() {
  const { child, url, said } = await listening();
  for (const kind of ["new", "old"]) {
    const Transport = kind === "old" ? OldHttp : NewHttp;
    const client = kind === "old" ? new OldClient({ name: "sextant-tests", version: "1" }) : newClient({ pin: "2026-07-28" });
    await run(kind, `${kind} client, HTTP`, client, new Transport(new URL(url)));
  }
  const foreign = await fetch(url, { method: "POST", headers: { Origin: "https://evil.example.com" }, body: "{}" });
  check(foreign.status === 403, `HTTP: a foreign page is refused (${foreign.status})`);
  const got = await fetch(url);
  check(got.status === 405, `HTTP: there is nothing to GET (${got.status})`);
  const large = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: "x".repeat(2 ** 21) });
  check(large.status === 400 || large.status === 413, `HTTP: a message that is too long is refused (${large.status})`);
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  child.kill("SIGTERM");
  check((await ended) === 0, "HTTP: ends well when it is asked to");
  check(!said().includes(SECRET), "HTTP: keeps secrets out of what it prints");
}

try {
  for (const part of [() => overStdio("new"), () => overStdio("old"), overHttp]) {
    await part();
  }
} catch (error) {
  check(false, error.stack);
}
console.log(`  clients: ${checks} checks, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
