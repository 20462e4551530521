import { homedir } from 'node:os'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import { AhpError } from '@atrium/protocol/errors'
import { agentEnvironment } from './environment.ts'
import type { Variables } from '../../process/environment.ts'
import { Link } from './connection.ts'
import { AgentProcess } from './process.ts'
import { scrubber } from './redact.ts'
import { variablesOf } from './mcp-servers.ts'
import type { AcpServer } from './mcp-servers.ts'
import { signInText } from './sign-in.ts'
import { authRequired } from './schema.ts'
import type { AuthMethod } from './schema.ts'
import type { Watchdog } from '../../process/watchdog.ts'

/** A program that speaks ACP, and how it is started. */
export interface AcpProgram {
  /** Under this name sessions know it. */
  readonly name: string
  readonly displayName: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Variables
  /** Which variables of the host it may know besides the usual ones. */
  readonly variables: RegExp
  /** How somebody signs in, where the agent does not say it. */
  readonly signIn?: string
  readonly memoryBytes?: number
  /** After so long, in milliseconds, a turn is ended. Absent: never. */
  readonly turnMs?: number
}

export interface AcpMeans {
  readonly later: World['later']
  readonly watchdog: Watchdog
  readonly mark: string
  readonly environment: Variables
  readonly version: string
  /**
   * An empty folder that nobody else can write to, for a session that is only asked what it can: agents start what they find in the
   * one that they work in, and above it.
   */
  readonly quiet?: string
  /** What every session gets, unless people switch one off. */
  readonly mcpServers?: readonly AcpServer[]
}

/** Starts a program, and says in words for people what is wrong with it. */
export class Starter {
  readonly program: AcpProgram
  readonly means: AcpMeans
  /** What the last one that failed said beside the protocol. */
  lastWords: readonly string[] = []
  #authMethods: readonly AuthMethod[] = []
  #scrub = (text: string) => text
  readonly #processes = new Set<AgentProcess>()

  constructor(program: AcpProgram, means: AcpMeans) {
    this.program = program
    this.means = means
  }

  /** Resolves when it has said what it can. Nobody waits for that any more when the signal is aborted. */
  async start(signal?: AbortSignal): Promise<Link> {
    const { command, args, env, variables, memoryBytes = usualMemory } = this.program
    const { environment: host, mark, watchdog, version, later } = this.means
    const environment = agentEnvironment(host, { own: variables, given: env, mark })
    const given = variablesOf(this.means.mcpServers ?? [])
    this.#scrub = scrubber({ ...environment, ...given })
    // Where it works is said with each session.
    const starting = { command, args, cwd: homedir(), environment, given, memory: memoryBytes, longestLine }
    const agentProcess = new AgentProcess(starting, watchdog)
    this.#processes.add(agentProcess)
    void agentProcess.ended.then(() => this.#processes.delete(agentProcess))
    const end = () => void agentProcess.end()
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    const describe = (problem: string, errorType?: string) => {
      this.lastWords = agentProcess.lastWords
      return this.failed(problem, errorType, agentProcess.lastWords, again)
    }
    try {
      const link = await Link.open(agentProcess, { capabilities, version }, later, describe)
      this.#authMethods = link.initialized.authMethods ?? []
      return link
    } catch (error) {
      await agentProcess.end()
      throw error
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  /** Ends all that it has started, whatever that was about to say. */
  async end(): Promise<void> {
    await Promise.all([...this.#processes].map((each) => each.end()))
  }

  /** A turn that fails so can go on: the next one starts the program anew. */
  failed(problem: string, errorType = 'agent', words: readonly string[] = [], way = ''): TurnFailed {
    const why = this.harmless(problem)
    return new TurnFailed(errorType, `${this.program.displayName}: ${why}.${way}${quoted(words)}`, true)
  }

  /** What it said, without what it is signed in with. */
  harmless(text: string): string {
    return this.#scrub(text)
  }

  inWords(error: unknown): Error {
    if (error instanceof TurnFailed) return error
    if (!(error instanceof AhpError)) return error instanceof Error ? error : new Error(String(error))
    if (error.code !== authRequired) return this.failed(detailed(error))
    const { displayName, command, signIn } = this.program
    const how = signInText(this.#authMethods, command, signIn)
    return new TurnFailed('auth', `${displayName} is not signed in. ${how}`, true)
  }

  /** Some fail without a word. */
  silence(words: readonly string[]): string {
    return `${this.program.displayName} ended its turn without a word. It may have failed.${quoted(words)}`
  }
}

/** Reading is left to agents: they run as the same user, and read what they like. */
const capabilities = {
  fs: { readTextFile: false, writeTextFile: true },
  terminal: true,
  session: { configOptions: { boolean: true }, notices: {}, compaction: {} },
  elicitation: { form: {}, url: {} },
}

function quoted(words: readonly string[]): string {
  return words.length === 0 ? '' : `\n\nIts last words:\n\n${words.map((line) => `    ${line}`).join('\n')}`
}

function detailed({ message, data, code }: AhpError): string {
  const { details, message: inner } = (typeof data === 'object' && data !== null ? data : {}) as {
    readonly details?: unknown
    readonly message?: unknown
  }
  const more = [details, inner, data].find((each) => typeof each === 'string' && each !== message)
  const words = typeof more === 'string' ? `${message}: ${more}` : message || `error ${code}`
  return words.slice(0, longestProblem).replace(/\.$/, '')
}

const again = ' Resume the turn, and it is started again.'
const usualMemory = 8 * 2 ** 30
const longestLine = 64 * 2 ** 20
const longestProblem = 2000
