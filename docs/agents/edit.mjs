// node edit.mjs FILE INSTRUCTION: lets plgd rewrite a file, and prints the change. Needs Node and plgd, no package.
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const giveUp = (error) => {
  console.error(error.message);
  process.exit(1);
};
const main = async (file, instruction) => {
  if (!file || !instruction) throw new Error("usage: node edit.mjs FILE INSTRUCTION");
  execFileSync("plgd", ["start"]); // unless it runs
  const socket = connect(JSON.parse(execFileSync("plgd", ["rpc", "status"])).socket);
  const waiting = new Map();
  const ask = (id, method, params) => {
    socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  };
  createInterface({ input: socket }).on("line", (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === "edit/progress") console.error(`${params.stage} ${Math.round(params.percent)} %`);
    else if (error) waiting.get(id)?.reject(new Error(error.message));
    else waiting.get(id)?.resolve(result);
  });
  socket.on("error", giveUp).on("end", () => giveUp(new Error("The daemon went away.")));
  await ask(1, "hello", { protocol: 1, version: "0.1.0", client: "edit.mjs" });
  const edit = await ask(2, "edit", { path: resolve(file), instruction, mode: "apply" });
  console.log([edit.status, ...edit.warnings, edit.diff].join("\n"));
  socket.destroy();
};
main(...process.argv.slice(2)).catch(giveUp);
