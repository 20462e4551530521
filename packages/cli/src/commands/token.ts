import { rotateToken, tokenOf } from '@atrium/adapters/server/token'
import { configure } from '../serve/config.ts'
import type { Flags } from '../serve/config.ts'

/**
 * `atrium token show`: prints the token. It needs no protection of its own: whoever can run it can also read the
 * token file.
 */
export async function showToken(flags: Flags): Promise<void> {
  const { settings } = await configure(flags, process.env)
  process.stdout.write(`${await tokenOf(settings.data)}\n`)
}

/** `atrium token rotate`: creates a new token. A running host keeps the old one until its next start. */
export async function newToken(flags: Flags): Promise<void> {
  const { settings } = await configure(flags, process.env)
  process.stdout.write(`${await rotateToken(settings.data)}\n`)
  process.stderr.write('A running host keeps the old token until it is started again.\n')
}
