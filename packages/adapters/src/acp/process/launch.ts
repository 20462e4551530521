import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { SignInRequired, TurnFailed } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import { AhpError } from '@atrium/protocol/errors'
import { programEnvironment } from '../../process/program-environment.ts'
import type { Variables } from '../../process/environment.ts'
import { AcpConnection } from './connection.ts'
import { LineProcess } from '../../process/line-process.ts'
import { redactor } from '../../process/redact.ts'
import { valuesGiven } from './mcp-servers.ts'
import type { AcpServer } from './mcp-servers.ts'
import { signInText, signInWays } from './sign-in.ts'
import type { SignInWay } from './sign-in.ts'
import type { IdleProcesses } from './idle-processes.ts'
import { authRequired, fieldsOf } from './schema.ts'
import type { AuthMethod } from './schema.ts'
import type { Watchdog } from '../../process/watchdog.ts'

/** A program that speaks ACP, and the way to start it. */
export interface AcpProgram {
  /** The provider id of the agent's sessions. */
  readonly name: string
  readonly displayName: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Variables
  /** Matches the names of further host variables that this program gets, besides those that every agent gets. */
  readonly variables: RegExp
  /** The command by which users sign in. Used if the agent names no command itself. */
  readonly signIn?: string
  readonly memoryBytes?: number
  /** The maximum duration of a turn, in milliseconds. Absent: no limit. */
  readonly turnMs?: number
  /** Whether the agent cannot be made to ask before it acts. */
  readonly actsWithoutAsking?: boolean
}

/** The host's resources for all ACP programs. */
export interface LaunchContext {
  readonly later: World['later']
  readonly watchdog: Watchdog
  /** The marker of this host: the value of an environment variable by which the watchdog finds the host's processes. */
  readonly mark: string
  readonly environment: Variables
  readonly version: string
  /**
   * The working directory of a probe: an empty folder that no other user can write to. Agents may run code that they find in
   * their working directory or above it, so this folder must contain no foreign code. Absent: the home folder.
   */
  readonly probeDirectory?: string
  /** The MCP servers that every session gets. Users can switch off each server in a session. */
  readonly mcpServers?: readonly AcpServer[]
  /** The idle processes of all agents. Absent: each agent counts only its own. */
  readonly idle?: IdleProcesses
  /**
   * Secrets that the agent gets after its start. They are removed from its output, like the secrets in its
   * environment.
   */
  readonly secrets?: Variables
}

/** Starts an ACP program, and describes its failures for users. */
export class Launcher {
  readonly program: AcpProgram
  readonly context: LaunchContext
  /** Diagnostic lines of the process that failed last. */
  lastDiagnostics: readonly string[] = []
  #authMethods: readonly AuthMethod[] = []
  #redact = (text: string) => text
  /** The keys that users have given. They are removed from texts, like all other secrets. */
  #givenKeys: Variables = {}
  readonly #processes = new Set<LineProcess>()

  constructor(program: AcpProgram, context: LaunchContext) {
    this.program = program
    this.context = context
  }

