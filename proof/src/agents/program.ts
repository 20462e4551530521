import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Recipe } from './recipe.ts'

/** The platform of a machine, and the files on it. Tests pass a machine other than this one. */
export interface Machine {
  readonly os: string
  readonly cpu: string
  readonly has: (path: string) => boolean
}

export interface Program {
  readonly command: string
  readonly args: readonly string[]
}

const here: Machine = { os: process.platform, cpu: process.arch, has: existsSync }

/** An emulator, and the libraries that programs for the emulated machine need. */
const qemu = {
  command: '/usr/bin/qemu-x86_64-static',
  libraries: '/usr/x86_64-linux-gnu',
  packages: 'qemu-user-static libc6-amd64-cross libgcc-s1-amd64-cross libstdc++6-amd64-cross',
}

/** Returns why a program cannot run here and what would help; undefined if it can run. */
export function whyNotRunnable(recipe: Recipe, machine: Machine = here): string | undefined {
  const { platform } = recipe
  if (!platform || fits(platform, machine)) return undefined
  const built = `it is built for ${platform.os} ${platform.cpu}`
  if (platform.os !== machine.os || platform.cpu !== 'x64') return `${built} only`
  const missing = [qemu.command, qemu.libraries].some((needed) => !machine.has(needed))
  return missing ? `${built}: install ${qemu.packages}` : undefined
}

/**
 * Returns the command that starts a program here. An emulator runs the program if it was built for another machine.
 */
export function programOf(recipe: Recipe, folder: string, machine: Machine = here): Program {
  const path = join(folder, 'node_modules', recipe.program)
  const { args, platform } = recipe
  if (/\.[cm]?js$/.test(path)) return { command: nodeFor(recipe, folder, machine), args: [path, ...args] }
  if (!platform || fits(platform, machine)) return { command: path, args }
  return { command: qemu.command, args: ['-L', qemu.libraries, path, ...args] }
}

/**
 * Returns a value of PATH: the folder of the Node that the packages need, and the folder with the programs of the
 * packages.
 */
export function binPath(recipe: Recipe, folder: string, machine: Machine = here): string {
  return `${dirname(nodeFor(recipe, folder, machine))}:${join(folder, 'node_modules', '.bin')}`
}

/** Returns the name of the npm package with Node for a machine. */
export function nodePackage({ os, cpu }: Machine = here): string {
  return `node-${os === 'win32' ? 'win' : os}-${cpu}`
}

function nodeFor({ node }: Recipe, folder: string, machine: Machine): string {
  return node === undefined
    ? process.execPath
    : join(folder, 'node_modules', nodePackage(machine), 'bin', 'node')
}

function fits(platform: NonNullable<Recipe['platform']>, { os, cpu }: Machine): boolean {
  return platform.os === os && platform.cpu === cpu
}
