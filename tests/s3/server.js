// SPDX-License-Identifier: Apache-2.0
//
// s3rver behind a door that does what s3rver leaves out: it verifies signatures of version
// 4 (with aws4, an independent signer), payload hashes and Content-MD5, and takes aborts
// of multipart uploads. Requests reach s3rver only when whole.
//
//   node server.js MODULES FOLDER BUCKET [KEY CERTIFICATE]     prints "listening PORT"

'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const https = require('https');
const path = require('path');

const [modules, folder, bucket, key, certificate] = process.argv.slice(2);
const load = name => require(path.join(modules, 'node_modules', name));
const aws4 = load('aws4');
const S3rver = load('s3rver');
const keys = {accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER'};

const digest = (kind, body, form) => crypto.createHash(kind).update(body).digest(form);

/** {Credential, SignedHeaders, Signature} of an Authorization header. */
function parts(authorization) {
  const fields = authorization.replace(/^AWS4-HMAC-SHA256 /, '').split(/,\s*/);
  return Object.fromEntries(fields.map(field => field.split(/=(.*)/).slice(0, 2)));
}

/** The signature that this request should have. */
function signature(request, given) {
  const [, , region, service] = given.Credential.split('/');
  const headers = {};
  for (const name of given.SignedHeaders.split(';')) headers[name] = request.headers[name];
  const signed = aws4.sign(
      {method: request.method, path: request.url, headers, region, service, host: headers.host},
      keys);
  return parts(signed.headers.Authorization);
}

/** [status, code] of what is wrong with a request, or undefined. */
function fault(request, body) {
  if (!request.headers.authorization) return [403, 'AccessDenied'];
  const given = parts(request.headers.authorization);
  if (given.Credential.split('/')[0] !== keys.accessKeyId) return [403, 'InvalidAccessKeyId'];
  for (const name of Object.keys(request.headers)) {
    const must = name === 'host' || name.startsWith('x-amz-');
    if (must && !given.SignedHeaders.split(';').includes(name)) return [403, 'AccessDenied'];
  }
  const expected = signature(request, given);
  if (expected.Signature !== given.Signature) return [403, 'SignatureDoesNotMatch'];
  if (request.headers['x-amz-content-sha256'] !== digest('sha256', body, 'hex')) {
    return [400, 'XAmzContentSHA256Mismatch'];
  }
  const md5 = request.headers['content-md5'];
  if (request.method === 'PUT' && !md5) return [400, 'MissingContentMD5'];
  if (md5 && md5 !== digest('md5', body, 'base64')) return [400, 'BadDigest'];
  return undefined;
}

function refuse(answer, [status, code]) {
  answer.writeHead(status, {'Content-Type': 'application/xml'});
  answer.end(`<Error><Code>${code}</Code><Message>Refused for S3RVER.</Message></Error>`);
}

/** s3rver keeps parts here until the upload is complete. */
function abort(id, answer) {
  const parts = path.join(folder, bucket, '._S3rver_uploads', path.basename(id));
  fs.rmSync(parts, {recursive: true, force: true});
  answer.writeHead(204);
  answer.end();
}

function forward(port, request, body, answer) {
  const options = {port, host: '127.0.0.1', method: request.method, path: request.url,
                   headers: request.headers};
  const onward = http.request(options, reply => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => refuse(answer, [500, 'InternalError']));
  onward.end(body);
}

function serve(port, request, answer) {
  const pieces = [];
  request.on('data', piece => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    const wrong = fault(request, body);
    const upload = new URL(request.url, 'http://localhost').searchParams.get('uploadId');
    if (wrong) return refuse(answer, wrong);
    if (request.method === 'DELETE' && upload) return abort(upload, answer);
    return forward(port, request, body, answer);
  });
}

async function main() {
  const store = new S3rver({port: 0, address: '127.0.0.1', silent: true, directory: folder,
                            configureBuckets: [{name: bucket, configs: []}]});
  const {port} = await store.run();
  const listener = (request, answer) => serve(port, request, answer);
  const door = key
      ? https.createServer({key: fs.readFileSync(key), cert: fs.readFileSync(certificate)}, listener)
      : http.createServer(listener);
  door.listen(0, '127.0.0.1', () => console.log(`listening ${door.address().port}`));
}

main();
