import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type * as fs from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { beforeEach, expect, test, vi } from 'vitest'
import { reasonOf, refused } from '../../../host/src/ports/contracts/files-fixture.contract.ts'
import { descriptors } from '../../test/descriptors.ts'
import { sandbox } from '../../test/sandbox.ts'

// Operations on a disk whose system calls fail on demand.

const none = {
  link: '',
  rename: '',
  sync: '',
  write: '',
  before: async () => {},
  writing: () => {},
}
const faults = vi.hoisted(() => ({ done: [] as string[] }) as typeof none & { done: string[] })
beforeEach(() => void Object.assign(faults, { ...none, done: [] }))

vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original()
  const failing = (code: string) => Object.assign(new Error(`${code}: /a/path`), { code, syscall: 'x' })
  const unless = (fault: 'link' | 'rename') =>
    (async (from, to) => {
      await faults.before()
      if (faults[fault] !== '') throw failing(faults[fault])
      faults.done.push(fault)
      return real[fault](from, to)
    }) satisfies typeof fs.link
  const open: typeof fs.open = async (...args) => {
    const handle = await real.open(...args)
    const { sync, write } = handle
    const broken =
      (fault: 'sync' | 'write', act: (...args: never[]) => Promise<unknown>) =>
      async (...args: never[]) => {
        if (faults[fault] !== '') throw failing(faults[fault])
        if (fault === 'write') faults.writing()
        faults.done.push(`${fault} ${(await handle.stat()).isDirectory() ? 'directory' : 'file'}`)
        return act.apply(handle, args)
      }
    return Object.assign(handle, {
      sync: broken('sync', sync),
      write: broken('write', write as never),
    }) as FileHandle
  }
  return { ...real, link: unless('link'), rename: unless('rename'), open }
})

const room = () => {
  const { files, root, beside } = sandbox()
  const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
  const write = (path: string, text: string, how = {}) => files.write(at(path), Buffer.from(text), how)
  const text = (path: string) => readFileSync(`${root}/${path}`, 'utf8')
  return { files, root, beside, at, write, text }
}

