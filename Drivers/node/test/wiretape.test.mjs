import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import os from 'node:os'
import path from 'node:path'
import test, { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'

const folder = mkdtempSync(path.join(os.tmpdir(), 'wiretape-'))
process.env.WIRETAPE_FOLDER = folder
delete process.env.CI
const { Session, WiretapeError, cassette, cassetteName } = await import('../wiretape.mjs')
after(() => rmSync(folder, { recursive: true }))

const here = path.dirname(fileURLToPath(import.meta.url))
const cases = path.resolve(here, '../../cases')

/** A local server: GET /N is answered with N, and each answer is counted. */
async function startOrigin() {
  const server = http.createServer((request, response) => {
    server.count += 1
    request.resume().on('end', () => response.end(new URL(request.url, 'http://origin').pathname.slice(1)))
  })
  server.count = 0
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.url = `http://127.0.0.1:${server.address().port}`
  server.stop = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()))
  return server
}

function request(url) {
  const module = url.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    module.get(url, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (part) => (body += part)).on('end', () => resolve([response.statusCode, body]))
    }).on('error', reject)
  })
}

async function fetched(url) {
  const response = await fetch(url)
  return [response.status, await response.text()]
}

async function play(one, origin, sub, client) {
  const name = one.refused === 'cassette-name' ? one.order.cassette : `${sub}/${one.order.cassette}`
  if (one.refused) {
    await assert.rejects(Session.open({ ...one.order, cassette: name }), (error) => error.code === one.refused)
    return
  }
  const session = await Session.open({ ...one.order, cassette: name })
  for (const { url, status, body } of one.requests) {
    const [got, text] = await session.run(() => client(url.replace('http://ORIGIN', origin.url)))
    assert.equal(got, status, text)
    if (body !== undefined) assert.equal(text, body)
  }
  const report = await session.end(one.failed)
  assert.equal(report.exit, one.exit, report.text)
  for (const text of one.text ?? []) assert.ok(report.text.includes(text), report.text)
  if (!one.again) return
  await origin.stop()
  await play(one.again, origin, sub, client)
}

for (const [kind, client] of [['fetch', fetched], ['http', request]]) {
  for (const file of readdirSync(cases).filter((file) => file.endsWith('.json'))) {
    test(`case ${file} with ${kind}`, async () => {
      const one = JSON.parse(readFileSync(path.join(cases, file)))
      const sub = `${kind}-${path.basename(file, '.json')}`
      if (one.cassette) {
        mkdirp(path.join(folder, sub))
        copyFileSync(path.join(cases, 'cassettes', one.cassette), path.join(folder, sub, one.order.cassette))
      }
      const origin = await startOrigin()
      try {
        await play(one, origin, sub, client)
      } finally {
        if (origin.listening) await origin.stop()
      }
    })
  }
}

function mkdirp(folder) {
  spawnSync('mkdir', ['-p', folder])
}

test('tests at once record and replay, each with its own session', async () => {
  const origin = await startOrigin()
  const all = (mode) => Promise.all(Array.from({ length: 20 }, (_, number) =>
    cassette({ cassette: `at-once/${number}`, mode }, async () => {
      const client = number % 2 ? request : fetched
      assert.deepEqual(await client(`${origin.url}/${number}`), [200, `${number}`])
    })({})))
  await all('once')
  assert.equal(origin.count, 20)
  await origin.stop()
  await all('none')
})

test('a miss fails its test with the report', async () => {
  const origin = await startOrigin()
  const pets = (page, notices) => cassette({ cassette: 'miss' }, async () => {
    const [status] = await fetched(`${origin.url}/pets?page=${page}`)
    if (notices) assert.equal(status, 200)
  })({})
  await pets(1)
  await origin.stop()
  for (const notices of [true, false]) {
    await assert.rejects(pets(2, notices), /query item is "page=2", recorded is "page=1"/)
  }
})

test('what goes round fails', async () => {
  const origin = await startOrigin()
  await cassette({ cassette: 'round' }, async () => {
    const agent = new http.Agent()
    const round = new Promise((resolve, reject) => http.get(origin.url, { agent }, resolve).on('error', reject))
    await assert.rejects(round, /goes round the recorder/)
    assert.deepEqual(await fetched(`${origin.url}/1`), [200, '1'])
  })({})
  // Outside of a session nothing is changed.
  assert.deepEqual(await request(`${origin.url}/2`), [200, '2'])
  assert.deepEqual(await fetched(`${origin.url}/3`), [200, '3'])
  await origin.stop()
})

test('a test without a name of its own gets one, and no two the same', async (context) => {
  const origin = await startOrigin()
  const body = cassette(async () => assert.deepEqual(await fetched(`${origin.url}/1`), [200, '1']))
  await body({ name: 'lists a/b' })
  assert.ok(existsSync(path.join(folder, cassetteName(process.argv[1], 'lists a/b'))))
  await assert.rejects(body({ name: 'lists a/b' }), WiretapeError)
  assert.equal(new Set(['a/b', 'a%2Fb', 'a b', '.a', '%2Ea', 'x'.repeat(300), 'x'.repeat(301)].map((name) => cassetteName('t.mjs', name))).size, 7)
  await origin.stop()
})
