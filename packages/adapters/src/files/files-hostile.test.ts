import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { pathOf } from '@atrium/protocol/file-uri'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { allCalls, reasonOf, refused } from '../../../host/src/ports/contracts/files-fixture.contract.ts'
import { hostileRoot, hostileUris } from '../../../protocol/test/hostile-uris.ts'
import { descriptors } from '../../test/descriptors.ts'
import { fingerprint } from '../../test/fingerprint.ts'
import { sandbox } from '../../test/sandbox.ts'
import { nodeFiles } from './files.ts'
import { cpuMs } from '../../../host/test/load.ts'

const before = descriptors()
afterAll(() => expect(descriptors()).toEqual(before))

describe('[S-30] special files', () => {
  const kinds: readonly (readonly [string, (path: string) => unknown])[] = [
    ['a FIFO', (path) => spawnSync('mkfifo', [path])],
    ['a socket', (path) => listening(path)],
    ['a device without end', (path) => spawnSync('mknod', [path, 'c', '1', '5'])],
  ]
  test.for(kinds)(
    '[E8.2] %s is refused at once for read, write and copy, and can be removed',
    async ([, make], { skip }) => {
      const { files, root } = sandbox()
      mkdirSync(`${root}/tree`)
      await make(`${root}/tree/odd`)
      if (!existsSync(`${root}/tree/odd`)) skip('needs the right to create devices')
      const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
      const started = cpuMs()
      for (const [what, attempt] of allCalls(files, at('tree/odd'), at('other'))) {
        rmSync(`${root}/other`, { force: true })
        writeFileSync(`${root}/other`, 'other')
        if (/^(remove|move from|look|watch)/.test(what)) continue
        const expected =
          what === 'write what was seen' ? 'changed' : /make|create| to/.test(what) ? 'exists' : 'unfit'
        expect([what, await reasonOf(attempt())]).toEqual([what, expected])
      }
      expect(cpuMs() - started).toBeLessThan(1000)
      expect(await files.stat(at('tree/odd'), true)).toMatchObject({ type: 'file' })
      // A tree that contains a special file is not copied, not even in part, and can be removed.
      await refused(
        files.change({ kind: 'copy', from: at('tree'), to: at('copy'), failIfExists: true }),
        'unfit',
      )
      expect(readdirSync(root).toSorted()).toEqual(['other', 'tree'])
      await files.change({ kind: 'remove', place: at('tree'), recursive: true })
      expect(readdirSync(root)).toEqual(['other'])
    },
  )

  test('a sparse file of one terabyte is refused before a byte of it is read', async () => {
    const { files, root } = sandbox()
    const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
    mkdirSync(`${root}/tree`)
    writeFileSync(`${root}/tree/large`, '')
    truncateSync(`${root}/tree/large`, 2 ** 40)
    const [started, memory] = [cpuMs(), process.memoryUsage().rss]
    await refused(files.read(at('tree/large'), 10_000_000), 'unfit')
    const data = Buffer.from('x')
    await refused(files.write(at('tree/large'), data, { mode: 'insert', position: 5 }), 'unfit')
    await refused(files.write(at('tree/large'), data, { mode: 'append', position: 5 }), 'unfit')
    await refused(files.write(at('tree/large'), data, { mode: 'truncate', position: 2 ** 39 }), 'unfit')
    for (const from of [at('tree'), at('tree/large')])
      await refused(files.change({ kind: 'copy', from, to: at('copy'), failIfExists: true }), 'unfit')
    await files.write(at('tree/large'), data, { mode: 'append' })
    expect((await files.stat(at('tree/large'), true)).size).toBe(2 ** 40 + 1)
    expect(cpuMs() - started).toBeLessThan(1000)
    expect(process.memoryUsage().rss - memory).toBeLessThan(50_000_000)
    await files.write(at('tree/large'), data, { mode: 'truncate', position: 1 })
    expect([...readFileSync(`${root}/tree/large`)]).toEqual([0, 120])
    expect(readdirSync(root)).toEqual(['tree'])
  })

  test.each([
    '/proc/self/environ',
    '/proc/self/mem',
    '/proc/kmsg',
    '/proc',
    '/dev/zero',
    '/dev/shm',
    '/dev',
    '/sys',
  ])('%s is outside, even if the root is /', async (path) => {
    for (const roots of [['/'], [path], ['/proc', '/dev', '/sys']])
      for (const [what, attempt] of allCalls(nodeFiles(), { path, roots }, { path, roots }))
        if (['read', 'list', 'look', 'look at itself', 'watch', 'copy from'].includes(what))
          expect([what, await reasonOf(attempt())]).toEqual([what, 'outside'])
  })
})