test.each([
  ['sync', 'EIO', 'refused'],
  ['sync', 'ENOSPC', 'refused'],
  ['write', 'ENOSPC', 'refused'],
  ['write', 'EDQUOT', 'refused'],
  ['rename', 'EACCES', 'refused'],
  ['rename', 'EROFS', 'refused'],
  ['link', 'EMFILE', 'refused'],
] as const)(
  '[F-40c] if %s fails with %s, the old file is complete and no temporary file is left',
  async (fault, code, reason) => {
    const { files, root, write, text, at } = room()
    await write('a', 'old')
    await files.change({ kind: 'make', place: at('d/e') })
    await write('d/e/f', 'deep')
    const open = descriptors()
    faults[fault] = code
    const operations = [
      () => write('a', 'new', fault === 'link' ? { createOnly: true } : { mode: 'insert' }),
      () => write('new', 'new', { createOnly: fault === 'link' }),
      () => files.change({ kind: 'copy', from: at('a'), to: at('copy'), failIfExists: fault === 'link' }),
      () => files.change({ kind: 'copy', from: at('d'), to: at('d2'), failIfExists: false }),
    ]
    for (const operation of operations) {
      const failure = await operation().then(
        () => undefined,
        (error: { reason: string; message: string }) => error,
      )
      if (failure) expect(failure.message).not.toMatch(/path|tmp|\//)
      expect([undefined, reason, 'exists']).toContain(failure?.reason)
    }
    expect([text('a'), readdirSync(root).filter((name) => name.startsWith('.'))]).toEqual(['old', []])
    expect(descriptors()).toEqual(open)
  },
)

test('[F-40c] a file is flushed before the rename, and its directory after it', async () => {
  const { write, files, at } = room()
  await write('a', 'a')
  expect(faults.done.splice(0)).toEqual(['write file', 'sync file', 'rename', 'sync directory'])
  await write('b', 'b', { createOnly: true })
  expect(faults.done.splice(0)).toEqual(['write file', 'sync file', 'link', 'sync directory'])
  await write('b', 'b', { mode: 'append' })
  expect(faults.done.splice(0)).toEqual(['write file', 'sync file'])
  await files.change({ kind: 'copy', from: at('a'), to: at('c'), failIfExists: false })
  expect(faults.done.splice(0)).toEqual(['write file', 'sync file', 'rename', 'sync directory'])
})

test.each(['EPERM', 'ENOTSUP'])(
  '[E4] [E4.5] without hard links (%s), of concurrent creations exactly one succeeds',
  async (code) => {
    faults.link = code
    const { root, write, text, files, at } = room()
    const who = Array.from({ length: 6 }, (_, i) => `${i}`)
    const reasons = await Promise.all(who.map((each) => reasonOf(write('a', each, { createOnly: true }))))
    expect(reasons.filter((reason) => reason === 'exists')).toHaveLength(5)
    expect(text('a')).toBe(who[reasons.indexOf(undefined)])
    await write('b', 'b')
    await refused(files.change({ kind: 'move', from: at('b'), to: at('a'), failIfExists: true }), 'exists')
    await files.change({ kind: 'move', from: at('b'), to: at('c'), failIfExists: true })
    expect([readdirSync(root).toSorted(), text('c')]).toEqual([['a', 'c'], 'b'])
  },
)

test.each(['copy', 'move'] as const)(
  '[E8] a file created at the target in the last moment is kept (%s)',
  async (kind) => {
    const { root, at, write, files, text } = room()
    await write('a', 'a')
    faults.before = async () => writeFileSync(`${root}/b`, 'somebody')
    await refused(files.change({ kind, from: at('a'), to: at('b'), failIfExists: true }), 'exists')
    mkdirSync(`${root}/d/e`, { recursive: true })
    faults.before = async () => void mkdirSync(`${root}/d2/theirs`, { recursive: true })
    await refused(files.change({ kind, from: at('d'), to: at('d2'), failIfExists: false }), 'exists')
    faults.before = async () => void mkdirSync(`${root}/c`, { recursive: true })
    await refused(files.change({ kind, from: at('a'), to: at('c'), failIfExists: false }), 'exists')
    expect([text('a'), text('b'), readdirSync(`${root}/d2`), readdirSync(root).toSorted()]).toEqual([
      'a',
      'somebody',
      ['theirs'],
      ['a', 'b', 'c', 'd', 'd2'],
    ])
  },
)

test('[E8] [E7] [E7.1] [E8.3] a move to another disk copies and removes the source; a mounted disk is not emptied', async ({
  skip,
}) => {
  const { root, at, write, files, text } = room()
  mkdirSync(`${root}/on/disk`, { recursive: true })
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', `${root}/on/disk`]).status !== 0)
    skip('needs a mount')
  try {
    await write('a', 'a')
    await files.change({ kind: 'make', place: at('d/e') })
    await write('d/e/f', 'deep')
    chmodSync(`${root}/d/e/f`, 0o750)
    symlinkSync('e/f', `${root}/d/l`)
    await files.change({ kind: 'move', from: at('a'), to: at('on/disk/a'), failIfExists: true })
    await files.change({ kind: 'move', from: at('d'), to: at('on/disk/d'), failIfExists: false })
    expect([readdirSync(root), text('on/disk/a'), text('on/disk/d/l')]).toEqual([['on'], 'a', 'deep'])
    expect(statSync(`${root}/on/disk/d/e/f`).mode & 0o777).toBe(0o750)
    spawnSync('mkfifo', [`${root}/fifo`])
    await refused(
      files.change({ kind: 'move', from: at('fifo'), to: at('on/disk/x'), failIfExists: false }),
      'unfit',
    )
    for (const path of ['on', 'on/disk'])
      await refused(files.change({ kind: 'remove', place: at(path), recursive: true }), 'refused')
    expect(text('on/disk/a')).toBe('a')
  } finally {
    spawnSync('umount', [`${root}/on/disk`])
  }
})

test('[E4] [E4.1] a new version keeps the permissions, without setuid and setgid', async () => {
  const { root, write, files, at } = room()
  for (const [mode, kept] of [
    [0o600, 0o600],
    [0o755, 0o755],
    [0o4755, 0o755],
    [0o2750, 0o750],
  ] as const) {
    await write('a', 'old')
    chmodSync(`${root}/a`, mode)
    await write('a', 'new')
    expect(statSync(`${root}/a`).mode & 0o7777).toBe(kept)
    chmodSync(`${root}/a`, mode)
    await files.change({ kind: 'copy', from: at('a'), to: at('b'), failIfExists: false })
    expect(statSync(`${root}/b`).mode & 0o7777).toBe(kept)
  }
})

test('[E8] a copy or move between two hard links of one file is refused', async () => {
  const { root, write, files, at } = room()
  await write('a', 'a')
  linkSync(`${root}/a`, `${root}/b`)
  for (const kind of ['copy', 'move'] as const)
    await refused(files.change({ kind, from: at('a'), to: at('b'), failIfExists: false }), 'unfit')
  expect(readdirSync(root)).toEqual(['a', 'b'])
})

test('[E4] an append to a file that is replaced meanwhile goes to the new file', async () => {
  const { root, write, text } = room()
  await write('a', 'old ')
  writeFileSync(`${root}/b`, 'new ')
  faults.writing = () => {
    faults.writing = () => {}
    renameSync(`${root}/b`, `${root}/a`)
  }
  await write('a', 'appended', { mode: 'append' })
  expect([text('a'), readdirSync(root)]).toEqual(['new appended', ['a']])
})
