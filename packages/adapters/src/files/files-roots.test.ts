import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { allCalls, reasonOf, refused } from '../../../host/src/ports/contracts/files-fixture.contract.ts'
import { descriptors } from '../../test/descriptors.ts'
import { fingerprint } from '../../test/fingerprint.ts'
import { sandbox } from '../../test/sandbox.ts'
import { nodeFiles } from './files.ts'

const before = descriptors()
afterAll(() => expect(descriptors()).toEqual(before))

describe('[S-29] roots', () => {
  test('in a removed root nothing is found and nothing is created', async () => {
    const { files, root, beside } = sandbox()
    rmSync(root, { recursive: true })
    for (const path of [root, `${root}/a`, `${root}/a/b`])
      for (const [what, attempt] of allCalls(
        files,
        { path, roots: [root] },
        { path: `${beside}/x`, roots: [beside] },
      )) {
        const reason = await reasonOf(attempt())
        expect([what, ['missing', 'outside', 'unfit', 'exists'].includes(reason ?? 'done')]).toEqual([
          what,
          true,
        ])
      }
    expect([existsSync(root), readdirSync(beside)]).toEqual([false, []])
  })

  test('[E1.4] a root that is a link leads to its present target, and paths start with the root as given', async () => {
    const { files, root, beside } = sandbox()
    writeFileSync(`${beside}/a`, 'first')
    mkdirSync(`${root}/second`)
    writeFileSync(`${root}/second/a`, 'second')
    const given = `${root}/given`
    symlinkSync(beside, given)
    const place = { path: `${given}/a`, roots: [given] }
    expect(Buffer.from(await files.read(place, 99)).toString()).toBe('first')
    expect((await files.stat(place, true)).path).toBe(`${given}/a`)
    symlinkSync(`${root}/second`, `${root}/new`)
    renameSync(`${root}/new`, given)
    expect(Buffer.from(await files.read(place, 99)).toString()).toBe('second')
    symlinkSync(`${beside}/a`, `${root}/second/old`)
    await refused(files.read({ path: `${given}/old`, roots: [given] }, 99), 'outside')
    await refused(
      files.change({ kind: 'remove', place: { path: given, roots: [given] }, recursive: true }),
      'outside',
    )
  })

  test('a root may be reached through a link that leads out of another root', async () => {
    const { files, root, beside } = sandbox()
    mkdirSync(`${beside}/deep`)
    symlinkSync(beside, `${root}/out`)
    const roots = [root, `${root}/out/deep`]
    await files.change({ kind: 'make', place: { path: `${root}/out/deep/a/b`, roots } })
    await refused(files.change({ kind: 'make', place: { path: `${root}/out/a`, roots } }), 'outside')
    expect([readdirSync(beside), readdirSync(`${beside}/deep/a`)]).toEqual([['deep'], ['b']])
  })

  test('[E7.2] a root inside a root cannot be removed, nor can the directories that contain it', async () => {
    const { files, root } = sandbox()
    mkdirSync(`${root}/a/b/c`, { recursive: true })
    symlinkSync('a/b', `${root}/l`)
    const roots = [root, `${root}/a/b`]
    const untouched = fingerprint(root)
    for (const path of ['a', 'a/b']) {
      const place = { path: `${root}/${path}`, roots }
      const to = { path: `${root}/x`, roots }
      await refused(files.change({ kind: 'remove', place, recursive: true }), 'outside')
      await refused(files.change({ kind: 'move', from: place, to, failIfExists: false }), 'outside')
    }
    const onto = { path: `${root}/a/b`, roots }
    for (const kind of ['copy', 'move'] as const)
      await refused(
        files.change({ kind, from: { path: `${root}/l`, roots }, to: onto, failIfExists: false }),
        'outside',
      )
    expect(fingerprint(root)).toBe(untouched)
    await files.change({ kind: 'remove', place: { path: `${root}/l`, roots }, recursive: true })
    expect(readdirSync(root)).toEqual(['a'])
  })

  test.each([
    ['by its path', (data: string) => data],
    ['by a link', (data: string) => `${data}-link`],
  ])("[E1.5] the host's own directories are outside, named %s, whatever the roots are", async (_, named) => {
    const { root, beside } = sandbox()
    mkdirSync(`${root}/own/data`, { recursive: true })
    writeFileSync(`${root}/own/data/token`, 'token')
    symlinkSync(`${root}/own/data`, `${root}/own/data-link`)
    symlinkSync('own/data/token', `${root}/to`)
    const forbidden = [named(`${root}/own/data`), `${root}/later`]
    const files = nodeFiles({ forbidden })
    const untouched = fingerprint(`${root}/own`)
    writeFileSync(`${beside}/other`, 'x')
    const other = { path: `${beside}/other`, roots: [beside] }
    const paths = [
      'own/data',
      'own/data/token',
      'own/data/new',
      'own/data-link/token',
      'own/data-link/new',
      'later',
      'later/x',
    ]
    for (const path of paths)
      for (const roots of [['/'], [root], [`${root}/own/data`, root]])
        for (const [what, attempt] of allCalls(files, { path: `${root}/${path}`, roots }, other))
          expect([path, what, await reasonOf(attempt())]).toEqual([path, what, 'outside'])
    const roots = [root]
    await refused(files.read({ path: `${root}/to`, roots }, 99), 'outside')
    const own = { path: `${root}/own`, roots }
    await refused(files.change({ kind: 'remove', place: own, recursive: true }), 'outside')
    for (const kind of ['copy', 'move'] as const)
      await refused(
        files.change({ kind, from: own, to: { path: `${root}/x`, roots }, failIfExists: true }),
        'outside',
      )
    expect(fingerprint(`${root}/own`)).toBe(untouched)
    expect(readdirSync(root).toSorted()).toEqual(['own', 'to'])
  })

  test('[O56] [E1.5] worktrees in the own directory of the host can be used, and nothing beside them', async () => {
    const { root } = sandbox()
    const data = `${root}/data`
    mkdirSync(`${data}/trees/one`, { recursive: true })
    writeFileSync(`${data}/token`, 'token')
    writeFileSync(`${data}/trees/one/file`, 'x')
    symlinkSync('../../token', `${data}/trees/one/link`)
    const files = nodeFiles({ forbidden: [data], permitted: [`${data}/trees`] })
    const roots = [`${data}/trees/one`]
    const read = (path: string) => files.read({ path: `${data}/${path}`, roots }, 99)
    expect(new TextDecoder().decode(await read('trees/one/file'))).toBe('x')
    for (const path of ['token', 'trees/one/link', 'trees']) await refused(read(path), 'outside')
    await refused(files.read({ path: `${data}/token`, roots: ['/'] }, 99), 'outside')
  })
})
