import { sessionResourcesOf } from '../../catalog/session-resources.ts'
import { terminalsOf } from '../../catalog/machine.ts'
import { filesOf } from '../../catalog/machine.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import type { TerminalClaim, TerminalState } from '@atrium/protocol/terminal/state'
import { isGone, setGone } from '../../channels/gone.ts'
import { changeable, isUsed } from '../../channels/names.ts'
import type { Mutation } from '../../channels/names.ts'
import { unloaded } from '../../kernel/log/channel.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import type { Terminals } from '../../ports/terminals.ts'
import { containedPath } from '../access/roots.ts'
import type { Effects } from '../../kernel/rules.ts'
import { ShellJob } from './shell-job.ts'
import { claimProblem, sizeProblem } from './guards.ts'
import { terminals } from '../../catalog/lookup.ts'
import { setClaim, list, unlist } from './terminal-list.ts'
import { wake } from '../../channels/wake.ts'

export async function createTerminal(core: Core, link: Link, params: Params<'createTerminal'>): Mutation {
  const port = portOf(core)
  changeable(core)
  const { channel: uri, claim, name, cwd, cols = 80, rows = 24 } = params
  const directory = await directoryOf(core, cwd)
  const gone = await isGone(core, uri)
  // No `await` from here on: the checks and the creation are one step.
  if (gone || isUsed(core, uri))
    throw AhpError.alreadyExists(`${JSON.stringify(uri.slice(0, 100))} is in use, or was`)
  const problem = claimProblem(core, claim, link) ?? sizeProblem(core, cols, rows)
  if (problem !== undefined) throw AhpError.invalidParams(`createTerminal: ${problem}`)
  const opened = openTerminal(core, uri, { claim, title: name ?? '', directory, cols, rows })
  await opened.start(port)
  return { seq: core.log.last }
}

export async function disposeTerminal(core: Core, { channel: uri }: Params<'disposeTerminal'>): Mutation {
  changeable(core)
  const terminal = await wake(core, uri)
  if (terminal?.kind.name !== 'terminal' || core.log.channel(uri) !== terminal)
    throw AhpError.notFound(`no terminal ${JSON.stringify(uri.slice(0, 200))}`)
  return { seq: forgetTerminal(core, uri) }
}

/**
 * Removes a terminal, which need not be in memory. Returns the last sequence number of the step: once it is
 * committed, the terminal is removed.
 */
export function forgetTerminal(core: Core, uri: Uri): number {
  setGone(core, uri)
  core.sealing.freed()
  sessionResourcesOf(core).assign(uri, undefined)
  const seq = core.log.drop(core.log.channel(uri) ?? unloaded(uri, 'terminal'))
  core.jobs.mark(uri, false)
  core.jobs.stop(uri)
  unlist(core, uri)
  return Math.max(seq, core.log.last)
}

export interface NewTerminal {
  readonly claim: TerminalClaim
  readonly title: string
  /** An absolute path. */
  readonly directory: string
  readonly cols: number
  readonly rows: number
  /** A command that the shell runs. The shell exits after the command. */
  readonly command?: string
}

/**
 * Creates a terminal. `start` starts its shell once the creation is committed. If the shell cannot start, the terminal is
 * removed.
 */
export function openTerminal(core: Core, uri: Uri, opening: NewTerminal) {
  makeRoom(core)
  const { claim, title, directory, cols, rows, command } = opening
  const state: TerminalState = {
    title: title === '' ? 'Terminal' : title,
    cwd: fileUri(directory),
    cols,
    rows,
    content: [],
    lifecycle: { status: 'running' },
    claim,
    isPty: true,
  }
  const terminal = core.log.create(uri, 'terminal', state)
  const job = new ShellJob(core, terminal, title !== '')
  core.jobs.begin(uri, job)
  core.jobs.mark(uri, true)
  setClaim(core, uri, claim)
  list(core, terminal)
  const created = core.log.last
  const start = async (port: Terminals) => {
    await core.log.reached(created)
    try {
      await job.start(port, { cwd: directory, cols, rows, ...(command !== undefined && { command }) })
    } catch (error) {
      core.world.report('no terminal', error)
      if (core.log.channel(uri) === terminal) forgetTerminal(core, uri)
      throw AhpError.conflict(error instanceof Error ? error.message : 'the shell could not be started')
    }
  }
  return { terminal, job, start }
}

export const terminalEffects: Effects<'terminal'> = {
  'terminal/input': (core, { uri }, { data }) => shellJobOf(core, uri)?.input(data),
  'terminal/resized': (core, { uri }, { cols, rows }) => shellJobOf(core, uri)?.resize(cols, rows),
}

/** Ends a terminal whose shell was running when the host was last stopped. */
export function endShell(core: Core, terminal: Channel<'terminal'>): void {
  const data = '\r\n[The host was stopped, and this shell with it. What it showed before is lost.]\r\n'
  core.log.append(terminal, { type: 'terminal/data', data })
  core.log.append(terminal, { type: 'terminal/exited' })
  core.log.scheduleFlush(terminal)
}

export function portOf(core: Core): Terminals {
  const terminals = terminalsOf(core)
  if (!terminals) throw new AhpError(errorCodes.MethodNotFound, 'this host has no terminals')
  return terminals
}

/** Returns the directory that a shell starts in: the requested one, else the default. */
async function directoryOf(core: Core, cwd: Uri | undefined): Promise<string> {
  const uri = cwd ?? core.about.defaultDirectory
  if (uri === undefined) return '/'
  const place = containedPath(core, uri, 'browse')
  const files = filesOf(core)
  if (!files) return place.path
  const { type } = await files.stat(place, true)
  if (type !== 'directory') throw AhpError.invalidParams('createTerminal: cwd is not a directory')
  return place.path
}

/**
 * Throws if as many terminals run as may run. Otherwise disposes of the oldest exited terminals in the list, so that fewer
 * exited terminals are listed than may run: clients may never dispose of them.
 */
function makeRoom(core: Core): void {
  const most = core.limits.terminals
  const listed = terminals(core)
  const exited = listed.filter(({ lifecycle }) => lifecycle.status === 'exited')
  if (listed.length - exited.length >= most)
    throw AhpError.permissionDenied(`${most} terminals are running already: dispose of some first`)
  for (const { resource } of exited.slice(0, Math.max(0, exited.length - most + 1)))
    forgetTerminal(core, resource)
}

function shellJobOf(core: Core, uri: Uri): ShellJob | undefined {
  const job = core.jobs.job(uri)
  return job instanceof ShellJob ? job : undefined
}
