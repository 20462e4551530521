import { chmodSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CaptureFailed } from '@atrium/host/ports/captures'
import { taking } from '../../../../host/src/ports/contracts/captures.contract.ts'
import { DiskFolder } from '../../../test/captures/folder.ts'
import { needsGit } from '../../../test/repository.ts'

const damages = {
  emptied: (path: string) => truncateSync(path, 0),
  'cut in half': (path: string) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  'full of zeros': (path: string) => writeFileSync(path, Buffer.alloc(readFileSync(path).length)),
  turned: (path: string) =>
    writeFileSync(
      path,
      readFileSync(path).map((byte, i) => (i < 12 ? byte : byte ^ 0xff)),
    ),
  deleted: (path: string) => rmSync(path),
}

const cases = ['.pack', '.idx', 'differences', 'folder.json'].flatMap((file) =>
  Object.entries(damages).map(([how, damage]) => ({ file, how, damage })),
)

describe('[O16] [O16.3] a store of captures', () => {
  needsGit()
  test.each(cases)('whose $file is $how says so, and takes further captures', async ({ file, damage }) => {
    const folder = new DiskFolder()
    const { captures, directory } = folder
    await folder.write('a', 'one\n')
    const before = await captures.take(directory, taking())
    await folder.write('a', 'two\n')
    await folder.write('b', 'new\n')
    const after = await captures.take(directory, taking())
    const [sound] = await captures.compare(before.id, after.id)
    const store = join(folder.data, before.id.split('.')[0] ?? '')
    for (const name of readdirSync(store, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith(file)) {
        // Git makes its packs read-only.
        chmodSync(join(store, name), 0o600)
        damage(join(store, name))
      }

    for (const host of [captures, await folder.restart()]) {
      const compared = await host.compare(before.id, after.id).catch((error: unknown) => error)
      if (compared instanceof Error) {
        expect(compared).toBeInstanceOf(CaptureFailed)
        expect(compared.message).toMatch(/damaged/)
      } else expect(compared).toMatchObject([{ path: 'a' }, { path: 'b' }])
      const read = await host.read(sound?.before?.content ?? '').catch((error: unknown) => error)
      if (read instanceof Error) expect(read.message).toMatch(/damaged/)
      else expect(Buffer.from(read as Uint8Array).toString()).toBe('one\n')
      const edit = { path: 'a', expected: sound?.after, wanted: sound?.before }
      const applied = await host.apply(directory, [edit as never])
      if (applied.done.length === 0) expect(applied.left[0]?.reason).toMatch(/damaged/)
      await folder.write('a', 'two\n')
    }

    const next = await folder.restart()
    const third = await next.take(directory, taking())
    await folder.write('c', 'three\n')
    const changes = await next.compare(third.id, (await next.take(directory, taking())).id)
    expect(changes).toMatchObject([{ path: 'c', after: { size: 6 } }])
  })
})
