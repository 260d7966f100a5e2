// undici's Pool with `request`, its fast interface: a connection for each request in flight, and as many loops, which
// make one request after the other. With --message: its WebSocket, one for each message under way. It takes the
// arguments of arguments.h and prints the report of statistics.h.
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import { createSecureContext } from 'node:tls'
import { parseArgs } from 'node:util'

// `import` does not look where NODE_PATH says.
const { Pool, WebSocket } = createRequire(import.meta.url)('undici')

const UNSUPPORTED = 2 // exit status
const text = { type: 'string' }
const flag = { type: 'boolean' }
const options = {
  warm: text, ca: text, out: text, upload: text, 'upload-stream': text, message: text, close: flag, resume: flag
}

function end (message, status) {
  console.error(`undicibench: ${message}`)
  process.exit(status)
}

function parse () {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const [url, total, concurrency] = positionals
    if (!concurrency) throw new Error('usage: URL TOTAL CONCURRENCY [options of arguments.h]')
    return { ...values, url: new URL(url), total: Number(total), concurrency: Number(concurrency) }
  } catch (error) {
    end(error.message, UNSUPPORTED)
  }
}

// MARK: Requests

const given = parse()
const pool = given.message ? undefined : new Pool(given.url.origin, {
  connections: given.concurrency,
  pipelining: given.close ? 0 : 1, // 0: a new connection for each request
  connect: {
    // One for all connections: with `ca` in its place each of them would parse the authorities again.
    secureContext: createSecureContext(given.ca ? { ca: readFileSync(given.ca) } : {}),
    maxCachedSessions: given.resume ? 100 : 0
  }
})

// So many zeroes: a body whose length shows at its end.
async function * zeroes (left) {
  const block = Buffer.alloc(65536)
  for (; left > 0; left -= block.length) yield left < block.length ? block.subarray(0, left) : block
}

const uploadSize = given.upload ? statSync(given.upload).size : Number(given['upload-stream'] ?? 0)

function request () {
  const path = given.url.pathname
  if (!uploadSize) return pool.request({ method: 'GET', path })
  if (!given.upload) return pool.request({ method: 'POST', path, body: zeroes(uploadSize) })
  const headers = { 'content-length': String(uploadSize) }
  return pool.request({ method: 'POST', path, headers, body: createReadStream(given.upload) })
}

// The bytes of the body that was received, or sent.
async function load () {
  const { statusCode, body } = await request()
  if (statusCode !== 200) throw new Error(`status ${statusCode}`)
  let received = 0
  if (given.out) {
    const file = createWriteStream(given.out)
    await pipeline(body, file)
    received = file.bytesWritten
  } else {
    for await (const chunk of body) received += chunk.length
  }
  return uploadSize || received
}

// MARK: Messages

const message = Uint8Array.from({ length: Number(given.message ?? 0) }, (_, index) => index * 31)
const sockets = []

function open () {
  const socket = new WebSocket(given.url)
  socket.binaryType = 'arraybuffer'
  socket.onerror = () => end('a WebSocket failed', 1)
  return new Promise(resolve => { socket.onopen = () => resolve(socket) })
}

// The bytes of the message that came back.
function echo (socket) {
  return new Promise(resolve => {
    socket.onmessage = ({ data }) => {
      if (data.byteLength !== message.length) end('not the message that was sent', 1)
      resolve(data.byteLength)
    }
    socket.send(message)
  })
}

// MARK: The run

// How long each request took in milliseconds, and the bytes of all bodies.
async function run (total) {
  const times = new Float64Array(total)
  let claimed = 0
  let bytes = 0
  async function loop (socket) {
    while (claimed < total) {
      const place = claimed++
      const began = performance.now()
      const loaded = await (socket ? echo(socket) : load()) // before the sum is read, which other loops change
      bytes += loaded
      times[place] = performance.now() - began
    }
  }
  await Promise.all(Array.from({ length: given.concurrency }, (_, index) => loop(sockets[index])))
  return { times, bytes }
}

// MARK: The report

function kilobytes (path, key) {
  return Number(new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))[1])
}

function rounded (value, decimals) {
  return Number(value.toFixed(decimals))
}

async function measure () {
  for (let count = 0; given.message && count < given.concurrency; count++) sockets.push(await open())
  await run(Number(given.warm ?? 0))
  const startRSS = kilobytes('/proc/self/smaps_rollup', 'Rss')
  const [startCPU, start] = [process.cpuUsage(), performance.now()]
  const { times, bytes } = await run(given.total)
  const [used, wall] = [process.cpuUsage(startCPU), (performance.now() - start) / 1e3]
  const [cpu, n] = [used.user + used.system, given.total]
  times.sort()
  const percentile = share => rounded(times[Math.floor(n * share)] * 1e3, 1)
  const report = {
    client: 'undicibench', n, rps: rounded(n / wall, 1), cpu_us_req: rounded(cpu / n, 3),
    p50_us: percentile(0.5), p99_us: percentile(0.99), p999_us: percentile(0.999),
    rss_kb: kilobytes('/proc/self/status', 'VmHWM'), rss_start_kb: startRSS, wall_s: rounded(wall, 4), bytes
  }
  if (bytes / n >= 1 << 20) {
    report.mb_s = rounded(bytes / wall / 1e6, 1)
    report.cpu_s_gb = rounded(cpu * 1e3 / bytes, 4)
  }
  console.log(JSON.stringify(report))
}

await measure().catch(error => end(`a request failed: ${error.message}`, 1))
for (const socket of sockets) socket.close()
await pool?.destroy()
