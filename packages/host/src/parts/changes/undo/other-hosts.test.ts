import { changesOf } from '../../../catalog/change-tracking.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import { expect, test } from 'vitest'
import {
  beginCall,
  beginTurn,
  call,
  capturedSession,
  command,
  endTurn,
  recordOf,
} from '../../../../test/captures/captured-session.ts'
import { changeset } from '../../../../test/captures/changeset-client.ts'
import { memoryHosts } from '../../../../test/fakes/memory-hosts.ts'
import { until } from '../../../../test/scripted-agent.ts'
import { ready, result, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import { chat, says } from '../../../../test/two-client-session.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const uri = `${chat}/changeset/turn/t1`

/** A session of a host, and another host. */
async function besideHost() {
  const start = memoryHosts()
  const [otherHosts, other] = [start(), start()]
  const captures = new MemoryCaptures()
  const all = await capturedSession({ machine: { otherHosts } }, captures)
  return { all, other, seen: () => other.look('/a') }
}

const undo = (all: Awaited<ReturnType<typeof besideHost>>['all']) =>
  all.ann.ask('invokeChangesetOperation', { channel: uri, operationId: 'undo' })

test('[O60.6] [O60] what changed while a turn of another host was active is left by an undo, and named', async () => {
  const { all, other } = await besideHost()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('before.txt', 'own\n'))
  await command(all, run, 'sleep 3', () => {
    other.note('/a', 1)
    all.write('theirs.txt', 'by the other host\n')
    other.note('/a', 0)
  })
  await call(all, run, 'c2', () => all.write('after.txt', 'own\n'))
  await endTurn(all, run)
  expect(await recordOf(all, 't1')).toMatchObject({
    besideHosts: true,
    folders: [{ shared: ['theirs.txt'] }],
  })
  const [operation] = (await changeset(all.ann, uri)).operations ?? []
  expect(operation?.confirmation).toBe(
    'Set back to before the turn: after.txt, before.txt. Left as they are, because others changed them, too: ' +
      'theirs.txt. A turn of another host was active in the folder at the same time.',
  )
  const { message } = await undo(all)
  expect(message).toContain('theirs.txt: Others may have changed it during the turn.')
  expect(['before.txt', 'after.txt', 'theirs.txt'].map(all.text)).toEqual([
    undefined,
    undefined,
    'by the other host\n',
  ])
})

test('[O60] a file that a call is known to write is left, too, if the other host may have written it', async () => {
  const { all, other } = await besideHost()
  other.note('/a', 1)
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('both.txt', 'by one of them\n'))
  await endTurn(all, run)
  await expect(undo(all)).rejects.toThrow(
    'both.txt. A turn of another host was active in the folder at the same time.',
  )
  expect(all.text('both.txt')).toBe('by one of them\n')
})

test('[O60] another host that was active before a call and after it takes nothing from the call', async () => {
  const { all, other } = await besideHost()
  other.note('/a', 1)
  other.note('/a', 0)
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('own.txt', 'own\n'))
  await endTurn(all, run)
  other.note('/a', 1)
  await undo(all)
  expect(all.text('own.txt')).toBeUndefined()
})

test('[O60.1] [O60] other hosts see a turn from its start to its end capture, unless it only waits for a person', async () => {
  const { all, seen } = await besideHost()
  expect(seen()).toEqual({ active: false, notes: new Map() })
  const run = await beginTurn(all, 't1')
  expect(seen().active).toBe(true)
  const of = { toolCallId: 'c1' }
  await says(all, run, { ...toolCallStarted(), ...of } as AgentAction, { ...ready(), ...of } as AgentAction)
  expect(seen().active).toBe(false)
  const take = all.captures.take.bind(all.captures)
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  all.captures.take = async (...given) => {
    await held
    return take(...given)
  }
  run.end()
  await until(() => all.core().log.channel(chat, 'chat')?.committed?.activeTurn === undefined)
  release()
  await changesOf(all.core())?.settled()
  expect(seen().active).toBe(false)
})

test('[O60] an undo and the end of a host are noted for other hosts', async () => {
  const { all, seen } = await besideHost()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('own.txt', 'own\n'))
  await endTurn(all, run)
  const before = seen()
  await undo(all)
  expect([...seen().notes.values()]).not.toEqual([...before.notes.values()])
  const second = await beginTurn(all, 't2')
  await beginCall(all, second, { id: 'c2' })
  expect(seen().active).toBe(true)
  await all.restart('close')
  expect(seen().active).toBe(false)
})

test('[O60.1] [O60] while an undo changes files, other hosts see it as an active turn', async () => {
  const { all, seen } = await besideHost()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('own.txt', 'own\n'))
  await endTurn(all, run)
  const applyAll = all.captures.applyAll.bind(all.captures)
  let during = false
  all.captures.applyAll = (groups) => {
    during = seen().active
    return applyAll(groups)
  }
  await undo(all)
  expect([during, seen().active]).toEqual([true, false])
})

test('[O33] what a redo changes during a call is shared, although both captures of the call are taken meanwhile', async () => {
  const { all } = await besideHost()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('own.txt', 'own\n'))
  await endTurn(all, run)
  await undo(all)
  const second = await beginTurn(all, 't2')
  const applyAll = all.captures.applyAll.bind(all.captures)
  all.captures.applyAll = async (groups) => {
    await beginCall(all, second, { id: 'c2' })
    await second.chat.files.writesOnly('c2', ['own.txt'])
    const applied = await applyAll(groups)
    await says(all, second, {
      type: 'chat/toolCallComplete',
      toolCallId: 'c2',
      ...result(true),
    } as AgentAction)
    return applied
  }
  await all.ann.ask('invokeChangesetOperation', { channel: uri, operationId: 'redo' })
  await endTurn(all, second)
  expect((await recordOf(all, 't2'))?.folders[0]?.shared).toEqual(['own.txt'])
})
