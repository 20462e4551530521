import { configure } from '../serve/config.ts'
import type { Settings } from '../serve/config-fields.ts'
import { privateFolder } from '@atrium/adapters/server/token'
import type { Output } from '../terminal/output.ts'
import { answeringHost } from './answering.ts'
import { isRemote } from './connect.ts'
import type { HostOptions } from './connect.ts'
import { HostProcess } from './host-process.ts'

/** Starts a host in the background if none answers for the data folder. The host goes on when this command has ended. */
export async function ensureHost(options: HostOptions, { report, note, style }: Output): Promise<void> {
  if (isRemote(options)) return
  const { settings } = await configure(options.data === undefined ? {} : { data: options.data }, process.env)
  const { data, readOnly } = settings
  // No command finds a read-only host, because such a host does not write `host.json`.
  if (readOnly || (await answeringHost(data))) return
  await privateFolder(data)
  const starting = `· no host runs with ${data}: starting one`
  report({ type: 'host', starting: data }, () => style.dim(starting))
  await startHost(settings)
  note(style.dim('· the host goes on in the background; atrium stop ends it'))
}

/**
 * Starts a host, and waits until a host answers. The new host ends if another host uses the store. If that other host
 * has just been started by another command, it answers soon. If that other host is stopping, a new host is started
 * again.
 */
async function startHost(settings: Settings): Promise<void> {
  const began = performance.now()
  let host = new HostProcess(settings)
  for (let tries = 1; ; tries++) {
    const found = await answeringHost(settings.data)
    if (found) return host.answers(found.pid)
    if (host.hasFailed || performance.now() - began > maxMs) throw host.failure()
    if (host.isRefused && tries % triesPerStart === 0) host = new HostProcess(settings)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

const pollMs = 50
const triesPerStart = 20
/** The maximum time for the start of a host. It is longer than a start takes on a busy machine. */
const maxMs = 60_000
