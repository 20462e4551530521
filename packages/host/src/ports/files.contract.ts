import { expect, test } from 'vitest'
import type { Change, Files, FileReason, Place, Write } from './files.ts'
import { FileProblem } from './files.ts'

/** Files to be judged, an empty directory that is given to them, and one beside it that is not. */
export interface Sandbox {
  readonly files: Files
  readonly root: string
  readonly beside: string
  /** Makes a link, which no member of the port can. */
  link(path: string, target: string): Promise<void>
  /** Puts a file there behind the port's back. */
  put(path: string, text: string): Promise<void>
}

/** What every adapter of files must do. Each test opens a sandbox of its own. */
export function filesContract(name: string, open: () => Promise<Sandbox>): void {
  const room = async () => new Room(await open())

  test(`[E2] ${name}: bytes are read as they were written, and none beyond the most`, async () => {
    const { files, at, write } = await room()
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) % 256)
    await files.write(at('a'), bytes)
    expect([...(await files.read(at('a'), 1000))]).toEqual([...bytes])
    await refused(files.read(at('a'), 999), 'unfit')
    await write('none', '')
    expect(await files.read(at('none'), 0)).toHaveLength(0)
  })

  test.each<readonly [string, FileReason]>([
    ['nothing', 'missing'],
    ['nothing/at/all', 'missing'],
    ['a file/x', 'missing'],
    ['a folder', 'unfit'],
    ['', 'unfit'],
  ])(`[E2] ${name}: %j is not read: %s`, async (path, reason) => {
    const { files, at, write, make } = await room()
    await write('a file', 'x')
    await make('a folder')
    await refused(files.read(at(path), 100), reason)
  })

  test.each<readonly [string, Write, string]>([
    ['nothing said', {}, '-+-'],
    ['truncate', { mode: 'truncate' }, '-+-'],
    ['truncate at 2', { mode: 'truncate', position: 2 }, 'ab-+-'],
    ['truncate at the end', { mode: 'truncate', position: 6 }, 'abcdef-+-'],
    ['truncate behind the end', { mode: 'truncate', position: 99 }, 'abcdef-+-'],
    ['append', { mode: 'append' }, 'abcdef-+-'],
    ['append 2 before the end', { mode: 'append', position: 2 }, 'abcd-+-ef'],
    ['append before the beginning', { mode: 'append', position: 99 }, '-+-abcdef'],
    ['insert', { mode: 'insert' }, '-+-abcdef'],
    ['insert at 4', { mode: 'insert', position: 4 }, 'abcd-+-ef'],
    ['insert behind the end', { mode: 'insert', position: 99 }, 'abcdef-+-'],
  ])(`[E4] ${name}: %s`, async (_, how, expected) => {
    const { write, text, list } = await room()
    await write('a', 'abcdef')
    await write('a', '-+-', how)
    expect(await text('a')).toBe(expected)
    await write('new', '-+-', how)
    expect(await text('new')).toBe('-+-')
    expect(await list('')).toEqual(['a', 'new'])
  })

  test(`[E4] ${name}: nothing is written where there is no directory, or to one`, async () => {
    const { write, make, text, list } = await room()
    await make('folder')
    await write('file', 'x')
    for (const how of [{}, { mode: 'append' }, { mode: 'insert' }] as const) {
      await refused(write('nowhere/a', 'y', how), 'missing')
      await refused(write('file/a', 'y', how), 'missing')
      await refused(write('folder', 'y', how), 'unfit')
      await refused(write('', 'y', how), 'unfit')
    }
    expect([await list(''), await text('file')]).toEqual([['file', 'folder/'], 'x'])
  })

  test(`[E4] ${name}: of many who create a file exactly one does`, async () => {
    const { write, text, list, make } = await room()
    for (const mode of ['truncate', 'append', 'insert'] as const) {
      const who = Array.from({ length: 8 }, (_, i) => `${mode} ${i}`)
      const reasons = await Promise.all(
        who.map((each) => reasonOf(write(mode, each, { mode, createOnly: true }))),
      )
      expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
      expect(reasons.filter((reason) => reason === 'exists')).toHaveLength(7)
      expect(await text(mode)).toBe(who[reasons.indexOf(undefined)])
    }
    await make('folder')
    await refused(write('folder', 'x', { createOnly: true }), 'exists')
    await refused(write('', 'x', { createOnly: true }), 'exists')
    expect(await list('')).toEqual(['append', 'folder/', 'insert', 'truncate'])
  })

  test(`[E5] [F-40c] ${name}: of many who change what they have seen exactly one does`, async () => {
    const { write, text, etag } = await room()
    await write('a', 'old')
    for (let round = 0; round < 10; round++) {
      const ifMatch = await etag('a')
      const who = Array.from({ length: 8 }, (_, i) => `${round}.${i}`)
      const reasons = await Promise.all(who.map((each) => reasonOf(write('a', each, { ifMatch }))))
      expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
      expect(reasons.filter((reason) => reason === 'changed')).toHaveLength(7)
      expect(await text('a')).toBe(who[reasons.indexOf(undefined)])
      await refused(write('a', 'late', { ifMatch }), 'changed')
    }
  })

  test(`[E5] ${name}: what was seen and is gone was changed`, async () => {
    const { write, etag, change, at, list } = await room()
    await write('a', 'old')
    const ifMatch = await etag('a')
    await change({ kind: 'remove', place: at('a'), recursive: false })
    for (const mode of ['truncate', 'append', 'insert'] as const)
      await refused(write('a', 'x', { mode, ifMatch }), 'changed')
    expect(await list('')).toEqual([])
  })

  test(`[E4] ${name}: all who append at once are in the file, each in one piece`, async () => {
    const { write, text } = await room()
    const lines = Array.from({ length: 60 }, (_, i) => `${i} ${'x'.repeat(i * 50)}\n`)
    await Promise.all(lines.map((line) => write('log', line, { mode: 'append' })))
    expect((await text('log')).split(/(?<=\n)/).toSorted()).toEqual(lines.toSorted())
  })

  test(`[E4] ${name}: whoever reads while others write reads one of them whole`, async () => {
    const { write, text } = await room()
    const versions = ['a', 'b', 'c'].map((letter) => letter.repeat(20_000))
    await write('a', versions[0] ?? '')
    const writing = Promise.all(versions.map((version) => write('a', version)))
    const seen = await Promise.all(Array.from({ length: 20 }, () => text('a')))
    await writing
    expect(seen.filter((each) => !versions.includes(each))).toEqual([])
  })

  test(`[E6] ${name}: a directory is listed, and not when it holds more than the most`, async () => {
    const { files, at, write, make } = await room()
    await write('a', '')
    await make('b')
    expect((await files.list(at(''), 2)).toSorted((x, y) => (x.name < y.name ? -1 : 1))).toEqual([
      { name: 'a', type: 'file' },
      { name: 'b', type: 'directory' },
    ])
    await refused(files.list(at(''), 1), 'unfit')
    expect(await files.list(at('b'), 0)).toEqual([])
    await refused(files.list(at('a'), 10), 'unfit')
    await refused(files.list(at('c'), 10), 'missing')
  })

  test(`[E3] ${name}: what is looked at has its facts, and another etag after every change`, async () => {
    const { files, at, write, make, root } = await room()
    await write('a', 'four')
    await make('b')
    const first = await files.look(at('a'), true)
    expect(first).toMatchObject({ path: `${root}/a`, type: 'file', size: 4 })
    expect(Math.abs(first.mtime - first.ctime)).toBeLessThan(60_000)
    expect([first.mtime, first.ctime].every(Number.isSafeInteger)).toBe(true)
    expect(await files.look(at('a'), false)).toEqual(first)
    expect(await files.look(at('b'), true)).toMatchObject({ path: `${root}/b`, type: 'directory' })
    expect(await files.look(at(''), false)).toMatchObject({ path: root, type: 'directory' })
    const etags = [first.etag]
    for (const how of [{}, { mode: 'append' }, { mode: 'insert' }] as const) {
      await write('a', 'more', how)
      etags.push((await files.look(at('a'), true)).etag)
    }
    expect(new Set(etags).size).toBe(4)
    await refused(files.look(at('c'), true), 'missing')
    await refused(files.look(at('c'), false), 'missing')
  })

  test(`[E1] ${name}: links that stay inside lead where they lead; other ones nowhere`, async () => {
    const { files, at, link, write, text, put, root, beside, list, etag } = await room()
    await write('a', 'inside')
    await put(`${beside}/secret`, 'secret')
    for (const [from, to] of [
      ['in', 'a'],
      ['far', `${root}/in`],
      ['top', '.'],
      ['out', `${beside}/secret`],
      ['up', '..'],
      ['gone', 'nothing'],
      ['gone out', `${beside}/nothing`],
    ] as const)
      await link(`${root}/${from}`, to)
    expect([await text('in'), await text('far'), await text('top/far')]).toEqual([
      'inside',
      'inside',
      'inside',
    ])
    expect(await files.look(at('far'), true)).toMatchObject({ path: `${root}/a`, type: 'file' })
    expect(await files.look(at('far'), false)).toMatchObject({ path: `${root}/far`, type: 'symlink' })
    expect(await etag('top/a')).toBe(await etag('a'))
    for (const out of ['out', 'up', 'up/x', 'gone out']) {
      await refused(files.read(at(out), 100), 'outside')
      await refused(files.look(at(out), true), 'outside')
    }
    await refused(files.read(at('gone'), 100), 'missing')
    expect(await list('')).toEqual(['a', 'far', 'gone', 'gone out', 'in', 'out', 'top/', 'up'])
  })

  test(`[E4] ${name}: what is written through a link comes where it leads, and the link stays`, async () => {
    const { files, at, link, write, text, put, root, beside } = await room()
    await write('a', 'old')
    await put(`${beside}/secret`, 'secret')
    await link(`${root}/in`, 'a')
    await link(`${root}/out`, `${beside}/secret`)
    await link(`${root}/gone`, 'nothing')
    for (const mode of ['truncate', 'append', 'insert'] as const) {
      await write('in', 'new ', { mode })
      await refused(write('out', 'x', { mode }), 'outside')
      await refused(write('gone', 'x', { mode }), 'missing')
      await refused(write('in', 'x', { mode, createOnly: true }), 'exists')
    }
    expect([await text('a'), (await files.look(at('in'), false)).type]).toEqual(['new new new ', 'symlink'])
    const there = { path: `${beside}/secret`, roots: [beside] }
    expect(new TextDecoder().decode(await files.read(there, 100))).toBe('secret')
  })

  test(`[E1] ${name}: what is outside by its text is refused, whatever is there, by every member`, async () => {
    const { files, root, beside, put, write, text } = await room()
    await put(`${beside}/secret`, 'secret')
    await put(`${root}2`, 'a neighbour')
    await write('a', 'x')
    const inside = { path: `${root}/a`, roots: [root] }
    // All of it in the sandbox: an adapter that fails here would do it.
    const above = root.slice(0, root.lastIndexOf('/'))
    for (const path of [`${beside}/secret`, `${beside}/nothing`, beside, `${root}2`, above, `${above}/no`]) {
      const place = { path, roots: [root] }
      for (const [, attempt] of everything(files, place, inside)) await refused(attempt(), 'outside')
    }
    for (const path of [`${root}/../x`, `${root}/.`, `${root}//a`, `${root}/a/`, 'a', '', `${root}/a\0b`])
      for (const [, attempt] of everything(files, { path, roots: [root] }, inside))
        await refused(attempt(), 'unfit')
    for (const [, attempt] of everything(files, { path: `${root}/a`, roots: [] }, inside))
      await refused(attempt(), 'outside')
    expect(await text('a')).toBe('x')
  })

  test(`[E1] ${name}: of several roots each will do, and what is in none is outside`, async () => {
    const { files, root, beside, link, put } = await room()
    await put(`${beside}/b`, 'beside')
    await link(`${root}/over`, `${beside}/b`)
    const roots = ['/nowhere/at/all', root, beside]
    const place = { path: `${root}/over`, roots }
    expect(new TextDecoder().decode(await files.read(place, 100))).toBe('beside')
    expect((await files.look(place, true)).path).toBe(`${beside}/b`)
    await files.change({
      kind: 'move',
      from: { path: `${beside}/b`, roots },
      to: { path: `${root}/b`, roots },
      failIfExists: true,
    })
    expect(await files.list({ path: beside, roots }, 10)).toEqual([])
  })

  test(`[E6] ${name}: a directory is made with those above it, and may be there`, async () => {
    const { make, write, link, root, list, beside } = await room()
    await make('a/b/c')
    await make('a/b/c')
    await make('')
    await write('file', 'x')
    await link(`${root}/to`, 'a/b')
    await link(`${root}/out`, beside)
    await link(`${root}/gone`, 'nothing')
    await make('to/d')
    await refused(make('file'), 'exists')
    await refused(make('file/x'), 'unfit')
    await refused(make('gone'), 'exists')
    await refused(make('gone/x'), 'unfit')
    await refused(make('out'), 'outside')
    await refused(make('out/x'), 'outside')
    expect([await list('a/b'), await list('')]).toEqual([
      ['c/', 'd/'],
      ['a/', 'file', 'gone', 'out', 'to/'],
    ])
  })

  test(`[E7] ${name}: what is removed is gone, a link without what it leads to`, async () => {
    const { change, at, write, make, link, list, text, root, beside, put, files } = await room()
    const remove = (path: string, recursive: boolean) =>
      change({ kind: 'remove', place: at(path), recursive })
    await put(`${beside}/secret`, 'secret')
    await write('a', 'x')
    await make('full/deep/er')
    await write('full/deep/file', 'x')
    await make('empty')
    await link(`${root}/full/link`, `${root}/kept`)
    await link(`${root}/full/out`, beside)
    await make('kept')
    await write('kept/a', 'kept')
    await link(`${root}/kept/self`, '.')
    await remove('a', false)
    await remove('empty', false)
    await refused(remove('full', false), 'unfit')
    await refused(remove('nothing', true), 'missing')
    await refused(remove('', true), 'outside')
    await remove('full/link', true)
    await remove('full', true)
    expect([await list(''), await list('kept'), await text('kept/a')]).toEqual([
      ['kept/'],
      ['a', 'self/'],
      'kept',
    ])
    expect(await files.list({ path: beside, roots: [beside] }, 10)).toHaveLength(1)
  })

  test.each(['copy', 'move'] as const)(`[E8] ${name}: %s of a file and of a directory`, async (kind) => {
    const { change, at, write, make, list, text, link, root } = await room()
    const carry = (from: string, to: string, failIfExists = false) =>
      change({ kind, from: at(from), to: at(to), failIfExists })
    await write('a', 'file a')
    await write('b', 'file b')
    await make('d/e')
    await write('d/e/f', 'deep')
    await link(`${root}/d/l`, 'e/f')
    await make('taken')
    await refused(carry('a', 'b', true), 'exists')
    await refused(carry('a', 'taken'), 'exists')
    await refused(carry('d', 'b'), 'exists')
    await refused(carry('d', 'taken'), 'exists')
    await refused(carry('a', 'a'), 'unfit')
    await refused(carry('d', 'd'), 'unfit')
    await refused(carry('d', 'd/in'), 'unfit')
    await refused(carry('d', 'd/e/in'), 'unfit')
    await refused(carry('nothing', 'x'), 'missing')
    await refused(carry('a', 'nowhere/x'), 'missing')
    await refused(carry('a', ''), 'outside')
    expect([await text('a'), await text('b')]).toEqual(['file a', 'file b'])
    await carry('a', 'b')
    await carry('d', 'd2', true)
    await carry('b', 'c', true)
    expect([await text('c'), await text('d2/e/f'), await text('d2/l')]).toEqual(['file a', 'deep', 'deep'])
    const left = kind === 'copy' ? ['a', 'b', 'c', 'd/', 'd2/', 'taken/'] : ['c', 'd2/', 'taken/']
    expect(await list('')).toEqual(left)
    await refused(carry('', 'x'), kind === 'copy' ? 'unfit' : 'outside')
  })

  test(`[E8] ${name}: a copy follows the link it is given, a move takes the link itself`, async () => {
    const { change, at, write, link, root, files, text, beside, put } = await room()
    await put(`${beside}/secret`, 'secret')
    await write('a', 'x')
    await link(`${root}/l`, 'a')
    await link(`${root}/out`, `${beside}/secret`)
    await change({ kind: 'copy', from: at('l'), to: at('copied'), failIfExists: false })
    await change({ kind: 'move', from: at('l'), to: at('moved'), failIfExists: false })
    await refused(change({ kind: 'copy', from: at('out'), to: at('x'), failIfExists: false }), 'outside')
    await refused(change({ kind: 'copy', from: at('a'), to: at('out'), failIfExists: false }), 'outside')
    await change({ kind: 'move', from: at('out'), to: at('still out'), failIfExists: true })
    expect((await files.look(at('copied'), false)).type).toBe('file')
    expect((await files.look(at('moved'), false)).type).toBe('symlink')
    await refused(files.read(at('still out'), 100), 'outside')
    // A link gives way to a file, and what it led to stays.
    await write('b', 'y')
    await change({ kind: 'move', from: at('b'), to: at('moved'), failIfExists: false })
    expect([await text('moved'), await text('a')]).toEqual(['y', 'x'])
  })

  test.each(['copy', 'move'] as const)(
    `[E8] ${name}: of many that %s to one new name exactly one does`,
    async (kind) => {
      const { change, at, write, text } = await room()
      const who = Array.from({ length: 6 }, (_, i) => `${i}`)
      for (const each of who) await write(each, each)
      const reasons = await Promise.all(
        who.map((each) => reasonOf(change({ kind, from: at(each), to: at('one'), failIfExists: true }))),
      )
      expect(reasons.filter((reason) => reason === 'exists')).toHaveLength(5)
      expect(await text('one')).toBe(who[reasons.indexOf(undefined)])
    },
  )

  test(`[E2] ${name}: names are text and nothing else`, async () => {
    const { write, text, list } = await room()
    const names = [
      'ü',
      'u\u0308',
      "it's",
      '"',
      ' ',
      'a b',
      'a%20b',
      '~',
      '-rf',
      '*',
      '$(x)',
      '😀',
      'x'.repeat(200),
    ]
    for (const each of names) await write(each, each)
    for (const each of names) expect(await text(each)).toBe(each)
    expect(await list('')).toEqual(names.toSorted())
  })
}

