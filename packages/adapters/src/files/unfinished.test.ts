import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bundle } from '../../test/bundle.ts'
import { newFolder } from '../../test/repository.ts'
import { sandbox } from '../../test/sandbox.ts'
import { nodeFiles } from './files.ts'

const module = await bundle('src/files/files.ts')

const temporary = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('.atrium-'))

/** Kills another process while it writes a file of 8 MiB, or copies a folder. Returns what it leaves behind. */
async function killed(root: string, unfinished: string, change: string): Promise<readonly string[]> {
  const program = `
    const { nodeFiles } = await import(process.env.MODULE)
    const files = nodeFiles({ unfinished: process.env.UNFINISHED })
    const at = (path) => ({ path: process.env.ROOT + '/' + path, roots: [process.env.ROOT] })
    const data = Buffer.alloc(8 << 20, 'x')
    for (let n = 0; ; n++) await (${change})`
  const env = { PATH: process.env['PATH'], MODULE: module, UNFINISHED: unfinished, ROOT: root }
  for (;;) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    while (child.exitCode === null && temporary(root).length === 0) await pause(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const left = temporary(root)
    if (left.length > 0) return left
  }
}

/** Lets a host start, and waits until it has removed what an earlier one has left. */
async function afterStart(root: string, unfinished: string, left: number): Promise<readonly string[]> {
  nodeFiles({ unfinished })
  const until = performance.now() + 10_000
  while (temporary(root).length > left && performance.now() < until) await pause(5)
  return temporary(root)
}

test.each([
  ['written', `files.write(at('file'), data)`],
  ['copied', `files.change({ kind: 'copy', from: at('from'), to: at('to-' + n), failIfExists: true })`],
])(
  '[E4.2] the next start removes what a host left that was killed while a file was %s',
  async (_, change) => {
    const { root } = sandbox()
    const unfinished = join(newFolder(), 'unfinished')
    mkdirSync(join(root, 'from'))
    for (let i = 0; i < 100; i++) writeFileSync(join(root, 'from', `${i}`), 'x')
    expect((await killed(root, unfinished, change)).length).toBeGreaterThan(0)
    writeFileSync(join(root, '.atrium-0000000000000001.tmp'), 'of another host')
    expect(await afterStart(root, unfinished, 1)).toEqual(['.atrium-0000000000000001.tmp'])
    await expect.poll(() => readdirSync(unfinished)).toEqual([])
  },
)

test('[E4] a note names only a temporary file of the name that the note has itself', async () => {
  const { root } = sandbox()
  const unfinished = newFolder()
  const note = (n: number) => `.atrium-${String(n).padStart(16, '0')}.tmp`
  for (const path of ['kept', note(2), note(3)]) writeFileSync(join(root, path), 'kept')
  writeFileSync(join(unfinished, note(1)), join(root, 'kept'))
  writeFileSync(join(unfinished, note(4)), '')
  writeFileSync(join(unfinished, 'other'), join(root, note(2)))
  mkdirSync(join(root, 'folder'))
  writeFileSync(join(root, 'folder', 'inside'), 'kept')
  symlinkSync(join(root, 'folder'), join(root, note(5)))
  writeFileSync(join(unfinished, note(5)), join(root, note(5)))
  nodeFiles({ unfinished })
  await expect.poll(() => readdirSync(unfinished)).toEqual(['other'])
  expect(readdirSync(root).toSorted()).toEqual([note(2), note(3), 'folder', 'kept'].toSorted())
  expect(readFileSync(join(root, 'folder', 'inside'), 'utf8')).toBe('kept')
})
