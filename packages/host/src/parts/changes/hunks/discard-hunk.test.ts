import { expect, test } from 'vitest'
import { capturedSession } from '../../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { changeset, untilChangeset } from '../../../../test/captures/changeset-client.ts'
import { session } from '../../../../test/held-flushes.ts'

const channel = `${session}/changeset/uncommitted`

/** A session whose files are committed, and then changed. */
async function edited(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Promise<CapturedSession> {
  const all = await capturedSession()
  for (const [path, text] of Object.entries(before)) all.write(path, text)
  all.captures.heads.set('/a', new Map(all.captures.folders.get('/a')))
  for (const [path, text] of Object.entries(after)) all.write(path, text)
  await changeset(all.ann, channel)
  return all
}

const discard = (
  all: CapturedSession,
  path: string,
  first: number,
  last = first,
  side?: 'before' | 'after',
) =>
  all.ann.ask('invokeChangesetOperation', {
    channel,
    operationId: 'discard',
    target: {
      kind: 'range',
      resource: `file:///a/${path}`,
      ...(side && { side }),
      range: { start: { line: first, character: 0 }, end: { line: last, character: 1 } },
    },
  })

test('[O40] the hunks that a range touches are set back, and the rest of the file stays', async () => {
  const all = await edited({ 'a.txt': '1\n2\n3\n4\n5\n6\n' }, { 'a.txt': '1\ntwo\n3\n4\nfive\n6\nseven\n' })
  expect((await discard(all, 'a.txt', 4)).message).toContain('in the range were discarded')
  expect(all.text('a.txt')).toBe('1\ntwo\n3\n4\n5\n6\nseven\n')
  const back = await untilChangeset(all.ann, channel, ({ files }) => files[0]?.edit.diff?.['added'] === 2)
  expect(back.files).toHaveLength(1)
  await discard(all, 'a.txt', 0, 9, 'before')
  expect(all.text('a.txt')).toBe('1\n2\n3\n4\n5\n6\n')
  await untilChangeset(all.ann, channel, ({ files }) => files.length === 0)
})

test('[O40.3] [O40] removed lines come back at their place; the range may name them on the earlier side', async () => {
  const all = await edited({ 'a.txt': '1\n2\n3\n4\n' }, { 'a.txt': '1\n4\nnew\n' })
  await discard(all, 'a.txt', 2, 2, 'before')
  expect(all.text('a.txt')).toBe('1\n2\n3\n4\nnew\n')
})

test('[O40.2] [O40] the one hunk of a new file is the file', async () => {
  const all = await edited({}, { 'new.txt': '1\n2\n' })
  await discard(all, 'new.txt', 1)
  expect(all.text('new.txt')).toBeUndefined()
})

test('[O40.2] [O40] a range without a change, a file that is not text, and a file that changed meanwhile are refused', async () => {
  const all = await edited(
    { 'a.txt': '1\n2\n3\n', 'b.bin': 'x' },
    { 'a.txt': '1\n2\nthree\n', 'b.bin': '\0' },
  )
  await expect(discard(all, 'a.txt', 0)).rejects.toThrow('no change in that range')
  await expect(discard(all, 'b.bin', 0)).rejects.toThrow('not text')
  await expect(discard(all, 'c.txt', 0)).rejects.toMatchObject({ code: -32602 })
  all.write('a.txt', '1\nby a person\nthree\n')
  await expect(discard(all, 'a.txt', 2)).rejects.toThrow('Look at it again')
  expect([all.text('a.txt'), all.text('b.bin')]).toEqual(['1\nby a person\nthree\n', '\0'])
})

test('[O40] a file that changes at the last moment is left as it is', async () => {
  const all = await edited({ 'a.txt': '1\n2\n' }, { 'a.txt': '1\ntwo\n' })
  const { apply } = all.captures
  all.captures.apply = async (...given) => {
    all.write('a.txt', 'at the last moment\n')
    return apply.apply(all.captures, given)
  }
  await expect(discard(all, 'a.txt', 1)).rejects.toThrow('changed meanwhile')
  expect(all.text('a.txt')).toBe('at the last moment\n')
})
