// Records and replays the HTTP traffic of tests with wiretape. docs/drivers.md has the protocol.
//
//   import test from 'node:test'
//   import { cassette } from 'wiretape-node'
//
//   test('lists pets', cassette({ rules: { ignore: ['query:ts'] } }, async () => { … await fetch('https://example.com/pets') … }))
//
// What runs inside of the function goes through its session: fetch, undici's global dispatcher, and node:http and node:https without an agent
// of their own, as axios uses them. Two tests at once have a session each.
import { AsyncLocalStorage } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import path from 'node:path'
import tls from 'node:tls'

const PROTOCOL = '1'
const inside = new AsyncLocalStorage()
// Set by hooks that cannot wrap the test's function, as Vitest's.
let hooked = null
const current = () => inside.getStore() ?? hooked

export class WiretapeError extends Error {
  constructor(message, code) {
    super(`wiretape: ${message}`)
    this.name = 'WiretapeError'
    this.code = code
  }
}

// MARK: The server

let starting = null

/** `wiretape serve`, shared by all processes that start it alike; it ends with the last of them. */
function server() {
  return (starting ??= start())
}

async function start() {
  const program = process.env.WIRETAPE || 'wiretape'
  const folder = process.env.WIRETAPE_FOLDER || path.resolve('cassettes')
  const extra = (process.env.WIRETAPE_ARGUMENTS ?? '').split(' ').filter(Boolean)
  const child = spawn(program, ['serve', '--share', '--folder', folder, ...extra], { stdio: 'pipe', detached: true })
  const [line, problem] = await new Promise((resolve) => {
    let output = '', errors = ''
    child.on('error', (error) => resolve(['', `cannot run "${program}" (${error.code}): install wiretape, or name it with WIRETAPE`]))
    child.stdout.on('data', (bytes) => (output += bytes).endsWith('\n') && resolve([output]))
    child.stderr.on('data', (bytes) => (errors += bytes))
    child.on('close', () => resolve(['', errors.trim() || `"${program} serve" ended at once`]))
  })
  if (!line) throw new WiretapeError(problem, 'start')
  // The pipe to the server's input stays open as long as this process lives, and does not keep it alive.
  for (const part of [child, child.stdin, child.stdout, child.stderr]) part.unref()
  const ready = JSON.parse(line)
  if (ready.protocol !== PROTOCOL) {
    throw new WiretapeError(`"${program}" speaks protocol ${ready.protocol}, and this driver ${PROTOCOL}: update the older one`, 'protocol')
  }
  const [host, port] = splitHost(ready.proxy)
  return { ...ready, host, port, control: new URL(ready.control) }
}

function splitHost(address) {
  const colon = address.lastIndexOf(':')
  return [address.slice(0, colon).replace(/^\[|\]$/g, ''), Number(address.slice(colon + 1))]
}

const plain = new http.Agent()

async function ask(method, where, body) {
  const { control, token } = await server()
  const text = await new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Connection: 'close' }
    const request = inside.exit(() => http.request(new URL(where, control), { method, headers, agent: plain }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => resolve(text)).on('error', reject)
    }))
    request.on('error', (error) => reject(new WiretapeError(`wiretape serve does not answer (${error.message}): was its process ended?`, 'connection')))
    request.end(body && JSON.stringify(body))
  })
  const answer = JSON.parse(text)
  if (answer.error) throw new WiretapeError(answer.error.message, answer.error.code)
  return answer
}

// MARK: Sessions

/** One cassette that is recorded or replayed. `env` is for programs that the test starts. */
export class Session {
  static async open(order) {
    const mode = process.env.WIRETAPE_MODE || order.mode || (process.env.CI ? 'none' : 'once')
    const session = new Session()
    session.server = await server()
    session.answer = await ask('POST', '/sessions', { folders: true, owner: process.pid, ...order, mode })
    session.env = session.answer.env
    session.ca = readFileSync(session.answer.trust.bundle)
    session.credentials = new URL(session.answer.proxy)
    session.sockets = new Set()
    install()
    return session
  }

  /** Runs a function whose requests go through this session. */
  run(body) {
    return inside.run(this, body)
  }

  report() {
    return ask('GET', `/sessions/${this.answer.id}`)
  }

  /** Ends the session. After a failed test a new recording does not replace an older cassette. */
  async end(failed = false) {
    await this.dispatcher?.close()
    for (const socket of this.sockets) socket.destroy()
    return ask('DELETE', `/sessions/${this.answer.id}${failed ? '?failed=true' : ''}`)
  }

