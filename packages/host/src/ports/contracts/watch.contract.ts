import { describe, expect, onTestFinished, test } from 'vitest'
import type { FileChange, WatchListener, WatchRequest, FileWatch } from '../files.ts'

/** A new, empty directory and operations in it. Paths are relative to the directory; an empty path is the directory itself. */
export interface WatchFixture {
  /** The absolute path of the directory. */
  readonly path: string
  write(path: string, text: string): Promise<void>
  /** Creates a directory and its parents. */
  make(path: string): Promise<void>
  move(from: string, to: string): Promise<void>
  /** Removes a file, or a directory with its content. */
  remove(path: string): Promise<void>
  /** Makes several changes without a pause, so that nothing can be reported between two of them. */
  atOnce(...changes: readonly Change[]): void
  /** Creates a symbolic link to `target`, an absolute path. */
  link(path: string, target: string): Promise<void>
  /** Returns all paths below the directory, without following links. */
  list(): Promise<ReadonlySet<string>>
  watch(path: string, request: WatchRequest, listener: WatchListener): Promise<FileWatch>
}

/** A change that `WatchFixture.atOnce` makes. */
export type Change =
  | { readonly write: string; readonly text: string }
  | { readonly move: string; readonly to: string }
  | { readonly remove: string }

export const everything: WatchRequest = { recursive: true, wants: () => true, skips: () => false }

