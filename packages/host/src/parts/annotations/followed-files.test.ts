import { isOutdated, ownDataOf } from '@atrium/protocol/annotations/own'
import type { Annotation, AnnotationsState } from '@atrium/protocol/annotations/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { hostWithFiles } from '../../../test/files-host.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import type { Client } from '../../../test/test-host.ts'
import { readAttachment } from '../turn/attachment.ts'

const session = 's:/1'
const uri = 's:/1/annotations'
const chat = defaultChatUri(session)
const code = Array.from({ length: 30 }, (_, n) => `line ${n};`)
const range = (first: number, last = first) => ({
  start: { line: first, character: 0 },
  end: { line: last, character: 6 },
})

function note(id: string, more: Partial<Annotation> = {}): Annotation {
  const entries = [{ id: 'e1', text: 'why?' }]
  return {
    id,
    origin: { session },
    resource: 'file:///w/a.ts',
    range: range(10),
    resolved: false,
    entries,
    ...more,
  }
}

const annotation = (client: Client, id = 'n1') =>
  (client.state(uri) as unknown as AnnotationsState).annotations.find((each) => each.id === id)
const lineOf = (client: Client, id?: string) => annotation(client, id)?.range?.start.line
const outdated = (client: Client, id?: string) => {
  const found = annotation(client, id)
  return found && isOutdated(found)
}

async function commented(...notes: readonly Annotation[]) {
  const given = await hostWithFiles()
  given.files.put('/w/a.ts', code.join('\n'))
  await given.ann.ask('subscribe', { channel: uri })
  await given.ann.ask('subscribe', { channel: chat })
  for (const each of notes.length > 0 ? notes : [note('n1')])
    await given.ann.echo(given.ann.dispatch(uri, { type: 'annotations/set', annotation: each } as never))
  await untilIdle()
  return given
}

/** Runs a turn, whose end makes the host read the files. */
async function turn(client: Client, turnId = 't1') {
  const message = { text: 'go', origin: { kind: 'user' } }
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00.000Z', message })
  await client.until(() => JSON.stringify(client.state(chat)).includes(`"id":"${turnId}"`))
  await untilIdle()
}

