import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { CanvasState } from '@atrium/protocol/canvas/state'
import { expect, onTestFinished, test } from 'vitest'
import { agentRoom, later, yes } from '../../test/model-room.ts'
import { homeWith, until } from '../../test/shells.ts'
import { guide } from '../guide/guide.ts'
import { ptyTerminals } from '../terminals/terminals.ts'
import { listens } from './listens.ts'

test('[H51.1] a port is found while something listens there', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await listens('127.0.0.1', port)).toBe(true)
  expect(await listens('localhost', port)).toBe(true)
  await new Promise((resolve) => server.close(resolve))
  expect(await listens('127.0.0.1', port)).toBe(false)
  expect(await listens('no.such.host.invalid', port)).toBe(false)
})

/** Runs a server by a tool of the guide, until its canvas is there. */
async function servedBy(verb: 'run' | 'leave', command: string) {
  const { env } = homeWith()
  const terminals = ptyTerminals({ shell: '/bin/sh', env })
  const room = await agentRoom(
    guide(later),
    { 'index.html': '<h1>from the server of the agent</h1>' },
    { machine: { terminals, listens } },
  )
  const { host, ann, begin, pending, answer, state } = room
  onTestFinished(() => host.host().close())
  await begin(`${verb} ${command}`)
  await pending()
  await answer(0, yes)
  await until(() => {
    host.world.advance(500)
    return state().canvases?.length === 1
  })
  const resource = state().canvases?.[0]?.resource ?? ''
  await ann.ask('subscribe', { channel: resource })
  const shown = ann.state(resource) as Partial<CanvasState>
  expect(await (await fetch(shown.url ?? '')).text()).toContain('from the server of the agent')
  return { ...room, shown }
}

const title = '[H51] [H51.1] [H51.2] the server of Python is shown until it ends'
if (spawnSync('python3', ['--version']).status !== 0)
  test('skipped: no python3', ({ skip }) => skip('no python3'))
else
  test(title, async () => {
    const { ann, shown, state } = await servedBy('leave', 'python3 -m http.server 0')
    expect(shown).toMatchObject({ title: 'python3 -m http.server 0', status: 'running' })
    expect(shown.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    const [work] = state().backgroundWork ?? []
    await ann.ask('disposeTerminal', { channel: work?.id ?? '' })
    await until(() => state().canvases === undefined)
  })

const vite = fileURLToPath(new URL('../../../../node_modules/vite/bin/vite.js', import.meta.url))

test('[H51] [H51.1] [H51.2] the server of Vite, which is run in the foreground, is shown until its turn ends', async () => {
  const { shown, state, dispatch } = await servedBy('run', `node ${vite} --configLoader native`)
  expect(shown.url).toMatch(/^http:\/\/localhost:\d+\/$/)
  const turnId = state().activeTurn?.id
  await dispatch({ type: 'chat/turnCancelled', turnId, duration: 1 })
  await until(() => state().canvases === undefined)
})
