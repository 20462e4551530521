import { describe, expect, onTestFinished, test } from 'vitest'
import type { FileChange, WatchListener, WatchRequest, FileWatch } from './files.ts'

/** A new, empty directory, and what can be done in it. Paths are relative to it; an empty one is the directory itself. */
export interface WatchFixture {
  /** Where it is. */
  readonly path: string
  write(path: string, text: string): Promise<void>
  /** With the directories above it. */
  make(path: string): Promise<void>
  move(from: string, to: string): Promise<void>
  /** With all that is in it. */
  remove(path: string): Promise<void>
  /** A link that leads to `target`, which is absolute. */
  link(path: string, target: string): Promise<void>
  /** Everything below it, links not followed. */
  list(): Promise<ReadonlySet<string>>
  watch(path: string, wish: WatchRequest, tell: WatchListener): Promise<FileWatch>
}

export const everything: WatchRequest = { recursive: true, wants: () => true, skips: () => false }

/** Remembers what it is told, and what is there if all of that is true. */
export class ChangeRecorder {
  readonly changes: FileChange[] = []
  readonly paths: Set<string>
  lost = 0
  calls = 0
  #waiting: (() => void)[] = []

  constructor(paths: Iterable<string> = []) {
    this.paths = new Set(paths)
  }

  readonly listener: WatchListener = (changes, lost) => {
    this.calls++
    if (lost) this.lost++
    for (const { path, type } of changes) {
      if (type !== 'deleted') this.paths.add(path)
      else if (path === '') this.paths.clear()
      else this.paths.delete(path)
    }
    this.changes.push(...changes)
    for (const look of this.#waiting.splice(0)) look()
  }

  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  has(path: string, type: FileChange['type']): boolean {
    return this.changes.some((change) => change.path === path && change.type === type)
  }

  received(path: string, type: FileChange['type']): Promise<void> {
    return this.until(() => this.has(path, type))
  }

  of(path: string): readonly string[] {
    return this.changes.filter((change) => change.path === path).map(({ type }) => type)
  }
}

/** What every way to watch files must do. */
export function watchContract(name: string, open: () => Promise<WatchFixture>): void {
  const watching = async (yard: WatchFixture, path = '', wish: Partial<WatchRequest> = {}) => {
    const listener = new ChangeRecorder(await yard.list())
    const watch = await yard.watch(path, { ...everything, ...wish }, listener.listener)
    onTestFinished(() => watch.end())
    return { listener, watch }
  }

  describe(`${name}: watching`, () => {
    test('[O1] what is made, changed and removed is told, below too', async () => {
      const yard = await open()
      await yard.make('a/b')
      await yard.write('a/b/old', '1')
      const { listener } = await watching(yard)
      await yard.write('a/b/new', '1')
      await listener.received('a/b/new', 'added')
      await yard.write('a/b/old', '22')
      await listener.received('a/b/old', 'updated')
      await yard.remove('a/b/old')
      await listener.received('a/b/old', 'deleted')
      await yard.remove('a')
      await listener.until(() => ['a', 'a/b', 'a/b/new'].every((path) => listener.has(path, 'deleted')))
      expect(listener.paths).toEqual(await yard.list())
      expect(listener.has('a/b/new', 'deleted')).toBe(true)
    })

    test('[O2] what is made and filled in one breath is told, however deep, and so is what comes later', async () => {
      const yard = await open()
      const { listener } = await watching(yard)
      for (const round of Array.from({ length: 50 }, (_, i) => i)) {
        await yard.make(`${round}/a/b/c`)
        await yard.write(`${round}/a/b/c/file`, '1')
      }
      await listener.until(() => listener.paths.size === 50 * 5)
      await yard.write('49/a/b/c/later', '1')
      await listener.received('49/a/b/c/later', 'added')
      expect(listener.paths).toEqual(await yard.list())
    })

    test('[O3] only what is wanted is told, and a skipped directory is told of but not what is in it', async () => {
      const yard = await open()
      await yard.make('deps/x')
      const { listener } = await watching(yard, '', {
        wants: (path) => !path.endsWith('.log'),
        skips: (path) => path === 'deps' || path === 'out',
      })
      await yard.write('deps/x/file', '1')
      await yard.write('a.log', '1')
      await yard.make('out/y')
      await yard.write('last', '1')
      await listener.until(() => listener.has('last', 'added') && listener.has('out', 'added'))
      expect(listener.changes.map(({ path }) => path).toSorted()).toEqual(['last', 'out'])
    })

    test('[O3] without what is below, only what is in the directory is told', async () => {
      const yard = await open()
      await yard.make('a')
      const { listener } = await watching(yard, '', { recursive: false })
      await yard.write('a/file', '1')
      await yard.make('b/c')
      await yard.write('last', '1')
      await listener.until(() => listener.has('last', 'added') && listener.has('b', 'added'))
      expect(listener.changes.map(({ path }) => path).toSorted()).toEqual(['b', 'last'])
    })

    test('[O3] a link is told of and never followed', async () => {
      const [yard, other] = [await open(), await open()]
      await other.write('secret', '1')
      const { listener } = await watching(yard)
      await yard.link('way', other.path)
      await listener.received('way', 'added')
      await other.write('more', '1')
      await yard.remove('way')
      await listener.received('way', 'deleted')
      expect(listener.changes.map(({ path }) => path)).toEqual(['way', 'way'])
      expect([...(await other.list())].toSorted()).toEqual(['more', 'secret'])
    })

    test('[O4] a directory that is moved is deleted and added, and heard in its new place', async () => {
      const yard = await open()
      await yard.make('a/b')
      await yard.write('a/b/file', '1')
      const { listener } = await watching(yard)
      await yard.move('a', 'z')
      await listener.until(() => listener.has('z/b/file', 'added') && listener.has('a/b/file', 'deleted'))
      await yard.write('z/b/later', '1')
      await listener.received('z/b/later', 'added')
      expect(listener.paths).toEqual(await yard.list())
    })

    test('[O4] one directory in the place of another is heard there, and the other no more', async () => {
      const yard = await open()
      for (const top of ['a', 'b']) {
        await yard.make(`${top}/in`)
        await yard.write(`${top}/in/${top}`, '1')
        await yard.write(`${top}/in/same`, top)
      }
      const { listener } = await watching(yard)
      await yard.move('a', 'c')
      await yard.move('b', 'a')
      await listener.until(() => listener.has('a/in/b', 'added') && listener.has('a/in/same', 'updated'))
      await yard.write('a/in/new', '1')
      await yard.write('c/in/new', '1')
      await listener.until(() => listener.has('a/in/new', 'added') && listener.has('c/in/new', 'added'))
      expect(listener.paths).toEqual(await yard.list())
    })

    test('[O5] of what happens at once each path is told once, as the difference that it makes', async () => {
      const yard = await open()
      await yard.write('kept', '1')
      const { listener } = await watching(yard)
      await yard.write('short', '1')
      await yard.remove('short')
      await yard.remove('kept')
      await yard.write('kept', '2')
      await yard.write('new', '1')
      await yard.write('new', '22')
      await yard.write('new', '333')
      await listener.until(() => listener.has('new', 'added') && listener.has('kept', 'updated'))
      expect(listener.calls).toBeLessThanOrEqual(3)
      expect(listener.paths).toEqual(await yard.list())
    })

    test('[O6] what is watched may go and come back', async () => {
      const yard = await open()
      await yard.make('root/a')
      const { listener } = await watching(yard, 'root')
      await yard.remove('root')
      await listener.received('', 'deleted')
      await yard.make('root/b')
      await listener.until(() => listener.has('', 'added') && listener.has('b', 'added'))
      await yard.write('root/b/file', '1')
      await listener.received('b/file', 'added')
      expect([...listener.paths].toSorted()).toEqual(['', 'b', 'b/file'])
    })

    test('[O6] a file may be watched, replaced, removed and made again', async () => {
      const yard = await open()
      await yard.write('file', '1')
      const { listener } = await watching(yard, 'file')
      await yard.write('file', '22')
      await listener.received('', 'updated')
      listener.changes.length = 0
      await yard.write('other', '333')
      await yard.move('other', 'file')
      await listener.received('', 'updated')
      listener.changes.length = 0
      await yard.write('file', '4444')
      await listener.received('', 'updated')
      await yard.remove('file')
      await listener.received('', 'deleted')
      await yard.write('file', '1')
      await listener.received('', 'added')
    })

    test('[O7] what has ended tells nothing, and others go on', async () => {
      const yard = await open()
      const [first, second] = [await watching(yard), await watching(yard)]
      await yard.write('a', '1')
      await first.watch.end()
      const { calls } = first.listener
      await yard.write('b', '1')
      await second.listener.received('b', 'added')
      expect(first.listener.calls).toBe(calls)
      await first.watch.end()
    })
  })
}
