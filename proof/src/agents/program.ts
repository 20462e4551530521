import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Recipe } from './recipe.ts'

/** How a program is started on this machine, or why it cannot be. */
export type Program =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly why: string }

/** What this machine is and has; a test says something else. */
export interface Machine {
  readonly os: string
  readonly cpu: string
  readonly has: (path: string) => boolean
}

const here: Machine = { os: process.platform, cpu: process.arch, has: existsSync }

/** An emulator, and the libraries of the machine that it stands for. */
const qemu = {
  command: '/usr/bin/qemu-x86_64-static',
  libraries: '/usr/x86_64-linux-gnu',
  packages: 'qemu-user-static libc6-amd64-cross libgcc-s1-amd64-cross libstdc++6-amd64-cross',
}

export function programOf(recipe: Recipe, folder: string, machine: Machine = here): Program {
  const path = join(folder, 'node_modules', recipe.program)
  if (!machine.has(path)) return { why: `not installed in ${folder}` }
  if (/\.[cm]?js$/.test(path)) return { command: process.execPath, args: [path, ...recipe.args] }
  const { platform = machine } = recipe
  if (platform.os === machine.os && platform.cpu === machine.cpu) return { command: path, args: recipe.args }
  if (platform.os !== machine.os || platform.cpu !== 'x64')
    return { why: `built for ${named(platform)} alone` }
  const missing = [qemu.command, qemu.libraries].filter((needed) => !machine.has(needed))
  if (missing.length === 0)
    return { command: qemu.command, args: ['-L', qemu.libraries, path, ...recipe.args] }
  return { why: `built for ${named(platform)}; here it needs ${qemu.packages}` }
}

const named = ({ os, cpu }: { readonly os: string; readonly cpu: string }): string => `${os} ${cpu}`
