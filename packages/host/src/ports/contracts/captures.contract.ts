import { describe, expect, test } from 'vitest'
import { CaptureFailed } from '../captures.ts'
import type { CaptureBudget, CaptureOptions, Captures, CapturedChange, CapturedFile } from '../captures.ts'

/** An empty folder, and operations on it. Paths are relative to the folder. */
export interface CapturedFolder {
  readonly captures: Captures
  readonly directory: string
  write(path: string, content: string | Uint8Array, mode?: CapturedFile['mode']): Promise<void>
  remove(path: string): Promise<void>
  /** The text of a file or the target of a link; undefined if there is none. */
  text(path: string): Promise<string | undefined>
  /** Makes captures leave out files of this name in every folder, as ignored files. */
  ignore(name: string): Promise<void>
  /** Commits all files that are not ignored. Absent if the folder has no repository. */
  readonly commit?: () => Promise<void>
  /** The captures as the next run of the host sees them. */
  restart(): Promise<Captures>
}

export const amply: CaptureBudget = { bytes: 1e9, files: 1e6, fileBytes: 1e8 }

export const taking = (more: Partial<CaptureOptions> = {}): CaptureOptions => ({
  of: 'files',
  budget: amply,
  signal: new AbortController().signal,
  ...more,
})

/** The suite that every implementation of `Captures` passes. */
export function capturesContract(name: string, open: () => Promise<CapturedFolder>): void {
  const opened = async () => {
    const folder = await open()
    const take = async (more?: Partial<CaptureOptions>) =>
      (await folder.captures.take(folder.directory, taking(more))).id
    const changesOf = async (change: () => Promise<void>): Promise<readonly CapturedChange[]> => {
      const before = await take()
      await change()
      return folder.captures.compare(before, await take())
    }
    return { ...folder, folder, take, changesOf }
  }

  describe(`${name}: captures`, () => {
    test('[O16] two captures differ by what was added, changed and deleted between them', async () => {
      const { folder, changesOf } = await opened()
      await folder.write('b', 'one\ntwo\nthree\n')
      await folder.write('gone/deep', 'x\n')
      await folder.write('same', 's\n')
      const changes = await changesOf(async () => {
        await folder.write('b', 'one\n2\nthree\nfour\n')
        await folder.remove('gone/deep')
        await folder.write('a/new', 'n1\nn2\n')
      })
      expect(changes).toMatchObject([
        { path: 'a/new', after: { mode: '100644', size: 6 }, added: 2, removed: 0 },
        { path: 'b', before: { size: 14 }, after: { size: 17 }, added: 2, removed: 1 },
        { path: 'gone/deep', before: { mode: '100644', size: 2 }, added: 0, removed: 1 },
      ])
      expect(changes[0]).not.toHaveProperty('before')
      expect(changes[2]).not.toHaveProperty('after')
    })

    test('[O16] both sides of a change can be read, also after a restart', async () => {
      const { folder, changesOf } = await opened()
      await folder.write('file', 'old')
      const [change] = await changesOf(() => folder.write('file', 'new'))
      for (const captures of [folder.captures, await folder.restart()]) {
        expect(await textOf(captures, change?.before)).toBe('old')
        expect(await textOf(captures, change?.after)).toBe('new')
      }
    })

    test('[O16] [O16.2] the captures of a folder that did not change are the same, and the second costs nothing', async () => {
      const { folder, captures, directory } = await opened()
      await folder.write('file', '1')
      const first = await captures.take(directory, taking())
      const second = await captures.take(directory, taking())
      expect(second).toEqual({ id: first.id, directory, bytes: 0, omitted: [] })
      expect(await captures.compare(first.id, second.id)).toEqual([])
      await folder.write('file', '2')
      await captures.take(directory, taking())
      await folder.write('file', '1')
      expect((await captures.take(directory, taking())).id).toBe(first.id)
    })

    test('[O16] a captured folder may be empty', async () => {
      const { folder, changesOf } = await opened()
      const [change] = await changesOf(() => folder.write('file', '1'))
      expect(change).toMatchObject({ path: 'file', added: 1 })
    })

    test('[O16] a rename is one change', async () => {
      const { folder, changesOf } = await opened()
      await folder.write('from', 'one\ntwo\nthree\n')
      const changes = await changesOf(async () => {
        await folder.remove('from')
        await folder.write('to/here', 'one\ntwo\nthree\n')
      })
      expect(changes).toMatchObject([{ path: 'to/here', oldPath: 'from', added: 0, removed: 0 }])
      expect(changes[0]?.before).toEqual(changes[0]?.after)
    })

    test('[O16] modes, links and binary files', async () => {
      const { folder, changesOf } = await opened()
      await folder.write('script', '#!/bin/sh\n')
      await folder.write('link', 'script', '120000')
      await folder.write('picture', new Uint8Array([0, 1, 2, 255]))
      const changes = await changesOf(async () => {
        await folder.write('script', '#!/bin/sh\n', '100755')
        await folder.write('link', 'no/such/file', '120000')
        await folder.write('picture', new Uint8Array([0, 1, 255]))
      })
      expect(changes).toMatchObject([
        { path: 'link', before: { mode: '120000', size: 6 }, after: { mode: '120000', size: 12 } },
        { path: 'picture', before: { size: 4 }, after: { size: 3 }, binary: true },
        { path: 'script', before: { mode: '100644' }, after: { mode: '100755' }, added: 0, removed: 0 },
      ])
      expect(changes[1]).not.toHaveProperty('added')
      expect(await textOf(folder.captures, changes[0]?.after)).toBe('no/such/file')
    })

    test('[O16] names may have any characters', async () => {
      const { folder, changesOf } = await opened()
      const names = ['-x', ':(glob)*', 'a\nb\t"c"', 'sp ace/ünï𝒳', '\\back', 'é', '~']
      const changes = await changesOf(async () => {
        for (const path of names) await folder.write(path, `${path}.`)
      })
      expect(changes.map(({ path }) => path).toSorted()).toEqual(names.toSorted())
      for (const { path, after } of changes) expect(await textOf(folder.captures, after)).toBe(`${path}.`)
    })

    test('[O17] ignored files are not captured', async () => {
      const { folder, changesOf } = await opened()
      await folder.ignore('junk')
      const changes = await changesOf(async () => {
        await folder.write('junk', '1')
        await folder.write('deep/junk', '1')
        await folder.write('kept', '1')
      })
      expect(changes.map(({ path }) => path)).toEqual(['kept'])
    })

    test('[O18] [O18.1] a file past its budget is named and not stored, and a change of it is seen', async () => {
      const { folder, captures, directory } = await opened()
      const budget = { ...amply, fileBytes: 10 }
      await folder.write('large', 'x'.repeat(11))
      await folder.write('fits', 'x'.repeat(10))
      const first = await captures.take(directory, taking({ budget }))
      expect(first.omitted).toEqual([{ path: 'large', reason: expect.stringMatching(/^It .+\.$/) }])
      expect((await captures.take(directory, taking({ budget }))).id).toBe(first.id)
      await folder.write('large', 'y'.repeat(12))
      const second = await captures.take(directory, taking({ budget }))
      const [change, ...others] = await captures.compare(first.id, second.id)
      expect(others).toEqual([])
      expect(change).toMatchObject({
        path: 'large',
        before: { size: 11, omitted: expect.stringMatching(/^It .+\.$/) },
        after: { size: 12, omitted: expect.stringMatching(/^It .+\.$/) },
      })
      expect(change).not.toHaveProperty('added')
      await expect(captures.read(change?.after?.content ?? '')).rejects.toThrow(CaptureFailed)
    })

    test('[O18] a capture past its budget fails with a sentence, and a later one with more succeeds', async () => {
      const { folder, captures, directory, take } = await opened()
      await folder.write('base', '1')
      const before = await take()
      await folder.write('a', 'x'.repeat(60))
      await folder.write('b', 'y'.repeat(60))
      for (const part of [{ bytes: 100 }, { files: 1 }]) {
        const taken = captures.take(directory, taking({ budget: { ...amply, ...part } }))
        await expect(taken).rejects.toThrow(CaptureFailed)
        await expect(taken).rejects.toThrow(/^[A-Z].+\.$/)
      }
      const after = await take({ budget: { ...amply, bytes: 120, files: 2 } })
      expect((await captures.compare(before, after)).map(({ path }) => path)).toEqual(['a', 'b'])
    })

    test('[O18] [O18.2] there is no capture of a missing folder, and none after it was stopped', async () => {
      const { captures, directory, folder, take } = await opened()
      await expect(captures.take(`${directory}/no/such`, taking())).rejects.toThrow(CaptureFailed)
      await folder.write('file', '1')
      const stopped = taking({ signal: AbortSignal.abort() })
      await expect(captures.take(directory, stopped)).rejects.toThrow(CaptureFailed)
      await take()
    })

    test('[O19] the commit that is checked out is a capture, too', async ({ skip }) => {
      const { folder, captures, take } = await opened()
      if (!folder.commit) return skip('no repository')
      expect(await captures.compare(await take({ of: 'head' }), await take())).toEqual([])
      await folder.write('file', 'committed\n')
      await folder.write('other', 'o\n')
      await folder.commit()
      const head = await take({ of: 'head' })
      expect(await captures.compare(head, await take())).toEqual([])
      expect(await take({ of: 'branch' })).toBe(head)
      await folder.write('file', 'changed\n')
      const changes = await captures.compare(head, await take())
      expect(changes).toMatchObject([{ path: 'file', added: 1, removed: 1 }])
      expect(await textOf(captures, changes[0]?.before)).toBe('committed\n')
    })

    test('[O22] what no kept capture needs is deleted', async () => {
      const { folder, captures, take } = await opened()
      await folder.write('file', 'first')
      const first = await take()
      await folder.write('file', 'second')
      const second = await take()
      await folder.write('file', 'third')
      const third = await take()
      const [dropped] = await captures.compare(first, second)
      await captures.collect(new Set([second, third]))
      await expect(captures.read(dropped?.before?.content ?? '')).rejects.toThrow(CaptureFailed)
      await expect(captures.compare(first, second)).rejects.toThrow(CaptureFailed)
      const [kept] = await captures.compare(second, third)
      expect(await textOf(captures, kept?.before)).toBe('second')
      expect(await textOf(captures, kept?.after)).toBe('third')
      await folder.write('file', 'fourth')
      expect(await captures.compare(third, await take())).toMatchObject([{ path: 'file' }])
    })

    test('[O22] a capture that is taken while others are deleted is kept', async () => {
      const { folder, captures, take } = await opened()
      await folder.write('file', '1')
      const taking1 = take()
      const collected = captures.collect(new Set())
      const first = await taking1
      await collected
      await folder.write('file', '2')
      const [change] = await captures.compare(first, await take())
      expect(await textOf(captures, change?.before)).toBe('1')
    })
  })
}

export async function textOf(captures: Captures, file: CapturedFile | undefined): Promise<string> {
  return new TextDecoder().decode(await captures.read(file?.content ?? ''))
}
