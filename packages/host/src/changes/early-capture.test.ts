import { expect, test } from 'vitest'
import {
  beginTurn,
  capturedSession,
  endTurn,
  endedRecord,
  recordOf,
} from '../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../test/captures/captured-session.ts'
import { until } from '../../test/scripted-agent.ts'
import { accepted, chat, started } from '../../test/two-client-session.ts'

/** A session with one turn, so that the last capture of its folder is known. */
async function withTurn(): Promise<CapturedSession> {
  const all = await capturedSession()
  all.write('one.txt', 'one\n')
  await endTurn(all, await beginTurn(all, 't1'))
  return all
}

/** The records of turns that the host stores from now on, by key. */
function storedIn({ core }: CapturedSession): readonly string[] {
  const { records } = core()
  const put = records.put.bind(records)
  const keys: string[] = []
  records.put = (key, text) => {
    if (key.startsWith('capture/')) keys.push(key)
    put(key, text)
  }
  return keys
}

/** Lets captures wait until they are released. */
function held({ captures }: CapturedSession) {
  const take = captures.take.bind(captures)
  const waiting: (() => void)[] = []
  captures.take = async (...given) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return take(...given)
  }
  return {
    waiting,
    release: () => {
      captures.take = take
      for (const resolve of waiting) resolve()
    },
  }
}

test('[O30] a turn in an unchanged folder has its record in the step that starts it, and stores no other', async () => {
  const all = await withTurn()
  const { end } = (await endedRecord(all, 't1'))?.folders[0] ?? {}
  const stored = storedIn(all)
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  expect(await recordOf(all, 't2')).toEqual({ folders: [{ directory: '/a', start: end, last: end }] })
  await until(() => captures.waiting.length > 0)
  expect(all.agent.runs).toHaveLength(1)
  captures.release()
  await all.agent.given(1)
  expect(stored).toHaveLength(1)
})

test('[O30] a file that changed between two turns is no change of the second one, and the agent waits for its record', async () => {
  const all = await withTurn()
  all.write('two.txt', 'by a person\n')
  const stored = storedIn(all)
  const run = await beginTurn(all, 't2')
  expect(stored).toHaveLength(2)
  await endTurn(all, run)
  const [folder] = (await endedRecord(all, 't2'))?.folders ?? []
  expect(folder?.start).toBe(folder?.end)
  expect(folder).not.toHaveProperty('shared')
})

test('[O30] a file that changed before a crash came during the start capture counts as changed by others', async () => {
  const all = await withTurn()
  all.write('two.txt', 'by a person\n')
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  await until(() => captures.waiting.length > 0)
  // The capture of the killed host is never taken.
  captures.waiting.length = 0
  captures.release()
  await all.restart('crash')
  expect(await endedRecord(all, 't2')).toMatchObject({ late: true, folders: [{ shared: ['two.txt'] }] })
  expect(all.agent.runs).toHaveLength(1)
  expect(all.text('two.txt')).toBe('by a person\n')
})

test('[O30] no capture is expected that may have been deleted', async () => {
  const all = await withTurn()
  await all.core().changes?.collect()
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  expect(await recordOf(all, 't2')).toBeUndefined()
  captures.release()
  await all.agent.given(1)
  expect(await recordOf(all, 't2')).toMatchObject({ folders: [{ directory: '/a' }] })
})
