// SPDX-License-Identifier: Apache-2.0
/**
 * The floor for the start and for applying a change, in bare Node.js. `watch.mjs TLS_DIR URL NODE`
 * lists a Node and watches it. With one more argument (JSON) it watches a ConfigMap instead; for
 * each event it makes the data durable with as many fsyncs as the agent, and starts the one
 * command.
 */
import { spawn } from 'node:child_process'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { dirname, join } from 'node:path'

const [tlsDir, url, nodeName, applyText] = process.argv.slice(2)
const pem = (name) => readFileSync(join(tlsDir, `${name}.pem`))
const agent = new Agent({ keepAlive: true, ca: pem('ca'), cert: pem('cert'), key: pem('key') })
const apply = applyText === undefined ? undefined : JSON.parse(applyText)
const collection = apply === undefined ? '/api/v1/nodes' : `/api/v1/namespaces/${apply.namespace}/configmaps`
const selector = `fieldSelector=metadata.name%3D${apply === undefined ? nodeName : apply.name}`

get(`${url}${collection}?${selector}`, { agent }, (response) => {
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk) => {
    text += chunk
  })
  response.on('end', () => watch(JSON.parse(text).metadata.resourceVersion))
})

function watch(resourceVersion) {
  get(`${url}${collection}?${selector}&watch=true&resourceVersion=${resourceVersion}&timeoutSeconds=3600`, { agent }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk) => {
      text += chunk
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
        const event = JSON.parse(text.slice(0, end))
        text = text.slice(end + 1)
        if (apply !== undefined && event.type === 'MODIFIED') save(event.object)
      }
    })
  })
}

function save({ metadata, data }) {
  const { dir, systemctl, unit, fsyncs } = apply
  // A checkpoint: its file, its directory, and the parent directory.
  const checkpoint = join(dir, metadata.resourceVersion)
  mkdirSync(checkpoint, { recursive: true })
  write(join(checkpoint, 'kubelet'), data.kubelet)
  syncDirectory(checkpoint)
  syncDirectory(dir)
  // Then the records: each a file and its directory.
  for (let left = fsyncs - 3; left > 0; left -= 2) {
    const record = join(dir, `record-${left}`)
    write(record, metadata.resourceVersion)
    if (left > 1) syncDirectory(dirname(record))
  }
  spawn(systemctl, ['try-restart', '--no-block', unit], { stdio: 'ignore' })
}

function write(path, text) {
  const descriptor = openSync(`${path}.new`, 'w', 0o600)
  writeSync(descriptor, text)
  fsyncSync(descriptor)
  closeSync(descriptor)
  renameSync(`${path}.new`, path)
}

function syncDirectory(path) {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
