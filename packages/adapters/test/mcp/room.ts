import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type {
  McpAnswers,
  McpCall,
  McpCommand,
  McpProgress,
  McpQuestions,
  McpServer,
  McpServerConfig,
  McpUser,
} from '@atrium/host/ports/mcp'
import type { World } from '@atrium/host/ports/world'
import type { McpServerState } from '@atrium/protocol/session/customization'
import type { McpLimits } from '../../src/mcp/context.ts'
import { McpPool } from '../../src/mcp/mcp.ts'
import { Watchdog } from '../../src/process/watchdog.ts'
import { realTimers } from '../acp.ts'
import { bundle } from '../bundle.ts'
import { processesWith } from '../processes.ts'

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const modules = fileURLToPath(new URL('../../../../node_modules/@modelcontextprotocol/', import.meta.url))

/** A bundle of `server.mjs`. Tests start this server often, and the bundle starts faster than the separate modules. */
const serverFile = await bundle('test/mcp/server.mjs')

export interface RoomOptions {
  readonly later?: World['later']
  readonly limits?: Partial<McpLimits>
  readonly environment?: NodeJS.ProcessEnv
}

export interface UseRecord {
  readonly server: McpServer
  /** The states that were reported to the user. */
  readonly states: McpServerState['kind'][]
}

/** Creates a pool of MCP servers that is closed after the test. The processes of its servers have `word` as an argument. */
export function mcpRoom({ later = realTimers, limits = {}, environment = process.env }: RoomOptions = {}) {
  // On a busy machine a server may take longer than the limit to start.
  const patient = later === realTimers ? { mcpStartMs: 600_000 } : {}
  const word = randomUUID()
  const context = { later, watchdog, mark, environment, version: '0', limits: { ...patient, ...limits } }
  const pool = new McpPool(context)
  onTestFinished(() => pool.close())
  const command = (
    path: string,
    args: readonly string[] = [],
    env: { [name: string]: string } = {},
  ): McpCommand => ({
    command: process.execPath,
    args: [path, ...args, word],
    env,
  })
  const open = (config: McpServerConfig, user: Partial<McpUser> = {}): UseRecord => {
    const states: McpServerState['kind'][] = []
    const server = pool.open(config, {
      session: 'ahp-session:/1',
      principal: 'ann',
      consent: 'hash',
      token: () => undefined,
      changed: ({ kind }) => void (states.at(-1) === kind || states.push(kind)),
      ...user,
    })
    return { server, states }
  }
  return {
    pool,
    word,
    open,
    /** The scripted server with the MCP version of 2026-07-28. */
    modern: (env: { [name: string]: string } = {}) => command(serverFile, [], env),
    /** The scripted server with an older MCP version. */
    legacy: () => command(serverFile, [], { MCP_ERA: 'legacy' }),
    /** A server with the fault that has this name in `hostile.mjs`. */
    hostile: (fault: string, ...args: readonly string[]) => command(file('hostile.mjs'), [fault, ...args]),
    everything: () => command(`${modules}server-everything/dist/index.js`, ['stdio']),
    filesystem: (folder: string) => ({
      command: process.execPath,
      args: [`${modules}server-filesystem/dist/index.js`, folder],
    }),
    /** The processes of the servers. */
    processes: () => processesWith(word),
  }
}

export interface CallRecord extends McpCall {
  readonly reported: McpProgress[]
  readonly questions: McpQuestions[]
}

/** The context of a call. It records the progress and the questions, and gives the same answer to each form. */
export function callWith(
  options: { readonly signal?: AbortSignal; readonly answers?: McpAnswers } = {},
): CallRecord {
  const { signal = new AbortController().signal, answers = { response: 'decline' } } = options
  const reported: McpProgress[] = []
  const questions: McpQuestions[] = []
  return {
    signal,
    progress: (each) => void reported.push(each),
    elicit: (request) => (questions.push(request), Promise.resolve(answers)),
    reported,
    questions,
  }
}

/** Calls a tool, and returns the first text of its result. */
export async function say(
  server: McpServer,
  tool: string,
  input: { readonly [name: string]: unknown } = {},
): Promise<string> {
  const { content = [] } = await server.call(tool, input, callWith())
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

/** Expects that a task rejects, and returns the message. */
export async function failure(task: Promise<unknown>): Promise<string> {
  const error: unknown = await task.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  return error instanceof Error ? error.message : ''
}

const mark = randomUUID()
const watchdog = new Watchdog(mark)