/** Records the reported changes, and computes from them the paths that should exist. */
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
    for (const wake of this.#waiting.splice(0)) wake()
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

/** The suite that every file watch passes. */
export function watchContract(name: string, open: () => Promise<WatchFixture>): void {
  const watching = async (fixture: WatchFixture, path = '', request: Partial<WatchRequest> = {}) => {
    const recorder = new ChangeRecorder(await fixture.list())
    const watch = await fixture.watch(path, { ...everything, ...request }, recorder.listener)
    onTestFinished(() => watch.end())
    return { recorder, watch }
  }

  describe(`${name}: watching`, () => {
    test('[O1] creations, changes and removals are reported, in subdirectories too', async () => {
      const fixture = await open()
      await fixture.make('a/b')
      await fixture.write('a/b/old', '1')
      const { recorder } = await watching(fixture)
      await fixture.write('a/b/new', '1')
      await recorder.received('a/b/new', 'added')
      await fixture.write('a/b/old', '22')
      await recorder.received('a/b/old', 'updated')
      await fixture.remove('a/b/old')
      await recorder.received('a/b/old', 'deleted')
      await fixture.remove('a')
      await recorder.until(() => ['a', 'a/b', 'a/b/new'].every((path) => recorder.has(path, 'deleted')))
      expect(recorder.paths).toEqual(await fixture.list())
      expect(recorder.has('a/b/new', 'deleted')).toBe(true)
    })

    test('[O2] directories that are created and filled at once are reported, however deep, and so are later files in them', async () => {
      const fixture = await open()
      const { recorder } = await watching(fixture)
      for (const round of Array.from({ length: 50 }, (_, i) => i)) {
        await fixture.make(`${round}/a/b/c`)
        await fixture.write(`${round}/a/b/c/file`, '1')
      }
      await recorder.until(() => recorder.paths.size === 50 * 5)
      await fixture.write('49/a/b/c/later', '1')
      await recorder.received('49/a/b/c/later', 'added')
      expect(recorder.paths).toEqual(await fixture.list())
    })

    test('[O3] only wanted paths are reported; of a skipped directory only the directory itself', async () => {
      const fixture = await open()
      await fixture.make('deps/x')
      const { recorder } = await watching(fixture, '', {
        wants: (path) => !path.endsWith('.log'),
        skips: (path) => path === 'deps' || path === 'out',
      })
      await fixture.write('deps/x/file', '1')
      await fixture.write('a.log', '1')
      await fixture.make('out/y')
      await fixture.write('last', '1')
      await recorder.until(() => recorder.has('last', 'added') && recorder.has('out', 'added'))
      expect(recorder.changes.map(({ path }) => path).toSorted()).toEqual(['last', 'out'])
    })

    test('[O3] a watch that is not recursive reports only the entries of the directory', async () => {
      const fixture = await open()
      await fixture.make('a')
      const { recorder } = await watching(fixture, '', { recursive: false })
      await fixture.write('a/file', '1')
      await fixture.make('b/c')
      await fixture.write('last', '1')
      await recorder.until(() => recorder.has('last', 'added') && recorder.has('b', 'added'))
      expect(recorder.changes.map(({ path }) => path).toSorted()).toEqual(['b', 'last'])
    })

    test('[O3] a symbolic link is reported and never followed', async () => {
      const [fixture, other] = [await open(), await open()]
      await other.write('secret', '1')
      const { recorder } = await watching(fixture)
      await fixture.link('way', other.path)
      await recorder.received('way', 'added')
      await other.write('more', '1')
      await fixture.remove('way')
      await recorder.received('way', 'deleted')
      expect(recorder.changes.map(({ path }) => path)).toEqual(['way', 'way'])
      expect([...(await other.list())].toSorted()).toEqual(['more', 'secret'])
    })

    test('[O4] a moved directory is reported as deleted and added, and is watched under its new path', async () => {
      const fixture = await open()
      await fixture.make('a/b')
      await fixture.write('a/b/file', '1')
      const { recorder } = await watching(fixture)
      await fixture.move('a', 'z')
      await recorder.until(() => recorder.has('z/b/file', 'added') && recorder.has('a/b/file', 'deleted'))
      await fixture.write('z/b/later', '1')
      await recorder.received('z/b/later', 'added')
      expect(recorder.paths).toEqual(await fixture.list())
    })

    test('[O4] a directory that replaces another is watched in its place, and the other under its new path', async () => {
      const fixture = await open()
      for (const top of ['a', 'b']) {
        await fixture.make(`${top}/in`)
        await fixture.write(`${top}/in/${top}`, '1')
        await fixture.write(`${top}/in/same`, top)
      }
      const { recorder } = await watching(fixture)
      // With a report in between, `a/in/same` would be deleted and then added.
      fixture.atOnce({ move: 'a', to: 'c' }, { move: 'b', to: 'a' })
      await recorder.until(() => recorder.has('a/in/b', 'added') && recorder.has('a/in/same', 'updated'))
      await fixture.write('a/in/new', '1')
      await fixture.write('c/in/new', '1')
      await recorder.until(() => recorder.has('a/in/new', 'added') && recorder.has('c/in/new', 'added'))
      expect(recorder.paths).toEqual(await fixture.list())
    })

    test('[O5] changes at the same time are reported once for each path, as the resulting difference', async () => {
      const fixture = await open()
      await fixture.write('kept', '1')
      const { recorder } = await watching(fixture)
      fixture.atOnce(
        { write: 'short', text: '1' },
        { remove: 'short' },
        { remove: 'kept' },
        { write: 'kept', text: '2' },
        { write: 'new', text: '1' },
        { write: 'new', text: '22' },
        { write: 'new', text: '333' },
      )
      await recorder.until(() => recorder.has('new', 'added') && recorder.has('kept', 'updated'))
      expect(recorder.calls).toBeLessThanOrEqual(3)
      expect(recorder.paths).toEqual(await fixture.list())
    })

    test('[O6] the watched directory may be removed and created again', async () => {
      const fixture = await open()
      await fixture.make('root/a')
      const { recorder } = await watching(fixture, 'root')
      await fixture.remove('root')
      await recorder.received('', 'deleted')
      await fixture.make('root/b')
      await recorder.until(() => recorder.has('', 'added') && recorder.has('b', 'added'))
      await fixture.write('root/b/file', '1')
      await recorder.received('b/file', 'added')
      expect([...recorder.paths].toSorted()).toEqual(['', 'b', 'b/file'])
    })

    test('[O6] a watched file may be replaced, removed and created again', async () => {
      const fixture = await open()
      await fixture.write('file', '1')
      const { recorder } = await watching(fixture, 'file')
      await fixture.write('file', '22')
      await recorder.received('', 'updated')
      recorder.changes.length = 0
      await fixture.write('other', '333')
      await fixture.move('other', 'file')
      await recorder.received('', 'updated')
      recorder.changes.length = 0
      await fixture.write('file', '4444')
      await recorder.received('', 'updated')
      await fixture.remove('file')
      await recorder.received('', 'deleted')
      await fixture.write('file', '1')
      await recorder.received('', 'added')
    })

    test('[O7] a watch that was ended reports nothing, and others go on', async () => {
      const fixture = await open()
      const [first, second] = [await watching(fixture), await watching(fixture)]
      await fixture.write('a', '1')
      await first.watch.end()
      const { calls } = first.recorder
      await fixture.write('b', '1')
      await second.recorder.received('b', 'added')
      expect(first.recorder.calls).toBe(calls)
      await first.watch.end()
    })
  })
}
