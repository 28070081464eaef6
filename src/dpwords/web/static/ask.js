// Questions to the server on this machine. A question and its answer are a line of JSON, and after it the bytes of a
// file, if there is one. Answers to long questions begin with lines that tell the progress.

const SLOW = 1000; // milliseconds after which the page says that it is still computing
const TOKEN = document.querySelector('meta[name="dpwords-token"]').content;

/** A refusal by the server, with a text for the user: the rule, and what to do. */
export class Refusal extends Error {}

/**
 * The answer to one question: { values, content }. `file` is a File or Blob that goes with it; `progress` is called
 * with a number between 0 and 1; aborting `signal` ends the computation.
 */
export async function ask(task, values, { file = null, progress = null, signal = null } = {}) {
  const parts = [JSON.stringify(values), "\n"];
  if (file !== null) parts.push(file);
  let response;
  try {
    response = await fetch(`/ask/${task}`, {
      method: "POST",
      headers: { "x-dpwords-token": TOKEN, "content-type": "application/octet-stream" },
      body: new Blob(parts),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("the server does not answer: start dpwords serve again and reload the page");
  }
  if (response.status === 403) throw new Refusal(await response.text());
  return await readAnswer(response.body.getReader(), progress);
}

async function readAnswer(reader, progress) {
  let bytes = new Uint8Array(0);
  for (;;) {
    const end = bytes.indexOf(10);
    if (end >= 0) {
      const values = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
      bytes = bytes.subarray(end + 1);
      if (values.error !== undefined) throw new Refusal(values.error);
      if (values.progress === undefined) return { values, content: await rest(reader, bytes) };
      if (progress !== null) progress(values.progress);
      continue;
    }
    const { done, value } = await reader.read();
    if (done) throw new Refusal("the answer broke off: try again, or reload the page");
    bytes = joined([bytes, value]);
  }
}

async function rest(reader, first) {
  const parts = [first];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joined(parts);
    parts.push(value);
  }
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => { all.set(part, at); return at + part.length; }, 0);
  return all;
}

/** Do something that the server may refuse; `refused` takes the reason. What is aborted is no refusal. */
export async function attempt(action, refused) {
  try {
    await action();
  } catch (error) {
    if (error instanceof Refusal) refused(error.message);
    else if (error.name !== "AbortError") throw error;
  }
}

let slow = 0; // questions that take longer than usual

/** The same promise; while it takes long, the page says so. */
async function noticed(answer) {
  let late = 0;
  const count = (change) => { late += change; slow += change; document.getElementById("slow").hidden = slow === 0; };
  const timer = setTimeout(() => count(1), SLOW);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    count(-late);
  }
}

/**
 * A function that asks again whenever it is called, but never twice at the same time: while an answer is under way, only
 * the last call waits. `question` returns the arguments of `ask`, `answered` takes the answer, `refused` a text. A
 * question that is aborted has no answer, nor has one that is under way when the function's own `forget` is called.
 */
export function latest(question, answered, refused) {
  let running = false;
  let waiting = false;
  let forgotten = false;
  async function update() {
    if (running) { waiting = true; return; }
    running = true;
    do {
      waiting = forgotten = false;
      await attempt(async () => {
        const answer = await noticed(ask(...question()));
        if (!waiting && !forgotten) { refused(""); answered(answer.values); }
      }, (reason) => { if (!waiting && !forgotten) refused(reason); }).catch((error) => { running = false; throw error; });
    } while (waiting);
    running = false;
  }
  update.forget = () => { forgotten = true; };
  return update;
}
