// SPDX-License-Identifier: Apache-2.0
//
// Reads event files with code and message definitions of others: npm's `tfrecord` for the
// records and their checksums, `protobufjs` for messages, as TensorFlow defines them in
// `api.proto` of its package tfjs-node. `script/bootstrap test` installs them.
//
//   node read_with_npm.js MODULES FILE     prints {"scalars", "histograms", "texts", "nodes"}
//
// Only Event itself is not in api.proto; three of its fields are named here.

const path = require("path");
const [modules, file] = process.argv.slice(2);
const load = (name) => require(path.join(modules, "node_modules", name));
const { RecordReader } = load("tfrecord/lib/record_reader");
const protobuf = load("protobufjs");

const definitions = protobuf.loadSync(path.join(modules, "api.proto"));
const GraphDef = definitions.lookupType("tensorflow.GraphDef");
const Event = protobuf
  .parse(
    `syntax = "proto3"; package events; import "api.proto";
     message Event { int64 step = 2; bytes graph_def = 4; tensorflow.Summary summary = 5; }`,
    definitions
  )
  .root.lookupType("events.Event");

const found = { records: 0, scalars: [], histograms: [], texts: [], nodes: [] };

function addValue(step, value) {
  if (value.value === "simpleValue") found.scalars.push([value.tag, step, value.simpleValue]);
  if (value.value === "histo") {
    found.histograms.push([value.tag, step, value.histo.num, value.histo.bucket]);
  }
  const plugin = value.metadata ? value.metadata.pluginData.pluginName : "";
  if (plugin === "text") found.texts.push([value.tag, Buffer.from(value.tensor.stringVal[0]).toString()]);
}

function addNode(node) {
  const shape = node.attr._output_shapes.list.shape[0];
  found.nodes.push([node.name, node.op, node.input, shape.dim.map((dim) => Number(dim.size))]);
}

async function main() {
  const reader = await RecordReader.create(file);
  for (let data; (data = await reader.readRecord()) !== null; ++found.records) {
    const event = Event.decode(data.slice());
    if (event.summary) event.summary.value.forEach((value) => addValue(Number(event.step), value));
    if (event.graphDef.length > 0) GraphDef.decode(event.graphDef).node.forEach(addNode);
  }
  console.log(JSON.stringify(found));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