/** Every member that takes a place, given one, by what it does; `other` is a place that is fine. */
export function everything(
  files: Files,
  place: Place,
  other: Place,
): readonly (readonly [string, () => Promise<unknown>])[] {
  const data = new TextEncoder().encode('written')
  const writes: readonly (readonly [string, Write])[] = [
    ['write', {}],
    ['append', { mode: 'append' }],
    ['insert', { mode: 'insert', position: 1 }],
    ['create', { createOnly: true }],
    ['write what was seen', { ifMatch: 'x' }],
  ]
  const changes: readonly (readonly [string, Change])[] = [
    ['make', { kind: 'make', place }],
    ['remove', { kind: 'remove', place, recursive: false }],
    ['remove all', { kind: 'remove', place, recursive: true }],
    ...(['copy', 'move'] as const).flatMap((kind) => [
      [`${kind} from`, { kind, from: place, to: other, failIfExists: false }] as const,
      [`${kind} to`, { kind, from: other, to: place, failIfExists: false }] as const,
      [`${kind} to a new`, { kind, from: other, to: place, failIfExists: true }] as const,
    ]),
  ]
  const wish = { recursive: true, wants: () => true, skips: () => false }
  return [
    ['read', () => files.read(place, 1000)],
    ['list', () => files.list(place, 1000)],
    ['look', () => files.look(place, true)],
    ['look at itself', () => files.look(place, false)],
    ['watch', () => files.watch(place, wish, () => {}).then((watching) => watching.end())],
    ...writes.map(([name, how]) => [name, () => files.write(place, data, how)] as const),
    ...changes.map(([name, change]) => [name, () => files.change(change)] as const),
  ]
}

