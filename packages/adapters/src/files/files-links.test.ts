import { linkSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { FileReason } from '@atrium/host/ports/files'
import { afterAll, expect, test } from 'vitest'
import { allCalls, reasonOf } from '../../../host/src/ports/contracts/files-fixture.contract.ts'
import { descriptors } from '../../test/descriptors.ts'
import { fingerprint } from '../../test/fingerprint.ts'
import { sandbox } from '../../test/sandbox.ts'

// Every kind of link that leads outside, for every operation that takes a path.

const before = descriptors()
afterAll(() => expect(descriptors()).toEqual(before))

type Out = 'outside' | 'unfit' | 'missing'

/**
 * Each entry: a name, the target of the link under test, and the expected reason. A second link `next` is in the same
 * directory.
 */
const links: readonly (readonly [string, (beside: string, root: string) => string, Out])[] = [
  ['a file', (beside) => `${beside}/secret`, 'outside'],
  ['a file, relatively', () => '../beside/secret', 'outside'],
  ['a file, by way of ..', (_, root) => `${root}/../beside/secret`, 'outside'],
  ['a file, through itself', () => './../root/../beside/secret', 'outside'],
  ['a directory', (beside) => beside, 'outside'],
  ['a directory, with a slash', (beside) => `${beside}/`, 'outside'],
  ['a link that leads out', () => 'next', 'outside'],
  ['a link outside that leads in, to nothing', (beside) => `${beside}/back`, 'outside'],
  ['a link outside that leads out', (beside) => `${beside}/away`, 'outside'],
  ['a sibling with the same beginning', (_, root) => `${root}2/secret`, 'outside'],
  ['the directory above', () => '..', 'outside'],
  ['nothing outside', (beside) => `${beside}/nothing`, 'outside'],
  ['nothing in nothing outside', (beside) => `${beside}/no/thing`, 'outside'],
  ['a path below a file outside', (beside) => `${beside}/secret/x`, 'outside'],
  ['a loop outside', (beside) => `${beside}/circle`, 'outside'],
  ['a name that is too long, outside', (beside) => `${beside}/${'x'.repeat(300)}`, 'outside'],
  ['itself', () => 'link', 'unfit'],
  ['itself, through another', () => 'circle', 'unfit'],
  ['nothing inside', () => 'nothing', 'missing'],
]

/** Operations on the link itself. They succeed, because the link is inside the root. */
const about = ['look at itself', 'remove', 'remove all', 'move from']
/** Operations that are refused because the link exists. */
const blocked = ['create', 'copy to a new', 'move to a new']

test.each(links)('[S-28] [S-29] a link to %s is refused by every operation', async (_, targetOf, out) => {
  const { files, root, beside } = await scene()
  const outsides = [beside, `${root}2`]
  const untouched = outsides.map(fingerprint)
  const target = targetOf(beside, root)
  const place = { path: `${root}/link`, roots: [root] }
  const other = { path: `${root}/other`, roots: [root] }
  for (const [what, attempt] of allCalls(files, place, other)) {
    for (const path of [place.path, other.path]) rmSync(path, { force: true, recursive: true })
    symlinkSync(target, place.path)
    writeFileSync(other.path, 'other', { flag: 'wx' })
    // A copy or a move replaces a dangling link inside the root. A new directory cannot take its name.
    const gives = out === 'missing' && /^(copy|move) to$/.test(what)
    const expected: FileReason | undefined =
      about.includes(what) || gives
        ? undefined
        : blocked.includes(what) || (what === 'make' && out !== 'outside')
          ? 'exists'
          : out
    expect([what, await reasonOf(attempt())]).toEqual([what, expected])
    if (!about.includes(what) && !gives) expect(readlinkSync(place.path)).toBe(target)
  }
  expect(outsides.map(fingerprint)).toEqual(untouched)
})

// Only reads: if the protection fails, the test must not damage the machine.
test.each([
  '/',
  '/etc/passwd',
  '/root/.ssh/id_ed25519',
  '/proc',
  '/proc/self/environ',
  '/proc/self/mem',
  '/proc/self/root',
  '/proc/self/cwd',
  '/proc/self/fd',
  '/proc/self/fd/0',
  '/proc/self/fd/1',
  '/proc/kmsg',
  '/dev',
  '/dev/zero',
  '/dev/urandom',
  '/dev/tty',
  '/dev/stdin',
  '/dev/null',
  '/sys/kernel',
])('[S-28] [S-30] no system file is read through a link to %s', async (target) => {
  const { files, root } = await scene()
  const place = { path: `${root}/link`, roots: [root] }
  symlinkSync(target, place.path)
  for (const [what, attempt] of allCalls(files, place, { path: `${root}/new`, roots: [root] }))
    if (['read', 'list', 'look', 'watch', 'copy from'].includes(what))
      expect([what, await reasonOf(attempt())]).toEqual([what, 'outside'])
})

test.each([
  ['directly', 'out'],
  ['through another link', 'hop'],
  ['through itself', 'loop/loop/out'],
])('[S-28] [S-29] nothing is found or created below a link to a directory outside, %s', async (_, way) => {
  const { files, root, beside } = await scene()
  symlinkSync(beside, `${root}/out`)
  symlinkSync('out', `${root}/hop`)
  symlinkSync('.', `${root}/loop`)
  const untouched = fingerprint(beside)
  for (const name of ['secret', 'new', 'folder', 'folder/new', 'secret/x', 'away', 'no/thing']) {
    const place = { path: `${root}/${way}/${name}`, roots: [root] }
    for (const [what, attempt] of allCalls(files, place, { path: `${root}/other`, roots: [root] })) {
      rmSync(`${root}/other`, { force: true })
      writeFileSync(`${root}/other`, 'other', { flag: 'wx' })
      expect([name, what, await reasonOf(attempt())]).toEqual([name, what, 'outside'])
    }
  }
  expect(fingerprint(beside)).toBe(untouched)
})

test('[S-29] [E1.3] a refusal does not reveal the target of a link', async () => {
  const { files, root, beside } = await scene()
  const messages = new Set<string>()
  for (const target of [`${beside}/secret`, `${beside}/nothing`, '/etc/shadow', '/nowhere', '/root/x']) {
    rmSync(`${root}/link`, { force: true })
    symlinkSync(target, `${root}/link`)
    await files.read({ path: `${root}/link`, roots: [root] }, 100).catch((error: Error) => {
      messages.add(`${error.message} ${Object.entries(error).join()}`)
    })
  }
  expect([...messages]).toEqual([
    'This is not in a directory that may be used. name,FileError,reason,outside',
  ])
})

test('[S-30] [E4.4] a write to a hard link creates a new file, and an append is refused', async () => {
  const { files, root, beside } = await scene()
  const data = Buffer.from('written')
  const place = { path: `${root}/hard`, roots: [root] }
  for (const how of [
    {},
    { mode: 'insert' },
    { mode: 'append', position: 1 },
    { mode: 'truncate', position: 2 },
  ] as const) {
    rmSync(place.path, { force: true })
    linkSync(`${beside}/secret`, place.path)
    await files.write(place, data, how)
    expect(fingerprint(`${beside}/secret`)).toContain('secret')
  }
  rmSync(place.path)
  linkSync(`${beside}/secret`, place.path)
  expect(await reasonOf(files.write(place, data, { mode: 'append' }))).toBe('unfit')
  expect(fingerprint(`${beside}/secret`)).toContain('"secret"')
})

test('[S-28] [E6] a list shows a link that leads outside as a file', async () => {
  const { files, root, beside } = await scene()
  for (const [name, target] of [
    ['dir', beside],
    ['file', `${beside}/secret`],
    ['proc', '/proc'],
    ['in', '.'],
  ] as const)
    symlinkSync(target, `${root}/l-${name}`)
  const entries = await files.list({ path: root, roots: [root] }, 100)
  const seen = entries.filter(({ name }) => name.startsWith('l-')).map(({ name, type }) => `${name} ${type}`)
  expect(seen.toSorted()).toEqual(['l-dir file', 'l-file file', 'l-in directory', 'l-proc file'])
})

/** A root with links and files, a directory with a secret next to it, and a sibling whose name starts with the root's. */
async function scene() {
  const box = sandbox()
  const { root, beside } = box
  mkdirSync(`${root}2`)
  mkdirSync(`${beside}/folder`)
  for (const path of [`${beside}/secret`, `${root}2/secret`, `${beside}/folder/secret`])
    writeFileSync(path, 'secret')
  symlinkSync(`${root}/nothing`, `${beside}/back`)
  symlinkSync(`${root}2/secret`, `${beside}/away`)
  symlinkSync('circle', `${beside}/circle`)
  symlinkSync(`${beside}/secret`, `${root}/next`)
  symlinkSync('link', `${root}/circle`)
  return box
}
