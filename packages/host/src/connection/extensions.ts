import { includes } from '@atrium/protocol/root/device'
import type { Core } from '../kernel/core.ts'
import type { OpenCommand } from '../kernel/open-parts.ts'
import type { Generation } from '../kernel/generation.ts'
import type { OpeningLink } from './opening.ts'

/**
 * The command that AHP does not have, of this name. Undefined if the host does not offer it to clients of this version: the
 * schemas of AHP do not have it, and clients of older versions do not get it.
 */
export function extensionNamed(core: Core, { lens }: Generation, name: string): OpenCommand | undefined {
  return lens ? undefined : core.parts.commands.get(name)
}

/** What the result of `initialize` says about extensions: the commands that the client's version and role allow. */
export function offeredExtensions(
  core: Core,
  { dialect, device }: Pick<OpeningLink, 'dialect' | 'device'>,
): { readonly commands?: readonly string[] } {
  const allowed = [...core.parts.commands].filter(([, { role }]) => !device || includes(device.role, role))
  const commands = allowed.map(([name]) => name)
  return dialect.generation.lens || commands.length === 0 ? {} : { commands }
}
