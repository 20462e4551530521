import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { World } from '@atrium/host/ports/world'
import { AcpAgent } from '../src/acp/acp.ts'
import type { Profile } from '../src/acp/acp.ts'
import type { AcpProgram, LaunchContext } from '../src/acp/process/launch.ts'
import { Watchdog } from '../src/process/watchdog.ts'
import { bundle } from './bundle.ts'

export interface ScriptedOptions {
  /** Faults of the agent, by the names that `acp-agent.mjs` knows. */
  readonly quirks?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  /** The folder of the agent's sessions and records. Absent: a new folder. */
  readonly folder?: string
  readonly later?: World['later']
  readonly profile?: Profile
  readonly program?: Partial<AcpProgram>
  readonly context?: Partial<LaunchContext>
  /** Receives the function that closes the agent. Absent: the agent is closed at the end of the test. */
  readonly onEnd?: (close: () => Promise<void>) => void
}

export interface ScriptedAgent {
  readonly agent: AcpAgent
  readonly folder: string
  /** Returns the lines of a record that the agent has written, for example `started` or `prompts`. */
  lines(record: string): readonly string[]
}

/** Creates the scripted agent of `acp-agent.mjs`. */
export function scriptedAgent(options: ScriptedOptions = {}): ScriptedAgent {
  const { quirks = [], env = {}, folder = temporaryFolder(), later = realTimers } = options
  const { profile, onEnd = onTestFinished } = options
  const program: AcpProgram = {
    name: 'mock',
    displayName: 'Scripted',
    command: process.execPath,
    args: [agentFile],
    env: { ACP_STORE: folder, ACP_QUIRKS: quirks.join(','), ...env },
    variables: /^$/,
    ...options.program,
  }
  const context = { later, watchdog, mark, environment: process.env, version: '0', ...options.context }
  const agent = new AcpAgent(program, context, { profile })
  onEnd(() => agent.close())
  return { agent, folder, lines: (record) => linesIn(join(folder, record)) }
}

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-acp-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Returns the lines of a file. Returns an empty list if the file does not exist. */
export function linesIn(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

export const realTimers: World['later'] = (ms, task) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

/** Creates timers that fire only when the test calls `pass`. */
export function manualTimers() {
  const timers = new Set<{ readonly ms: number; readonly task: () => void }>()
  const later: World['later'] = (ms, task) => {
    const timer = { ms, task }
    timers.add(timer)
    return () => void timers.delete(timer)
  }
  /** Fires the timers that were set for at most `ms` milliseconds. */
  const pass = (ms: number) => {
    for (const timer of timers) if (timer.ms <= ms && timers.delete(timer)) timer.task()
  }
  return { later, pass, timers }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A bundle of `acp-agent.mjs`: tests start it some hundred times, and a bundle starts in two thirds of the time. */
export const agentFile = await bundle('test/acp-agent.mjs')
const mark = randomUUID()
export const watchdog = new Watchdog(mark)
