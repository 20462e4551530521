import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { taking, textOf } from '../../../host/src/ports/contracts/captures.contract.ts'
import { trials } from '../../../protocol/test/search.ts'
import { newSeed, seeded } from '../../../protocol/test/seeded.ts'
import { DiskRepository } from '../../test/captures/folder.ts'
import { needsGit, newFolder } from '../../test/repository.ts'

needsGit()

test.each([newSeed()])(
  '[O16] seed %d: after any changes, a capture has the tree that git makes of the files',
  async (seed) => {
    const random = seeded(seed)
    const folder = new DiskRepository()
    const { captures, directory, repository, data } = folder
    for (const path of ['a', 'b/c', 'b/d', 'e/f/g', 'e.x', 'e0']) await folder.write(path, `${path}\n`)
    await folder.commit()
    const below = () =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
        .filter((path) => !path.startsWith('.git'))
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)]
    const names = ['a', 'b', 'e', 'e.x', 'e0', 'e-', 'ü', 'new']
    const taken: string[] = []
    let reader = captures
    for (let step = 0; step < trials(60, 25); step++) {
      for (let i = random() * 6; i > 0; i--) {
        const path = pick(below())
        if (random() < 0.3 && path !== undefined) await folder.remove(path).catch(() => {})
        const target = [pick(names), pick(names), pick(names)].slice(0, 1 + random() * 3).join('/')
        const mode = pick(['100644', '100644', '100755', '120000'] as const)
        await folder.write(target, `${random()}\n`.repeat(20), mode).catch(() => {})
      }
      if (random() < 0.2) await folder.commit()
      const { id } = await captures.take(directory, taking())
      const env = { ...process.env, GIT_INDEX_FILE: join(newFolder(), 'index') }
      const git = (...args: string[]) =>
        execFileSync('git', args, { cwd: directory, env, encoding: 'utf8' }).trim()
      git('add', '-A')
      const tree = git('write-tree')
      expect(id.split('.')[1], `step ${step}`).toBe(tree)
      if (random() < 0.1) reader = await folder.restart()
      for (const earlier of new Set([taken.at(-1), pick(taken)])) {
        if (earlier === undefined) continue
        const listed = (await reader.compare(earlier, id)).flatMap(({ path, oldPath }) => [
          path,
          oldPath ?? path,
        ])
        const old = earlier.split('.')[1] ?? ''
        const gits = git('diff-tree', '-r', '--name-only', '-z', '--no-renames', old, tree)
        expect(new Set(listed)).toEqual(new Set(gits.split('\0').filter(Boolean)))
      }
      taken.push(id)
      if (random() < 0.1) {
        const kept = taken.filter(() => random() < 0.5)
        await captures.collect(new Set(kept))
        taken.splice(0, taken.length, ...kept)
        reader = captures
      }
    }
    const [store = ''] = readdirSync(data).filter((name) => /^[\da-f]{24}$/.test(name))
    const env = {
      ...process.env,
      GIT_DIR: join(data, store, 'git'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: repository.at('.git/objects'),
    }
    const checked = execFileSync('git', ['fsck', '--full', '--no-dangling'], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    })
    expect(checked).not.toMatch(/error|missing|broken|corrupt/)
  },
)

test('[O24] many captures end up in few packs, and all of them can be read', async () => {
  const folder = new DiskRepository()
  const { captures, directory } = folder
  const taken: string[] = []
  for (let i = 0; i < 70; i++) {
    await folder.write('file', `${i}`)
    taken.push((await captures.take(directory, taking())).id)
  }
  const [first = '', second = ''] = taken
  const [change] = await captures.compare(first, second)
  expect(await textOf(captures, change?.before)).toBe('0')
  const packs = readdirSync(folder.data, { recursive: true }).filter((name) => String(name).endsWith('.pack'))
  expect(packs.length).toBeLessThanOrEqual(65)
  expect(await captures.compare(first, taken.at(-1) ?? '')).toMatchObject([{ path: 'file' }])
})
