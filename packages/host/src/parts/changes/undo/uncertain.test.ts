import { changesOf } from '../../../catalog/change-tracking.ts'
import { without } from '@atrium/protocol/update'
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
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { changeset } from '../../../../test/captures/changeset-client.ts'
import { until } from '../../../../test/scripted-agent.ts'
import type { Client } from '../../../../test/test-host.ts'
import { result } from '../../../../test/tool-call-actions.ts'
import { chat, says } from '../../../../test/two-client-session.ts'
import type { AgentAction } from '../../../ports/agent.ts'
import { writeTurnRecord } from '../turn-record.ts'

const uri = `${chat}/changeset/turn/t1`
const at = (path: string) => ({ kind: 'resource', resource: `file:///a/${path}` }) as const
const invoke = (client: Client, operationId: string, target?: ReturnType<typeof at>) =>
  client.ask('invokeChangesetOperation', { channel: uri, operationId, ...(target && { target }) })

async function verdicts(client: Client): Promise<object> {
  const { files } = await changeset(client, uri)
  return Object.fromEntries(
    files.map(({ id, _meta }) => [id.slice('file:///a/'.length), _meta?.['x-atrium']]),
  )
}

/** A turn that wrote `own.txt` and ran a command, while a person made one file and added a line to another. */
async function besidePerson(): Promise<CapturedSession> {
  const all = await capturedSession()
  all.write('mine.txt', '1\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('own.txt', 'own\n'))
  await command(all, run, 'sleep 3', () => {
    all.write('notes.txt', 'a note\n')
    all.write('mine.txt', '1\n2\n')
  })
  await endTurn(all, run)
  return all
}

test('[O33.4] [O38.5] [O33] [O37] an undo leaves what a person changed while a command ran, and names it apart', async () => {
  const all = await besidePerson()
  const uncertain = { undo: 'uncertain', during: '`sleep 3`' }
  expect(await verdicts(all.ann)).toEqual({
    'mine.txt': uncertain,
    'notes.txt': uncertain,
    'own.txt': { undo: 'apply' },
  })
  const [undo] = (await changeset(all.ann, uri)).operations ?? []
  expect(undo?.confirmation).toBe(
    'Set back to before the turn: own.txt. Left as they are, unless you choose them: ' +
      "mine.txt, notes.txt changed while `sleep 3` ran; they may be a person's work.",
  )
  const { message } = await invoke(all.ann, 'undo')
  expect(message).toContain("notes.txt: It was changed while `sleep 3` ran, and may be a person's work.")
  expect(['own.txt', 'notes.txt', 'mine.txt'].map(all.text)).toEqual([undefined, 'a note\n', '1\n2\n'])
})

test('[O38.5] [O38.6] [O38] uncertain files that are chosen are set back, each with a copy beside it', async () => {
  const all = await besidePerson()
  const { operations = [] } = await changeset(all.ann, uri)
  expect(operations.map(({ id }) => id)).toEqual([
    'undo',
    'undo-uncertain',
    'redo',
    'keep',
    'undo-with-copy',
    'undo-anyway',
  ])
  const { message } = await invoke(all.ann, 'undo-uncertain')
  expect(message).toBe(
    '3 files were set back. What the files held before is in mine.txt.before-undo, notes.txt.before-undo.',
  )
  expect(['own.txt', 'notes.txt', 'mine.txt'].map(all.text)).toEqual([undefined, undefined, '1\n'])
  expect(['notes.txt', 'mine.txt'].map((path) => all.text(`${path}.before-undo`))).toEqual([
    'a note\n',
    '1\n2\n',
  ])
})

test('[O38.4] [O38] a turn that only ran a command says why nothing is undone at once, and can be undone', async () => {
  const all = await capturedSession()
  all.write('a.txt', 'one\n')
  const run = await beginTurn(all, 't1')
  await command(all, run, 'sed -i s/one/two/ a.txt', () => all.write('a.txt', 'two\n'))
  await endTurn(all, run)
  await expect(invoke(all.ann, 'undo')).rejects.toThrow(
    "a.txt changed while `sed -i s/one/two/ a.txt` ran; it may be a person's work.",
  )
  await invoke(all.ann, 'undo-uncertain')
  expect(all.text('a.txt')).toBe('one\n')
})

test('[O38.6] [O38] undo anyway keeps a copy of an uncertain file, even if it was changed again after the turn', async () => {
  const all = await besidePerson()
  all.write('mine.txt', '1\n2\n3\n')
  await changeset(all.ann, uri)
  for (const path of ['mine.txt', 'notes.txt']) await invoke(all.ann, 'undo-anyway', at(path))
  expect(['mine.txt', 'mine.txt.before-undo'].map(all.text)).toEqual(['1\n', '1\n2\n3\n'])
  expect(['notes.txt', 'notes.txt.before-undo'].map(all.text)).toEqual([undefined, 'a note\n'])
})

test('[O33] a file that a call does not name is shared, although it changed while the call ran', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    all.write('own.txt', 'own\n')
    queueMicrotask(() => all.write('notes.txt', 'a note\n'))
  })
  await endTurn(all, run)
  expect(await verdicts(all.ann)).toEqual({ 'notes.txt': { undo: 'shared' }, 'own.txt': { undo: 'apply' } })
})