describe('[S-28] names', () => {
  const names = [
    'line\nbreak',
    '"quoted"',
    "it's",
    'tab\t',
    '\u202egnp.exe',
    '\u00e9',
    'e\u0301',
    'x (deleted)',
    ' (deleted)',
    'pipe:[1]',
    '...',
    '-rf',
    '\\',
    'C:',
    'a:b',
    'NUL',
    '\u001b[2J',
    '\ufeff',
    'a'.repeat(255),
    'ü'.repeat(127),
    '😀',
    '%2e%2e',
    '.atrium-x.tmp',
  ]
  test.each(names)('%j is an ordinary name', async (name) => {
    const { files, root } = sandbox()
    const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
    await files.change({ kind: 'make', place: at(`d/${name}`) })
    await files.write(at(`d/${name}/${name}`), Buffer.from(name))
    await files.write(at(`d/${name}/${name}`), Buffer.from('!'), { mode: 'append' })
    await files.change({ kind: 'copy', from: at('d'), to: at('e'), failIfExists: true })
    await files.change({ kind: 'move', from: at(`e/${name}/${name}`), to: at(name), failIfExists: true })
    expect(readFileSync(`${root}/${name}`, 'utf8')).toBe(`${name}!`)
    expect(await files.stat(at(`d/${name}`), true)).toMatchObject({ path: `${root}/d/${name}` })
    expect(await files.list(at('d'), 9)).toEqual([{ name, type: 'directory' }])
    await files.change({ kind: 'remove', place: at('d'), recursive: true })
    expect(readdirSync(root).toSorted()).toEqual(['e', name].toSorted())
  })

  test('names that look alike are different files', async () => {
    const { files, root } = sandbox()
    for (const name of ['é', 'e\u0301', 'Å', '\u212b'])
      await files.write({ path: `${root}/${name}`, roots: [root] }, Buffer.from(name))
    for (const name of ['é', 'e\u0301', 'Å', '\u212b'])
      expect(readFileSync(`${root}/${name}`, 'utf8')).toBe(name)
  })

  test('a name that is too long is unfit for every operation', async () => {
    const { files, root } = sandbox()
    writeFileSync(`${root}/other`, 'x')
    const place = { path: `${root}/${'x'.repeat(256)}`, roots: [root] }
    for (const [what, attempt] of allCalls(files, place, { path: `${root}/other`, roots: [root] }))
      expect([what, await reasonOf(attempt())]).toEqual([what, 'unfit'])
    expect(readdirSync(root)).toEqual(['other'])
  })

  test('[E2.1] a name with invalid UTF-8 is not listed, but copied and removed with its directory', async () => {
    const { files, root } = sandbox()
    const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
    mkdirSync(`${root}/d`)
    const odd = Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from([0xff, 0xfe, 0x61])])
    writeFileSync(odd, 'odd')
    // This file has the name to which the invalid bytes would be decoded.
    writeFileSync(`${root}/d/\ufffd\ufffda`, 'another')
    expect(await files.list(at('d'), 9)).toEqual([{ name: '\ufffd\ufffda', type: 'file' }])
    await files.change({ kind: 'copy', from: at('d'), to: at('e'), failIfExists: true })
    expect(readdirSync(`${root}/e`, 'latin1').toSorted()).toEqual(
      readdirSync(`${root}/d`, 'latin1').toSorted(),
    )
    await files.change({ kind: 'remove', place: at('d'), recursive: true })
    expect(readdirSync(root)).toEqual(['e'])
    symlinkSync(Buffer.from([0xff]), `${root}/l`)
    mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]))
    await refused(files.stat(at('l'), true), 'unfit')
  })
})

test('[S-30] a file that grows during a read never yields more than the allowed bytes', async () => {
  const { files, root } = sandbox()
  const place = { path: `${root}/log`, roots: [root] }
  writeFileSync(place.path, 'x'.repeat(900))
  const reading = Array.from({ length: 50 }, () =>
    files.read(place, 1000).then(
      ({ length }) => length,
      () => 0,
    ),
  )
  for (let i = 0; i < 50; i++) {
    writeFileSync(place.path, 'x'.repeat(10), { flag: 'a' })
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await Promise.all(reading)).filter((length) => length > 1000)).toEqual([])
})

test('[S-29] a deleted file is not found through a descriptor that the host has open', async () => {
  const { files, root, beside } = sandbox()
  const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
  for (const name of ['gone', 'linked']) writeFileSync(`${root}/${name}`, 'gone')
  const open = ['gone', 'linked'].map((name) => openSync(`${root}/${name}`, 'r'))
  onTestFinished(() => open.forEach((fd) => closeSync(fd)))
  linkSync(`${root}/linked`, `${beside}/elsewhere`)
  for (const [i, name] of ['gone', 'linked'].entries()) {
    symlinkSync(`/proc/self/fd/${open[i]}`, `${root}/to-${name}`)
    rmSync(`${root}/${name}`)
    await refused(files.read(at(`to-${name}`), 99), 'missing')
    // The kernel shows a deleted file under this name. Another file of this name must not be found instead.
    writeFileSync(`${root}/${name} (deleted)`, 'another')
    await refused(files.read(at(`to-${name}`), 99), 'missing')
  }
})

test('[S-28] hostile URIs that are accepted name missing files inside the root', async () => {
  const { files, root, beside } = sandbox()
  writeFileSync(`${beside}/secret`, 'secret')
  const untouched = fingerprint(beside)
  let taken = 0
  for (const { uri } of hostileUris) {
    const found = pathOf(uri)
    if (!found.ok) continue
    taken++
    const place = { path: found.path.replace(hostileRoot, root), roots: [root] }
    const long = Buffer.byteLength(place.path) - root.length > 256
    await refused(files.read(place, 99), long ? 'unfit' : 'missing')
    const reason = await reasonOf(files.write(place, Buffer.from('x')))
    expect([undefined, 'missing', long ? 'unfit' : undefined]).toContain(reason)
    await files.change({ kind: 'remove', place, recursive: true }).catch(() => {})
  }
  expect(taken).toBeGreaterThan(50)
  expect([readdirSync(root), fingerprint(beside)]).toEqual([[], untouched])
})

test('[S-30] removing a hard link leaves the other link', async () => {
  const { files, root, beside } = sandbox()
  writeFileSync(`${beside}/secret`, 'secret')
  linkSync(`${beside}/secret`, `${root}/hard`)
  await files.change({ kind: 'remove', place: { path: `${root}/hard`, roots: [root] }, recursive: true })
  expect(readFileSync(`${beside}/secret`, 'utf8')).toBe('secret')
})

/** A unix socket with a listener. */
async function listening(path: string): Promise<void> {
  const server = createServer().unref()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
}
