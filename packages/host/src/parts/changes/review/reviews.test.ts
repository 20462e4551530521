import { changesOf } from '../../../catalog/change-tracking.ts'
import type { ChangesetState } from '@atrium/protocol/changeset/state'
import { expect, test } from 'vitest'
import { beginTurn, call, capturedSession, endTurn } from '../../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { changeset, stateOf, untilChangeset } from '../../../../test/captures/changeset-client.ts'
import { session, untilIdle } from '../../../../test/held-flushes.ts'
import { until } from '../../../../test/scripted-agent.ts'
import type { Client, TestHostOptions } from '../../../../test/test-host.ts'
import { accepted, chat, truncated } from '../../../../test/two-client-session.ts'
import type { ReviewHunksResult, ReviewedHunk } from '../extensions.ts'

const uri = `${session}/changeset/uncommitted`
const file = 'file:///a/a.txt'

/** A session with a committed file, of which two parts are changed. */
async function edited(options?: TestHostOptions): Promise<CapturedSession> {
  const all = await capturedSession(options)
  all.write('a.txt', '1\n2\n3\n4\n5\n')
  all.captures.heads.set('/a', new Map(all.captures.folders.get('/a')))
  all.write('a.txt', 'one\n2\n3\n4\nfive\n')
  await changeset(all.ann, uri)
  return all
}

const review = (client: Client, hunks: readonly string[] = [], more: object = {}) =>
  client.peer.request('x-atrium/reviewHunks', {
    channel: uri,
    file,
    hunks,
    reviewed: true,
    ...more,
  }) as Promise<ReviewHunksResult>

const shownIn = (state: ChangesetState, id = file) => {
  const found = state.files.find((each) => each.id === id)
  const about = found?._meta?.['x-atrium'] as { readonly hunks?: readonly ReviewedHunk[] } | undefined
  return { reviewed: found?.reviewed, hunks: about?.hunks }
}
const marksIn = (state: ChangesetState, id?: string) =>
  shownIn(state, id).hunks?.map(({ reviewed }) => reviewed)
const untilMarks = (client: Client, marks: readonly boolean[], channel = uri) =>
  untilChangeset(client, channel, (state) => marksIn(state)?.join() === marks.join())

test('[O47.1] [O47] the hunks of a file are listed when somebody asks for them, for all clients', async () => {
  const all = await edited()
  await changeset(all.ben, uri)
  expect(shownIn(stateOf(all.ben, uri)).hunks).toBeUndefined()
  const { hunks } = await review(all.ann)
  expect(hunks.map(({ before, after, reviewed }) => [before, after, reviewed])).toEqual([
    [{ from: 0, count: 1 }, { from: 0, count: 1 }, false],
    [{ from: 4, count: 1 }, { from: 4, count: 1 }, false],
  ])
  const state = await untilMarks(all.ben, [false, false])
  expect(shownIn(state)).toEqual({ reviewed: false, hunks })
})

test('[O48] a file is reviewed when all of its hunks are, and not any more when a mark is taken away', async () => {
  const all = await edited()
  const [one, two] = (await review(all.ann)).hunks.map(({ hash }) => hash)
  await review(all.ann, [one ?? ''])
  expect(shownIn(await untilMarks(all.ann, [true, false])).reviewed).toBe(false)
  await review(all.ann, [two ?? ''])
  expect(shownIn(await untilMarks(all.ann, [true, true])).reviewed).toBe(true)
  await review(all.ann, [one ?? ''], { reviewed: false })
  expect(shownIn(await untilMarks(all.ann, [false, true])).reviewed).toBe(false)
})

test('[O48] the mark of a file marks all of its hunks, also those that are listed later', async () => {
  const all = await edited()
  const marked = (reviewed: boolean) => ({ type: 'changeset/filesReviewChanged', files: [file], reviewed })
  await accepted(all.ann, uri, marked(true))
  expect((await review(all.ben)).hunks.map(({ reviewed }) => reviewed)).toEqual([true, true])
  await untilMarks(all.ann, [true, true])
  await accepted(all.ann, uri, marked(false))
  expect(shownIn(await untilMarks(all.ann, [false, false])).reviewed).toBe(false)
  await accepted(all.ann, uri, marked(true))
  expect(shownIn(await untilMarks(all.ann, [true, true])).reviewed).toBe(true)
})

test('[O48] the mark of a file is not lost if it comes while the changeset is computed, or right before a crash', async () => {
  const all = await edited()
  await review(all.ann)
  await untilMarks(all.ann, [false, false])
  const marked = { type: 'changeset/filesReviewChanged', files: [file], reviewed: true }
  const { take } = all.captures
  let held: (() => void) | undefined
  all.captures.take = async (...given) => {
    await new Promise<void>((resolve) => (held = resolve))
    return take.apply(all.captures, given)
  }
  const channel = all.core().log.channel(uri, 'changeset')
  if (channel) changesOf(all.core())?.filesReviewed(channel)
  await until(() => held !== undefined)
  all.captures.take = take
  await accepted(all.ann, uri, marked)
  held?.()
  expect(shownIn(await untilMarks(all.ann, [true, true])).reviewed).toBe(true)
  await accepted(all.ann, uri, { ...marked, reviewed: false })
  await untilMarks(all.ann, [false, false])
  // The host is killed before the effect of the action.
  const changes = changesOf(all.core())
  if (changes) changes.filesReviewed = () => {}
  await accepted(all.ann, uri, marked)
  await all.restart('crash')
  await untilIdle()
  const ann = await all.join('ann')
  expect((await review(ann)).hunks.map(({ reviewed }) => reviewed)).toEqual([true, true])
})

