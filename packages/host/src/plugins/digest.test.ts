import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../../test/plugins/folder.ts'
import type { Contents } from '../../test/plugins/folder.ts'
import { differences, digestOf } from './digest.ts'
import { containedFiles, readOnce } from './plugin-files.ts'
import { loadPlugin } from './plugins.ts'

const hash = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex')

const contents: Contents = {
  '.plugin/plugin.json': { name: 'p' },
  'hooks/hooks.json': { hooks: { Stop: [{ command: '${PLUGIN_ROOT}/scripts/run.sh' }] } },
  'scripts/run.sh': 'echo 1',
  'scripts/binary': Uint8Array.of(0xff, 0, 0xfe),
}

test('[K10] [S-37] any change of any file changes the digest, and the difference is known', async () => {
  const { files, put, root } = folder(contents)
  const before = await digestOf(files, hash)
  expect(await digestOf(files, hash)).toEqual(before)
  expect(before.files.map(({ path }) => path)).toEqual([
    '.plugin/plugin.json',
    'hooks/hooks.json',
    'scripts/binary',
    'scripts/run.sh',
  ])
  const after = async () => {
    const now = await digestOf(files, hash)
    expect(now.digest).not.toBe(before.digest)
    return differences(before.files, now.files)
  }
  put({ 'scripts/run.sh': 'echo 2' })
  expect(await after()).toEqual([{ path: 'scripts/run.sh', change: 'changed' }])
  put({ 'scripts/run.sh': 'echo 1', 'scripts/binary': Uint8Array.of(0xff, 0, 0xff) })
  expect(await after()).toEqual([{ path: 'scripts/binary', change: 'changed' }])
  put({ 'scripts/binary': Uint8Array.of(0xff, 0, 0xfe), '.hidden/x': '' })
  expect(await after()).toEqual([{ path: '.hidden/x', change: 'added' }])
  rmSync(join(root, '.hidden'), { recursive: true })
  expect(await digestOf(files, hash)).toEqual(before)
  rmSync(join(root, 'scripts/run.sh'))
  expect(await after()).toEqual([{ path: 'scripts/run.sh', change: 'removed' }])
})

test('[K10] the digest does not depend on the place of the plugin, and names cannot be mixed up', async () => {
  const digest = async (files: Contents) => (await digestOf(folder(files).files, hash)).digest
  expect(await digest(contents)).toBe(await digest(contents))
  expect(await digest({ ab: 'c' })).not.toBe(await digest({ a: 'bc' }))
  expect(await digest({ 'a/b': '' })).not.toBe(await digest({ 'a\nb': '' }))
})

test('[K10] a plugin with a link that leads out of it, a circle of links or a FIFO has no digest', async () => {
  const { files, root } = folder(contents)
  const withLink = async (make: (path: string) => void) => {
    const path = join(root, 'odd')
    make(path)
    const error: unknown = await digestOf(files, hash).catch((reason: unknown) => reason)
    rmSync(path)
    return error
  }
  expect(await withLink((path) => symlinkSync('/etc/passwd', path))).toMatchObject({
    message: 'odd leads out of the plugin.',
  })
  expect(await withLink((path) => execFileSync('mkfifo', [path]))).toMatchObject({
    message: 'odd is not a regular file, or the plugin has more than 67108864 bytes.',
  })
  expect(await withLink((path) => symlinkSync('.', path))).toBeInstanceOf(Error)
  expect(await digestOf(files, hash)).toMatchObject({ files: { length: 4 } })
})

test('[K10] files that are read once describe one content, even if a file changes between load and digest', async () => {
  const { files, put } = folder(contents)
  const before = await digestOf(files, hash)
  const once = readOnce(files)
  const plugin = await loadPlugin(once)
  put({ 'hooks/hooks.json': { hooks: { Stop: [{ command: 'evil' }] } } })
  expect((await digestOf(once, hash)).digest).toBe(before.digest)
  expect(JSON.stringify(plugin.components)).not.toContain('evil')
  expect((await digestOf(files, hash)).digest).not.toBe(before.digest)
})

test('[K8] a path with .. is refused before the disk is touched', async () => {
  const { files } = folder(contents)
  for (const path of ['../beside', 'a/../../b', '/etc/passwd', 'a//b', './a', 'a\\b', 'a\0'])
    await expect(files.read(path, 10), path).rejects.toMatchObject({ reason: 'outside' })
  const asked: unknown[] = []
  const port = { list: async (place: unknown) => asked.push(place) } as unknown as Parameters<
    typeof containedFiles
  >[0]
  await containedFiles(port, '/p').list('skills', 5)
  expect(asked).toEqual([{ path: '/p/skills', roots: ['/p'] }])
})
