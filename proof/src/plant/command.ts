import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Patch } from './patch.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cli = join(root, 'packages', 'cli')
const change = fileURLToPath(new URL('./change.js', import.meta.url))

/** The launchers, by the patches of their commands. */
const launchers = new Map<string, string>()
const folders: string[] = []

/**
 * The launcher of the command with these patches: a copy of the package as it would be published, with a bundle of its own, in
 * which also the threads are patched. It is bundled once for each set of patches, for the CPU time of half a start of a host from
 * single files.
 */
export function plantedCommand(patches: readonly Patch[]): string {
  const key = JSON.stringify(patches)
  const known = launchers.get(key)
  if (known !== undefined) return known
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-planted-')))
  folders.push(folder)
  for (const name of ['bin', 'package.json']) cpSync(join(cli, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const args = [join(cli, 'scripts', 'bundle.mjs'), '--into', folder, '--change', change]
  const env = { ...process.env, ATRIUM_PLANT: key }
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the command cannot be bundled with its patches: ${stderr}`)
  const launcher = join(folder, 'bin', 'atrium.mjs')
  launchers.set(key, launcher)
  return launcher
}

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
