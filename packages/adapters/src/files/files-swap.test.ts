import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type * as fs from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fingerprint } from '../../test/fingerprint.ts'

// Swaps at the worst moment: right before a file is opened, or right after a directory was listed.

const moments = vi.hoisted(() => ({ opening: (_path: string) => {}, listed: (_path: string) => {} }))
afterEach(() => void Object.assign(moments, { opening: () => {}, listed: () => {} }))

vi.mock(import('node:fs'), async (original) => {
  const real = await original()
  const open = ((path: fs.PathLike, ...rest: never[]) => {
    moments.opening(String(path))
    return (real.open as (...args: unknown[]) => void)(path, ...rest)
  }) as typeof real.open
  return { ...real, open }
})
vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original()
  const lstat = (async (path: fs.PathLike, options?: object) => {
    moments.opening(String(path))
    return real.lstat(path, options)
  }) as typeof real.lstat
  const opendir = (async (...args: Parameters<typeof real.opendir>) => {
    const entries = []
    for await (const entry of await real.opendir(...args)) entries.push(entry)
    moments.listed(String(args[0]))
    return entries
  }) as unknown as typeof real.opendir
  const open = (async (path: fs.PathLike, ...rest: never[]) => {
    moments.opening(String(path))
    return real.open(path, ...rest)
  }) as typeof real.open
  return { ...real, lstat, open, opendir }
})

/** Returns a function that calls `act` once: at the first path that ends with `end`, after `skipped` such paths. */
function once(end: string, act: () => void, skipped = 0): (path: string) => void {
  let left = skipped
  return (path) => {
    if (!path.endsWith(end) || left-- !== 0) return
    act()
  }
}

describe.each(['linux', 'darwin'])('as on %s', (platform) => {
  const open = async () => {
    Object.defineProperty(process, 'platform', { value: platform })
    vi.resetModules()
    const { sandbox } = await import('../../test/sandbox.ts')
    // Imported after `resetModules`, because `reasonOf` checks the class of the error, and each load defines a new class.
    const { reasonOf } = await import('../../../host/src/ports/contracts/files-fixture.contract.ts')
    const box = { ...sandbox(), reasonOf }
    for (const folder of ['d', 'd/e', 'd/e/f']) mkdirSync(`${box.root}/${folder}`)
    for (const name of ['d/x', 'd/e/x', 'd/e/f/x', 'plain']) writeFileSync(`${box.root}/${name}`, 'inside')
    for (const folder of ['e', 'e/f']) mkdirSync(`${box.beside}/${folder}`)
    for (const name of ['x', 'e/x', 'e/f/x']) writeFileSync(`${box.beside}/${name}`, 'secret')
    return box
  }

  test('[S-29] [E1.2] a directory that is replaced by a link during a walk is not followed', async () => {
    for (const kind of ['remove', 'copy'] as const)
      for (const pass of [0, 1]) {
        const { files, root, beside, reasonOf } = await open()
        const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
        const untouched = fingerprint(beside)
        let lists = 0
        moments.listed = () => {
          // Each pass lists three directories; the first one is `d`.
          if (lists++ !== pass * 3) return
          renameSync(`${root}/d/e`, `${root}/aside`)
          symlinkSync(`${beside}/e`, `${root}/d/e`)
        }
        const reason = await reasonOf(
          files.change(
            kind === 'remove'
              ? { kind, place: at('d'), recursive: true }
              : { kind, from: at('d'), to: at('copy'), failIfExists: true },
          ),
        )
        expect([kind, pass, ['changed', 'missing', 'outside', 'unfit'].includes(reason ?? '')]).toEqual([
          kind,
          pass,
          true,
        ])
        expect(fingerprint(beside)).toBe(untouched)
      }
  })

  test('[S-29] [E1.2] a file that is moved outside while it is held is not touched there', async () => {
    for (const kind of ['remove', 'move'] as const) {
      const { files, root, beside, reasonOf } = await open()
      const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
      moments.opening = once('/x', () => renameSync(`${root}/d`, `${beside}/d`))
      const reason = await reasonOf(
        files.change(
          kind === 'remove'
            ? { kind, place: at('d/x'), recursive: false }
            : { kind, from: at('d/x'), to: at('y'), failIfExists: false },
        ),
      )
      expect([kind, ['outside', 'missing'].includes(reason ?? '')]).toEqual([kind, true])
      expect(fingerprint(`${beside}/d`)).toContain('d/x')
    }
  })

  test.each([0, 1])(
    '[S-29] a tree that is moved outside during a walk is not touched there (pass %d)',
    async (pass) => {
      const { files, root, beside, reasonOf } = await open()
      const place = { path: `${root}/d`, roots: [root] }
      let lists = 0
      moments.listed = () => {
        if (lists++ === pass * 3) renameSync(`${root}/d`, `${beside}/carried`)
      }
      const reason = await reasonOf(files.change({ kind: 'remove', place, recursive: true }))
      expect(['outside', 'missing', 'unfit', 'changed'].includes(reason ?? '')).toBe(true)
      expect(fingerprint(`${beside}/carried`)).toContain('carried/e/f/x')
    },
  )

  test('[S-29] a file that is replaced by a link before it is opened is not followed outside', async () => {
    const { files, root, beside, reasonOf } = await open()
    const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
    const untouched = fingerprint(beside)
    for (const mode of ['truncate', 'append', 'insert'] as const)
      for (const skipped of [0, 1, 2]) {
        moments.opening = once(
          '/plain',
          () => {
            renameSync(`${root}/plain`, `${root}/was`)
            symlinkSync(`${beside}/x`, `${root}/plain`)
          },
          skipped,
        )
        await reasonOf(files.write(at('plain'), Buffer.from('written'), { mode }))
        expect(fingerprint(beside)).toBe(untouched)
        moments.opening = () => {}
        await reasonOf(files.change({ kind: 'remove', place: at('plain'), recursive: false }))
        writeFileSync(`${root}/plain`, 'inside', { flag: 'wx' })
      }
  })

  test('[S-30] opening a file that was replaced by a FIFO does not block', async () => {
    const { files, root, reasonOf } = await open()
    const place = { path: `${root}/plain`, roots: [root] }
    moments.opening = once(
      '/plain',
      () => {
        rmSync(place.path)
        spawnSync('mkfifo', [place.path])
      },
      1,
    )
    expect([undefined, 'changed']).toContain(await reasonOf(files.read(place, 99)))
  })
})