/** Why something was not done; nothing where it was. Any other failure is one. */
export async function reasonOf(attempt: Promise<unknown>): Promise<FileReason | undefined> {
  try {
    await attempt
    return undefined
  } catch (error) {
    if (error instanceof FileProblem) return error.reason
    throw error
  }
}

export async function refused(attempt: Promise<unknown>, reason: FileReason): Promise<void> {
  expect(await reasonOf(attempt)).toBe(reason)
}

/** A sandbox with short words for what tests do in it. Paths are from its root; nothing is the root itself. */
class Room {
  readonly files: Files
  readonly root: string
  readonly beside: string
  readonly link: Sandbox['link']
  readonly put: Sandbox['put']

  constructor({ files, root, beside, link, put }: Sandbox) {
    this.files = files
    this.root = root
    this.beside = beside
    this.link = link
    this.put = put
  }

  readonly at = (path: string): Place => ({
    path: path === '' ? this.root : `${this.root}/${path}`,
    roots: [this.root],
  })

  readonly write = (path: string, text: string, how?: Write): Promise<void> =>
    this.files.write(this.at(path), new TextEncoder().encode(text), how)

  readonly text = async (path: string): Promise<string> =>
    new TextDecoder().decode(await this.files.read(this.at(path), 1_000_000))

  readonly make = (path: string): Promise<void> => this.files.change({ kind: 'make', place: this.at(path) })

  readonly change = (change: Change): Promise<void> => this.files.change(change)

  readonly etag = async (path: string): Promise<string> => (await this.files.look(this.at(path), true)).etag

  /** Names in order, directories with a slash. */
  readonly list = async (path: string): Promise<readonly string[]> => {
    const entries = await this.files.list(this.at(path), 1000)
    return entries.map(({ name, type }) => (type === 'directory' ? `${name}/` : name)).toSorted()
  }
}
