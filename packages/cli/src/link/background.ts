import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { privateFolder } from '@atrium/adapters/server/token'
import { configure } from '../serve/config.ts'
import { findHost } from '../serve/discovery.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Output } from '../terminal/output.ts'
import { isRemote } from './connect.ts'
import type { HostOptions } from './connect.ts'

/** Starts a host in the background if none runs with the data folder. The host goes on when this command has ended. */
export async function ensureHost(options: HostOptions, { note, style }: Output): Promise<void> {
  if (isRemote(options)) return
  const { settings } = await configure(options.data === undefined ? {} : { data: options.data }, process.env)
  const { data } = settings
  if (await findHost(data)) return
  await privateFolder(data)
  note(style.dim(`· no host runs with ${data}: starting one`))
  await startHost(data)
  note(style.dim('· the host goes on in the background; atrium stop ends it'))
}

async function startHost(data: string): Promise<void> {
  const path = logPath(data)
  const log = newLog(path)
  const args = [process.argv[1] ?? '', 'serve', '--data', data, '--log-level', 'warn']
  // The host works in the home folder, because the folder of the user's shell may be removed while the host runs.
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: homedir(),
  })
  closeSync(log)
  let failed = false
  const began = performance.now()
  child.once('exit', (code) => {
    // The exit code `inUse` means that another command has started a host at the same moment. That host will soon be found.
    failed = code !== exits.inUse
  })
  while (!(await findHost(data))) {
    if (failed || performance.now() - began > maxMs) throw new CommandError(failure(path))
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  child.unref()
}

/** Opens a new log. The log of the last host is kept beside it. */
function newLog(path: string): number {
  try {
    renameSync(path, `${path}.1`)
  } catch {
    // There is no log of an earlier host.
  }
  return openSync(path, 'a', 0o600)
}

function failure(path: string): string {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const why = lines.findLast((line) => line.startsWith('atrium: '))?.slice('atrium: '.length)
  return `The host could not be started${why === undefined ? '' : `: ${why}`} (its log: ${path})`
}

function logPath(data: string): string {
  return join(data, 'host.log')
}

const pollMs = 50
/** The maximum time for the start of a host. It is longer than a start takes on a busy machine. */
const maxMs = 60_000