test('[O33] a file that changed before a call began that names it, or after it ended, is shared, although another call ran', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  const ends = (toolCallId: string) =>
    says(all, run, { type: 'chat/toolCallComplete', toolCallId, ...result(true) } as AgentAction)
  await beginCall(all, run, { id: 'c1' })
  await run.chat.files.writesOnly('c1', ['one.txt'])
  all.write('early.txt', 'by a person\n')
  await run.chat.files.writesOnly('c2', ['early.txt', 'two.txt', 'late.txt'])
  await beginCall(all, run, { id: 'c2' })
  for (const path of ['one.txt', 'two.txt']) all.write(path, 'own\n')
  await ends('c2')
  all.write('late.txt', 'by a person\n')
  await ends('c1')
  await endTurn(all, run)
  expect(await verdicts(all.ann)).toEqual({
    'early.txt': { undo: 'shared' },
    'late.txt': { undo: 'shared' },
    'one.txt': { undo: 'apply' },
    'two.txt': { undo: 'apply' },
  })
})

test('[O33.4] [O33] a file that the turn wrote and that changed while a command ran is uncertain', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  await command(all, run, 'npm test', () => all.write('a.txt', 'a person\n'))
  await call(all, run, 'c1', () => all.write('a.txt', 'a person\nown\n'))
  await endTurn(all, run)
  expect(await verdicts(all.ann)).toEqual({ 'a.txt': { undo: 'uncertain', during: '`npm test`' } })
})

test('[O33.7] [O33] all changes of a turn that an earlier version recorded are uncertain', async () => {
  const all = await besidePerson()
  const record = await recordOf(all, 't1')
  const folders = (record?.folders ?? []).map((folder) => without(folder, 'uncertain'))
  all.core().records.put(`capture/${encodeURIComponent(chat)}/t1`, writeTurnRecord({ ...record, folders }))
  await invoke(all.ann, 'undo').catch(() => {})
  expect(['own.txt', 'notes.txt', 'mine.txt'].map(all.text)).toEqual(['own\n', 'a note\n', '1\n2\n'])
})

test('[O37.3] [O38.7] [O38] the copies of a renamed file hold both of its paths', async () => {
  const all = await capturedSession()
  all.write('old.txt', 'a long enough text\n')
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    all.write('new.txt', 'a long enough text\n')
    all.remove('old.txt')
  })
  await endTurn(all, run)
  all.write('old.txt', 'by a person\n')
  await changeset(all.ann, uri)
  await expect(invoke(all.ann, 'undo')).rejects.toThrow('Nothing can be set back')
  expect(['old.txt', 'new.txt'].map(all.text)).toEqual(['by a person\n', 'a long enough text\n'])
  await invoke(all.ann, 'undo-with-copy', at('new.txt'))
  expect(['old.txt', 'new.txt', 'old.txt.before-undo', 'new.txt.before-undo'].map(all.text)).toEqual([
    'a long enough text\n',
    undefined,
    'by a person\n',
    'a long enough text\n',
  ])
})

test('[O33.6] [O33] what a terminal changes after the end of a turn, and before its end capture, is shared', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  const take = all.captures.take.bind(all.captures)
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await beginCall(all, run, { id: 'c1' })
  all.captures.take = async (...given) => {
    await held
    return take(...given)
  }
  run.end()
  await until(() => all.core().log.channel(chat, 'chat')?.committed?.activeTurn === undefined)
  all.write('typed.txt', 'by a person\n')
  changesOf(all.core())?.terminalUsed('/a', undefined)
  release()
  await changesOf(all.core())?.settled()
  expect((await recordOf(all, 't1'))?.folders[0]?.shared).toEqual(['typed.txt'])
})
