// For Vitest, as a setup file: setupFiles: ['wiretape-node/vitest']. Each test has a session; test.concurrent is refused.
//
// Written by Vitest's documentation and not run: it cannot be installed where this is tested.
import { beforeEach } from 'vitest'
import { Session, cassetteName, hook, judge } from './wiretape.mjs'

function names(task) {
  const above = task.suite?.name ? names(task.suite) : []
  return [...above, task.name]
}

beforeEach(async ({ task }) => {
  if (task.concurrent) throw new Error('wiretape: a test that runs beside others needs cassette(…) around its function')
  const order = task.meta?.wiretape ?? {}
  const name = order.cassette ?? cassetteName(task.file.filepath, names(task).join(' > '))
  const session = await Session.open({ label: names(task).join(' > '), ...order, cassette: name })
  hook(session)
  return async () => {
    hook(null)
    const failed = task.result?.state === 'fail'
    const report = await session.end(failed)
    if (!failed) await judge(report)
  }
})
