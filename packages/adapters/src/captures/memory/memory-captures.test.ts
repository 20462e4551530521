import { expect, test } from 'vitest'
import { applyContract } from '../../../../host/src/ports/contracts/captures-apply.contract.ts'
import { capturesContract, taking } from '../../../../host/src/ports/contracts/captures.contract.ts'
import type { CapturedFolder } from '../../../../host/src/ports/contracts/captures.contract.ts'
import { MemoryCaptures, MemoryFolders } from './memory-captures.ts'
import type { MemoryFile } from './memory-captures.ts'

const directory = '/work'

async function open(): Promise<CapturedFolder> {
  const disk = new MemoryFolders()
  const captures = new MemoryCaptures(disk)
  const files = new Map<string, MemoryFile>()
  captures.folders.set(directory, files)
  return {
    captures,
    directory,
    async write(path, content, mode = '100644') {
      files.set(path, { bytes: typeof content === 'string' ? bytesOf(content) : content, mode })
    },
    async remove(path) {
      files.delete(path)
    },
    text: async (path) => (files.has(path) ? new TextDecoder().decode(files.get(path)?.bytes) : undefined),
    async ignore(name) {
      captures.ignored.add(name)
    },
    async commit() {
      captures.heads.set(directory, new Map(files))
      captures.branches.set(directory, new Map(files))
    },
    restart: async () => new MemoryCaptures(disk),
  }
}

capturesContract('memory', open)
applyContract('memory', open)

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Applies two edits, and dies at the given pause. Then the next run recovers, while a person may have changed a file. */
async function killedAt(pause: number, meanwhile: (files: Map<string, MemoryFile>) => void = () => {}) {
  const disk = new MemoryFolders()
  const files = new Map<string, MemoryFile>()
  disk.folders.set(directory, files)
  const write = (path: string, text: string) => files.set(path, { bytes: bytesOf(text), mode: '100644' })
  write('a', 'old a')
  write('b', 'old b')
  const before = await new MemoryCaptures(disk).take(directory, taking())
  write('a', 'new a')
  write('b', 'new b')
  const after = await new MemoryCaptures(disk).take(directory, taking())
  let pauses = 0
  const ends = new Promise<void>((end) => {
    const dying = new MemoryCaptures(disk, () => {
      if (++pauses < pause) return Promise.resolve()
      end()
      return new Promise(() => {})
    })
    void dying.compare(before.id, after.id).then((changes) =>
      dying
        .apply(
          directory,
          changes.map(({ path, before: wanted, after: expected }) => ({
            path,
            ...(expected && { expected }),
            ...(wanted && { wanted }),
          })),
        )
        .then(() => end()),
    )
  })
  await ends
  meanwhile(files)
  const applied = await new MemoryCaptures(disk).recover()
  const again = await new MemoryCaptures(disk).recover()
  const text = (path: string) => new TextDecoder().decode(files.get(path)?.bytes)
  return { applied, again, texts: [text('a'), text('b')] }
}

test('[O21] memory: after a crash, either all files of an edit are changed or none', async () => {
  expect(await killedAt(1)).toEqual({ applied: [], again: [], texts: ['new a', 'new b'] })
  expect(await killedAt(2)).toEqual({ applied: [], again: [], texts: ['new a', 'new b'] })
  expect(await killedAt(3)).toEqual({
    applied: [{ directory, done: ['a', 'b'], left: [] }],
    again: [],
    texts: ['old a', 'old b'],
  })
  expect(await killedAt(4)).toEqual({ applied: [], again: [], texts: ['old a', 'old b'] })
})

test('[O21] memory: a file that a person has changed after the crash is left as it is', async () => {
  const { applied, texts } = await killedAt(3, (files) =>
    files.set('b', { bytes: bytesOf('by a person'), mode: '100644' }),
  )
  expect(applied).toMatchObject([{ done: ['a'], left: [{ path: 'b' }] }])
  expect(texts).toEqual(['old a', 'by a person'])
})