  /** The ways to sign in that the agent has announced. */
  get signInWays(): readonly SignInWay[] {
    return signInWays(this.program, this.#authMethods)
  }

  /**
   * Starts a process in a folder, with the keys that a user has given. Resolves when the agent has answered `initialize`. An
   * aborted signal ends the process.
   */
  async start(folder: string, signal?: AbortSignal, keys: Variables = {}): Promise<AcpConnection> {
    const { watchdog, version, later } = this.context
    const agentProcess = new LineProcess(this.#processOptions(folder, keys), watchdog)
    this.#processes.add(agentProcess)
    void agentProcess.ended.then(() => this.#processes.delete(agentProcess))
    const end = () => void agentProcess.end()
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    const describeFailure = (problem: string, errorType?: string) => {
      this.lastDiagnostics = agentProcess.lastDiagnostics
      return this.failure(problem, errorType, `${resumeHint}${outputText(agentProcess.lastDiagnostics)}`)
    }
    try {
      const options = { capabilities, version, later, describeFailure }
      const connection = await AcpConnection.open(agentProcess, options)
      this.#authMethods = connection.initialized.authMethods ?? []
      return connection
    } catch (error) {
      await agentProcess.end()
      throw error
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  #processOptions(folder: string, keys: Variables) {
    const { command, args, env, variables, memoryBytes: maxMemory = defaultMaxMemory } = this.program
    const { environment: host, mark, mcpServers = [], secrets = {} } = this.context
    // Agents get the socket of the user's SSH agent, because they run git, and git may need it to push or fetch. They get the
    // settings of OpenTelemetry, so that they send their spans to the collector of the host, under names of their own.
    const passed = '^SSH_AUTH_SOCK$|^OTEL_(?!SERVICE_NAME$)'
    const own = new RegExp(`${variables.source}|${passed}`, variables.flags)
    const environment = programEnvironment(host, { own, configured: { ...env, ...keys }, mark })
    for (const key of Object.values(keys)) this.#givenKeys = { ...this.#givenKeys, [`KEY ${key}`]: key }
    const otherSecrets = { ...valuesGiven(mcpServers), ...secrets, ...this.#givenKeys }
    this.#redact = redactor({ ...environment, ...otherSecrets })
    // Some agents show users the folder of their process, and not that of the ACP session. A folder that is gone is
    // the problem of the ACP session: the process starts without it.
    const cwd = existsSync(folder) ? folder : homedir()
    return { command, args, cwd, environment, otherSecrets, maxMemory, maxLineLength, missingHint }
  }

  /** Ends all processes that this launcher has started and that still run. */
  async end(): Promise<void> {
    await Promise.all([...this.#processes].map((each) => each.end()))
  }

  /** Returns the failure of a turn. Users can resume the turn, because the resumed turn starts the program again. */
  failure(problem: string, errorType = 'agent', appendix = ''): TurnFailed {
    const message = `${this.program.displayName}: ${this.redact(problem)}.${appendix}`
    return new TurnFailed(errorType, message, true)
  }

  /** Removes the agent's credentials from a text. */
  redact(text: string): string {
    return this.#redact(text)
  }

  /** Converts an error of a turn to an error with a message for users. */
  userError(error: unknown): Error {
    if (error instanceof TurnFailed) return error
    if (!(error instanceof AhpError)) return error instanceof Error ? error : new Error(String(error))
    if (error.code !== authRequired) return this.failure(messageWithDetails(error))
    const { displayName, command, signIn } = this.program
    const instruction = signInText(this.#authMethods, command, signIn)
    const resources = this.signInWays.map(({ resource }) => resource)
    return new SignInRequired(`${displayName} is not signed in. ${instruction}`, resources)
  }

  /**
   * Returns the notice for a turn without any output. The notice is needed because some agents report no error when they
   * fail.
   */
  silentTurnNotice(diagnostics: readonly string[]): string {
    const { displayName } = this.program
    return `${displayName} ended its turn without any output. It may have failed.${outputText(diagnostics)}`
  }
}

/** Returns the sentence for an agent whose program does not exist. */
export function missingProgram({ displayName, command }: AcpProgram): string {
  return `${displayName}: there is no program ${JSON.stringify(command)}; ${missingHint}.`
}

/**
 * The capabilities of the host as an ACP client. Reading files is not offered, because agents run as the host's user and can
 * read files themselves.
 */
const capabilities = {
  fs: { readTextFile: false, writeTextFile: true },
  terminal: true,
  session: { configOptions: { boolean: true }, notices: {}, compaction: {} },
  elicitation: { form: {}, url: {} },
  plan: {},
}

function outputText(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n\nIts last output:\n\n${lines.map((line) => `    ${line}`).join('\n')}`
}

/** Returns the message of an agent's error, followed by the details from its `data`. */
function messageWithDetails({ message, data, code }: AhpError): string {
  const { details, message: inner } = fieldsOf(data)
  const detail = [details, inner, data].find((each) => typeof each === 'string' && each !== message)
  const text = typeof detail === 'string' ? `${message}: ${detail}` : message || `error ${code}`
  return text.slice(0, maxProblemLength).replace(/\.$/, '')
}

const missingHint = 'install it, or name its command under "agents" in the config'
const resumeHint = ' A new or a resumed turn starts it again.'
const defaultMaxMemory = 8 * 2 ** 30
const maxLineLength = 64 * 2 ** 20
const maxProblemLength = 2000