test('[O47] a mark stays when lines above the hunk come or go, and goes when its own lines change', async () => {
  const all = await edited()
  const [, two] = (await review(all.ann)).hunks.map(({ hash }) => hash)
  await review(all.ann, [two ?? ''])
  all.write('a.txt', 'new\nlines\none\n2\n3\n4\nfive\n')
  // Asking again computes the changeset.
  expect((await review(all.ann)).hunks.map(({ after, reviewed }) => [after.from, reviewed])).toEqual([
    [0, false],
    [6, true],
  ])
  await untilMarks(all.ann, [false, true])
  all.write('a.txt', 'new\nlines\none\n2\n3\n4\nFIVE\n')
  expect((await review(all.ann)).hunks.map(({ reviewed }) => reviewed)).toEqual([false, false])
})

test('[O47] marks are durable', async () => {
  const all = await edited()
  const [one] = (await review(all.ann)).hunks.map(({ hash }) => hash)
  await review(all.ann, [one ?? ''])
  await all.restart('crash')
  await untilIdle()
  const ann = await all.join('ann')
  expect((await review(ann)).hunks.map(({ reviewed }) => reviewed)).toEqual([true, false])
})

test('[O49] a fork has copies of the marks, a truncation drops them, and so does a disposal', async () => {
  const all = await capturedSession()
  for (const turnId of ['t1', 't2']) {
    const run = await beginTurn(all, turnId)
    await call(all, run, 'c1', () => all.write('a.txt', `${turnId}\n`))
    await endTurn(all, run)
  }
  const of = (owner: string, turnId: string) => `${owner}/changeset/turn/${turnId}`
  for (const turnId of ['t1', 't2']) {
    const channel = of(chat, turnId)
    const [hunk] = (await review(all.ann, [], { channel })).hunks
    await review(all.ann, [hunk?.hash ?? ''], { channel })
  }
  const fork = 'ahp-chat:/fork'
  await all.ann.ask('createChat', {
    channel: session,
    chat: fork,
    source: { kind: 'fork', chat, turnId: 't1' },
  })
  const marks = async (channel: string) =>
    (await review(all.ann, [], { channel })).hunks.map((each) => each.reviewed)
  expect(await marks(of(fork, 't1'))).toEqual([true])
  const keys = async () => {
    const found = await all.core().records.list('reviewed/')
    return found.map(([key]) => key.split('/').slice(1).map(decodeURIComponent))
  }
  await accepted(all.ann, chat, truncated('t1'))
  await untilSwept(keys, 2)
  expect(await keys()).toEqual([
    [chat, 't1'],
    [fork, 't1'],
  ])
  await review(all.ann, [], { channel: `${session}/changeset/session` }).catch(() => {})
  await all.ann.ask('disposeSession', { channel: session })
  await untilSwept(keys, 0)
})

test('[O47] an unknown hunk, a file that is not shown, one that is not text, and bad params are errors', async () => {
  const all = await edited()
  all.write('b.bin', '\0')
  await expect(review(all.ann, ['0'])).rejects.toMatchObject({ code: -32011 })
  const other = (name: string) => review(all.ann, [], { file: `file:///a/${name}` })
  await expect(other('c.txt')).rejects.toMatchObject({ code: -32602 })
  await expect(other('b.bin')).rejects.toThrow('not text')
  await expect(review(all.ann, [], { reviewed: 'yes' })).rejects.toMatchObject({ code: -32602 })
  await expect(review(all.ann, [], { channel: session })).rejects.toMatchObject({ code: -32008 })
  expect(await all.core().records.list('reviewed/')).toEqual([])
})

/** Waits until this number of records is left. The host deletes records some time after the turn or session is gone. */
async function untilSwept(keys: () => Promise<readonly unknown[]>, left: number): Promise<void> {
  while ((await keys()).length !== left) await untilIdle()
}

/** Committed files, each with a hunk, or one with many. */
async function many(files: number, hunks: number): Promise<CapturedSession> {
  const all = await capturedSession({ limits: { hunkFiles: 3 } })
  const lines = (word: string) => Array.from({ length: hunks }, (_, n) => `${word}${n}\nsame${n}\n`).join('')
  for (let n = 0; n < files; n++) all.write(`${n}.txt`, lines('a'))
  all.captures.heads.set('/a', new Map(all.captures.folders.get('/a')))
  for (let n = 0; n < files; n++) all.write(`${n}.txt`, lines('b'))
  await changeset(all.ann, uri)
  return all
}
const reviewNth = (all: CapturedSession, n: number) => review(all.ann, [], { file: `file:///a/${n}.txt` })

test('[S-57 hunkFiles] at 100 files of a changeset with marked hunks (3 in this test) all have them', async () => {
  const all = await many(3, 1)
  for (const n of [0, 1, 2]) expect((await reviewNth(all, n)).hunks).toHaveLength(1)
})

test('[O47.2] [S-57 hunkFiles] past 100 files of a changeset with marked hunks (3 in this test) a further one is refused', async () => {
  const all = await many(4, 1)
  for (const n of [0, 1, 2]) await reviewNth(all, n)
  await expect(reviewNth(all, 3)).rejects.toMatchObject({ code: -32009 })
})

test('[S-57 fileHunks] at 200 hunks of a file all are listed', async () => {
  expect((await reviewNth(await many(1, 200), 0)).hunks).toHaveLength(200)
})

test('[O47.2] [S-57 fileHunks] past 200 hunks of a file they are refused', async () => {
  await expect(reviewNth(await many(1, 201), 0)).rejects.toMatchObject({ code: -32009 })
})
