import { fileURLToPath } from 'node:url'
import { HostProcess } from '@atrium/proof/host'
import type { Address } from '@atrium/proof/host'

/** The file of the `atrium` command. */
export const command = fileURLToPath(new URL('../../packages/cli/bin/atrium.mjs', import.meta.url))

/** A running `atrium serve`. */
export type ServeProcess = Address & Pick<HostProcess, 'child' | 'exit'>

/** Starts `atrium serve` on a data folder with more variables, and waits until it listens. */
export async function serve(data: string, env: Readonly<Record<string, string>>): Promise<ServeProcess> {
  const host = new HostProcess(data, { args: ['--log-level', 'error'], env })
  const address = await host.ready
  if (!address) throw new Error(`atrium serve has ended: ${host.stderr}`)
  return { ...address, child: host.child, exit: host.exit }
}

// The hosts are killed at the exit of this process, so that an interrupted measurement leaves none behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
