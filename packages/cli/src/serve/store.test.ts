import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from './store.ts'

test('[F-08, S-27] clients of a read-only host are told neither a path nor an error of the system', async (context) => {
  const data = mkdtempSync(join(tmpdir(), 'atrium-store-'))
  await (await openStore({ data })).store.log.close()
  if (!protect(data)) return context.skip('no mount')
  context.onTestFinished(() => unprotect(data))
  const { store, readOnly, warning } = await openStore({ data })
  await store.log.close()
  expect(readOnly).toBe('The disk of this host cannot be written: the host is read-only.')
  expect(warning).toContain(data)
  expect(warning).toMatch(/cannot be written \(.+\): this host is read-only\.$/)
})

/** Makes a folder read-only. Root may write to every folder, so root needs a mount. */
function protect(folder: string): boolean {
  if (process.getuid?.() !== 0) {
    chmodSync(join(folder, 'atrium.db'), 0o400)
    chmodSync(folder, 0o500)
    return true
  }
  const mount = (...args: readonly string[]) => spawnSync('mount', [...args, folder]).status === 0
  return mount('--bind', folder) && mount('-o', 'remount,ro,bind')
}

function unprotect(folder: string): void {
  if (process.getuid?.() === 0) spawnSync('umount', ['-l', folder])
  else chmodSync(folder, 0o700)
}
