import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { World } from '@atrium/host/ports/world'
import { AcpAgent } from '../src/acp/acp.ts'
import type { Profile } from '../src/acp/acp.ts'
import type { AcpMeans, AcpProgram } from '../src/acp/process/launch.ts'
import { Watchdog } from '../src/process/watchdog.ts'

/** How the scripted agent misbehaves: words of `acp-agent.mjs`. */
export interface ScriptedOptions {
  readonly quirks?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  /** Where it keeps its sessions; absent: a new folder. */
  readonly folder?: string
  readonly later?: World['later']
  readonly profile?: Profile
  readonly program?: Partial<AcpProgram>
  readonly means?: Partial<AcpMeans>
  /** When it is ended; absent: with its test. */
  readonly ends?: (end: () => Promise<void>) => void
}

export interface Scripted {
  readonly agent: AcpAgent
  readonly folder: string
  /** What the agent has written into one of its files, line by line. */
  lines(name: string): readonly string[]
}

/** The scripted agent, ended with its test. */
export function scripted(options: ScriptedOptions = {}): Scripted {
  const { quirks = [], env = {}, folder = newPlace(), later = realLater, ends = onTestFinished } = options
  const { profile, program, means } = options
  const given: AcpProgram = {
    name: 'mock',
    displayName: 'Scripted',
    command: process.execPath,
    args: [agentFile],
    env: { ACP_STORE: folder, ACP_QUIRKS: quirks.join(','), ...env },
    variables: /^$/,
    ...program,
  }
  const usual = { later, watchdog, mark, environment: process.env, version: '0' }
  const agent = new AcpAgent(given, { ...usual, ...means }, profile)
  ends(() => agent.close())
  return { agent, folder, lines: (name) => linesIn(join(folder, name)) }
}

/** Gone after the test. */
export function newPlace(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-acp-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function linesIn(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

export const realLater: World['later'] = (ms, task) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

/** Time that passes when the test says so. */
export function handLater() {
  const timers = new Set<{ readonly ms: number; readonly task: () => void }>()
  const later: World['later'] = (ms, task) => {
    const timer = { ms, task }
    timers.add(timer)
    return () => void timers.delete(timer)
  }
  /** Whatever waits for no longer than this has waited long enough. */
  const pass = (ms: number) => {
    for (const timer of timers) if (timer.ms <= ms && timers.delete(timer)) timer.task()
  }
  return { later, pass, timers }
}

export const agentFile = fileURLToPath(new URL('./acp-agent.mjs', import.meta.url))
export const mark = randomUUID()
export const watchdog = new Watchdog(mark)