describe('[H31] an annotation', () => {
  test('[H31.3] follows its text at the end of a turn, and everybody sees it', async () => {
    const { all, ann, files } = await commented()
    const ben = await all.join('ben', { subscribe: [uri] })
    files.put('/w/a.ts', ['// new', '// new', ...code].join('\n'))
    await turn(ann)
    await ben.until(() => lineOf(ben) === 12)
    expect(annotation(ben)).toEqual(annotation(ann))
  })

  test('[H31.2] is marked as outdated when its text is gone, stays, and is valid again when the text is back', async () => {
    const { ann, files } = await commented()
    files.put('/w/a.ts', code.toSpliced(10, 1).join('\n'))
    await turn(ann)
    await ann.until(() => outdated(ann) === true)
    expect(annotation(ann)).toMatchObject({ range: range(10), entries: [{ text: 'why?' }] })
    files.put('/w/a.ts', ['first', ...code].join('\n'))
    await turn(ann, 't2')
    await ann.until(() => outdated(ann) === false)
    expect(lineOf(ann)).toBe(11)
    files.files.delete('/w/a.ts')
    await turn(ann, 't3')
    await ann.until(() => outdated(ann) === true)
  })

  test('[H31.3] follows its text while a client is subscribed and the file is seen to change', async () => {
    const { all, ann, files } = await commented()
    const watch = files.watches.find(({ place }) => place.path === '/w')
    expect(watch?.request).toMatchObject({ recursive: false })
    expect([watch?.request.wants('a.ts'), watch?.request.wants('b.ts')]).toEqual([true, false])
    files.put('/w/a.ts', code.slice(5).join('\n'))
    watch?.notify([{ path: 'a.ts', type: 'updated' }], false)
    all.world.advance(200)
    await ann.until(() => lineOf(ann) === 5)
    ann.peer.notify('unsubscribe', { channel: uri })
    await untilIdle()
    expect(files.watches.filter(({ place, ended }) => place.path === '/w' && !ended)).toEqual([])
  })

  test('[H31.3] is up to date for a client that subscribes, also after the host was away', async () => {
    const { all, files } = await commented()
    await all.restart()
    files.put('/w/a.ts', ['0', '1', '2', ...code].join('\n'))
    const ben = await all.join('ben', { subscribe: [uri] })
    await ben.until(() => lineOf(ben) === 13)
  })

  test('[H31.1] whose range a client changes is about the new text', async () => {
    const { ann, files } = await commented()
    ann.dispatch(uri, { type: 'annotations/updated', annotationId: 'n1', range: range(20) } as never)
    await ann.until(() => JSON.stringify(annotation(ann)?._meta).includes('line 20'))
    files.put('/w/a.ts', code.toSpliced(10, 1).join('\n'))
    await turn(ann)
    await ann.until(() => lineOf(ann) === 19)
    expect(outdated(ann)).toBe(false)
  })

  test('[H31.4] on a secret file, also behind a link, keeps none of its lines, and an agent is shown none', async () => {
    const given = await hostWithFiles()
    const { ann, all, files } = given
    files.put('/w/.env', 'KEY=1')
    files.links.set('/w/open.txt', '/w/.env')
    await ann.ask('subscribe', { channel: uri })
    for (const name of ['.env', 'open.txt'])
      await ann.echo(
        ann.dispatch(uri, {
          type: 'annotations/set',
          annotation: note(name, { resource: `file:///w/${name}`, range: range(0) }),
        } as never),
      )
    await untilIdle()
    expect(JSON.stringify(ann.state(uri))).not.toContain('KEY')
    const attachment = { type: 'annotations', label: 'all', resource: uri } as const
    expect((await readAttachment(all.core(), 'owner', attachment)).data).not.toContain('KEY')
  })

  test('[S-57 annotatedBytes] at 1,048,576 bytes of its file follows its text', async () => {
    const { ann, files } = await commented()
    const head = ['x', ...code].join('\n')
    files.put('/w/a.ts', `${head}\n`.padEnd(1_048_576, '.'))
    await turn(ann)
    await ann.until(() => lineOf(ann) === 11)
  })

  test('[H31.4] [S-57 annotatedBytes] past 1,048,576 bytes of its file stays where it is', async () => {
    const { ann, files } = await commented(note('n1'), note('n2', { resource: 'file:///w/b.ts' }))
    files.put('/w/a.ts', `${['x', ...code].join('\n')}\n`.padEnd(1_048_577, '.'))
    files.put('/w/b.ts', ['x', ...code].join('\n'))
    await turn(ann)
    // The other file was read after the large one.
    await ann.until(() => ownDataOf(annotation(ann, 'n2') ?? note('')).anchor !== undefined)
    expect([lineOf(ann), outdated(ann)]).toEqual([10, false])
  })

  const inFolders = (count: number) =>
    Array.from({ length: count }, (_, n) => note(`n${n}`, { resource: `file:///w/f${n}/a.ts` }))

  test('[S-57 annotatedFolders] at 16 folders each is watched', async () => {
    const { files } = await commented(...inFolders(16))
    expect(files.watches).toHaveLength(16)
  })

  test('[S-57 annotatedFolders] past 16 folders the others are not watched, and are read after turns', async () => {
    const { ann, files } = await commented(...inFolders(17))
    expect(files.watches).toHaveLength(16)
    expect(outdated(ann, 'n16')).toBe(true)
    files.put('/w/f16/a.ts', code.join('\n'))
    await turn(ann)
    await ann.until(() => outdated(ann, 'n16') === false)
  })
})

describe('[J5.4] attached annotations', () => {
  const attach = (annotationIds?: readonly string[]) => ({
    type: 'annotations' as const,
    label: 'comments',
    resource: uri,
    ...(annotationIds && { annotationIds }),
  })

  test('are read as text with file, lines, code and authors, at their present place', async () => {
    const { all, files } = await commented(
      note('n1', { range: range(10, 11) }),
      note('n2', { resolved: true }),
    )
    files.put('/w/a.ts', ['// new', ...code].join('\n'))
    const { data } = await readAttachment(all.core(), 'owner', attach(['n1']))
    expect(data).toBe(
      [
        'Comment n1 on /w/a.ts, lines 12 to 13:',
        ...[9, 10, 11].map((n) => `  ${n} | line ${n - 2};`),
        ...[12, 13].map((n) => `> ${n} | line ${n - 2};`),
        ...[14, 15, 16].map((n) => `  ${n} | line ${n - 2};`),
        'ann: why?',
      ].join('\n'),
    )
    expect((await readAttachment(all.core(), 'owner', attach())).data).toContain(
      'Comment n2 on /w/a.ts, line 12 (resolved):',
    )
  })

  test('of another owner, of no session and with an unknown id are missing', async () => {
    const { all } = await commented()
    const read = (principal: string, attachment: ReturnType<typeof attach>) =>
      readAttachment(all.core(), principal, attachment)
    await expect(read('somebody', attach())).rejects.toThrow('no such annotations')
    await expect(read('owner', { ...attach(), resource: 's:/9/annotations' })).rejects.toThrow(
      'no such annotations',
    )
    await expect(read('owner', attach(['nx']))).rejects.toThrow('there is no annotation "nx"')
  })
})