  /** A connection to a host through a CONNECT tunnel, in which HTTP and HTTPS are recorded alike. */
  connect({ host, port, servername, secure, ...options }, done) {
    const { username, password } = this.credentials
    const target = net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
    const socket = net.connect(this.server.port, this.server.host)
    const credentials = Buffer.from(`${username}:${password}`).toString('base64')
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`)
    this.sockets.add(socket)
    let head = Buffer.alloc(0)
    const fail = (error) => done(error, null)
    socket.once('error', fail)
    const read = () => {
      for (let part; (part = socket.read()) !== null; ) {
        head = Buffer.concat([head, part])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) continue
        socket.off('readable', read).off('error', fail)
        const status = head.subarray(0, head.indexOf('\r\n')).toString('latin1')
        if (!/ 200( |$)/.test(status)) return done(new WiretapeError(`the proxy refused ${target}: ${status}`, 'tunnel'), null)
        if (head.length > end + 4) socket.unshift(head.subarray(end + 4))
        if (!secure) return done(null, socket)
        // Without a name for an address: RFC 6066 forbids it.
        const name = servername || (net.isIP(host) ? undefined : host)
        const over = tls.connect({ ...options, socket, servername: name, host, ca: this.ca, ALPNProtocols: ['http/1.1'] })
        over.once('error', fail).once('secureConnect', () => {
          over.off('error', fail)
          done(null, over)
        })
        return
      }
    }
    socket.on('readable', read)
  }
}

/** The file of a test's cassette; different tests have different ones. */
export function cassetteName(file, name) {
  const parts = [...path.relative(process.cwd(), file).replace(/\.[cm]?[jt]sx?$/, '').split(path.sep), ...name.split(' > ')]
  return parts.map(escaped).join('/') + '.json'
}

function escaped(part) {
  const text = part.replace(/[/\\%:*?"<>|\x00-\x1f\x7f]|^\./g, (found) => '%' + found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'))
  if (Buffer.byteLength(text) <= 180) return text
  return Buffer.from(text).subarray(0, 150).toString().replace(/\uFFFD/g, '') + '~' + createHash('sha256').update(part).digest('hex').slice(0, 12)
}

const named = new Set()

/**
 * Wraps a test's function in a session. The test fails with the report if a request was not recorded.
 *
 * @param order members of `POST /sessions`; `cassette` is the name of the test unless given.
 */
export function cassette(order, body) {
  if (typeof order === 'function') [order, body] = [{}, order]
  return async function (context) {
    let { cassette: name } = order
    if (!name) {
      name = cassetteName(context?.filePath ?? process.argv[1], context?.fullName ?? context?.name ?? 'test')
      // Node before 22 does not tell the names of the suites around a test.
      if (named.has(name)) throw new WiretapeError(`two tests have the cassette "${name}": give one { cassette: 'NAME' }`, 'name')
      named.add(name)
    }
    if (!name.endsWith('.json')) name += '.json'
    const session = await Session.open({ label: context?.fullName ?? context?.name ?? name, ...order, cassette: name })
    let result, failure
    try {
      result = await session.run(() => body.call(this, context, session))
    } catch (error) {
      failure = error ?? new Error('the test failed')
    }
    await judge(await session.end(failure !== undefined), failure)
    return result
  }
}

export function judge(report, failure) {
  if (report.exit === 0) {
    if (failure !== undefined) throw failure
    return
  }
  const text = `${report.cassette}: ${report.text || `exit code ${report.exit}`}`
  if (failure === undefined) throw new WiretapeError(text, 'verdict')
  if (failure instanceof Error) failure.message += `\n\nwiretape: ${text}`
  throw failure
}

/** For frameworks with hooks instead of a wrapper: the session of all that runs until it is null again. */
export function hook(session) {
  hooked = session
}

// MARK: Clients

let installed = false

function install() {
  if (installed) return
  installed = true
  http.globalAgent = agent(http.Agent, false)
  https.globalAgent = agent(https.Agent, true)
  installDispatcher()
  guard()
}

/** An agent that asks at each request which session it belongs to. Without keep-alive: a connection belongs to one session. */
function agent(Agent, secure) {
  return new (class extends Agent {
    createConnection(options, done) {
      const session = current()
      if (!session || options.socketPath) return super.createConnection(options, done)
      session.connect({ ...options, secure, host: options.host ?? options.hostname, port: options.port ?? this.defaultPort }, done)
    }
  })({ keepAlive: false })
}

/** fetch has no import, but its first use leaves undici's dispatcher behind, whose class makes one for each session. */
function installDispatcher() {
  const place = Symbol.for('undici.globalDispatcher.1')
  if (!globalThis[place]) fetch('data:,').catch(() => {})
  const original = globalThis[place]
  const Agent = original.constructor
  const make = (session) => new Agent({
    connect: ({ hostname, protocol, port, servername }, done) => {
      const secure = protocol === 'https:'
      session.connect({ host: hostname.replace(/^\[|\]$/g, ''), port: port || (secure ? 443 : 80), servername, secure }, done)
    },
  })
  globalThis[place] = new Proxy(original, {
    get(target, name) {
      const session = current()
      const chosen = session ? (session.dispatcher ??= make(session)) : target
      const value = chosen[name]
      return typeof value === 'function' ? value.bind(chosen) : value
    },
  })
}

/** Fails connections that would go round the session, as those of an agent of the program's own. */
function guard() {
  const connect = net.Socket.prototype.connect
  net.Socket.prototype.connect = function (...args) {
    const session = current()
    const given = Array.isArray(args[0]) ? args[0][0] : args[0]
    const { port, path: pipe, host = 'localhost' } = typeof given === 'object' && given !== null ? given : { port: given, host: args[1] }
    const own = session && [session.server.port, Number(session.server.control.port)].includes(Number(port))
    if (session && !pipe && !own && !(session.answer.allowed ?? []).includes(host)) {
      const error = new WiretapeError(`a connection to ${host}:${port} goes round the recorder: use fetch, or leave out the agent`, 'bypass')
      process.nextTick(() => this.destroy(error))
      return this
    }
    return connect.apply(this, args)
  }
}
