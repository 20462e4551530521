import { resolve } from 'node:path'
import { AhpError } from '@atrium/protocol/errors'
import { commandResult, terminalShown } from '@atrium/host/agents/command-result'
import type { Chat, CommandOutcome, RunningCommand } from '@atrium/host/ports/agent'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { toAcpError } from './files.ts'
import { shellQuote, shellScript, showsCommand } from './preview.ts'
import { wrappedLine } from './wrapped-line.ts'
import type { PermittedCall, Preview, ToolCall } from './tool-call.ts'
import type { ToolCalls } from './tool-calls.ts'
import { fieldsOf, resourceNotFound } from '../process/schema.ts'
import type { Fields } from '../process/schema.ts'

interface AcpTerminal {
  readonly running: RunningCommand
  /** The maximum size of the output that the agent reads. The agent sets it. */
  readonly maxBytes: number
}

/** The terminals of a turn's tool calls, by the agent's terminal ids. All clients can watch these terminals. */
export class AcpTerminals {
  readonly #chat: Chat
  readonly #cwd: string
  readonly #terminals = new Map<string, AcpTerminal>()
  /** The previews whose approval was used to run a command. An approval is valid for one run only. */
  readonly #usedPreviews = new Set<Preview>()

  constructor(chat: Chat, cwd: string) {
    this.#chat = chat
    this.#cwd = cwd
  }

  /**
   * Returns the content that shows a terminal. After the end of the command the content includes the output, because the call
   * is stored longer than the terminal.
   */
  contentOf(terminalId: string): readonly ToolResultContent[] {
    const found = this.#terminals.get(terminalId)
    if (!found) return []
    const { terminal } = found.running
    const soFar = found.running.soFar()
    return soFar.ended ? (commandResult(soFar, terminal).content ?? []) : [terminalShown(terminal)]
  }

  /** Answers `terminal/create`: runs the command if users have approved a call that shows this command. */
  async create(params: Fields, calls: ToolCalls): Promise<object> {
    const line = commandLine(params)
    const { cwd, outputByteLimit: limit } = params
    try {
      const { call, isHostCall } = await this.#permitted(params, line, calls)
      const directory = typeof cwd === 'string' ? { cwd } : {}
      const running = await this.#chat.run({ toolCallId: call.id, line, ...directory })
      const terminalId = `term-${this.#terminals.size + 1}`
      const maxBytes = typeof limit === 'number' && limit >= 0 ? limit : defaultMaxBytes
      this.#terminals.set(terminalId, { running, maxBytes })
      await calls.setContent(call, [{ type: 'terminal', terminalId }])
      if (isHostCall)
        running.done.then(
          ({ exitCode }) => calls.complete(call, exitCode === 0),
          () => {},
        )
      return { terminalId }
    } catch (error) {
      throw toAcpError(error)
    }
  }

  /** Returns an approved call that shows the command, and marks the preview of the call as used. */
  async #permitted(params: Fields, line: string, calls: ToolCalls): Promise<PermittedCall> {
    const { cwd } = params
    const labels = { toolName: 'run', displayName: 'Run', title: `Run ${line.slice(0, 200)}`, input: line }
    const isElsewhere = typeof cwd === 'string' && resolve(cwd) !== resolve(this.#cwd)
    const shows = (preview: Preview) =>
      !isElsewhere &&
      !this.#usedPreviews.has(preview) &&
      showsCommand(preview, equivalentLines(params, this.#cwd))
    const question = isElsewhere ? { reason: `It would run in ${cwd}` } : {}
    let permitted = await calls.permitted(shows, labels, question)
    // A concurrent request may have used the preview during the wait.
    while (this.#isUsed(permitted.call)) permitted = await calls.permitted(shows, labels, question)
    // There is no `await` between the check above and this line. Otherwise two requests could use the same preview.
    for (const each of [permitted.call, permitted.call.preview]) if (each) this.#usedPreviews.add(each)
    return permitted
  }

  #isUsed({ preview }: ToolCall): boolean {
    return preview !== undefined && this.#usedPreviews.has(preview)
  }

  output(params: Fields): object {
    const { running, maxBytes } = this.#terminal(params)
    const soFar = running.soFar()
    const output = lastBytes(soFar.output, maxBytes)
    return {
      output,
      truncated: soFar.truncated || output.length < soFar.output.length,
      ...(soFar.ended && { exitStatus: exitStatus(soFar) }),
    }
  }

  async exit(params: Fields): Promise<object> {
    return exitStatus(await this.#terminal(params).running.done)
  }

  async kill(params: Fields): Promise<object> {
    await this.#terminal(params).running.end()
    return {}
  }

  /** Answers `terminal/release`: ends the command. The output stays visible to users. */
  async release(params: Fields): Promise<object> {
    await this.#terminal(params).running.end()
    return {}
  }

  #terminal({ terminalId }: Fields): AcpTerminal {
    const found = typeof terminalId === 'string' ? this.#terminals.get(terminalId) : undefined
    if (!found)
      throw new AhpError(resourceNotFound, `no terminal ${JSON.stringify(String(terminalId).slice(0, 100))}`)
    return found
  }
}

const defaultMaxBytes = 1_000_000

/**
 * Returns the command lines that count as this command when they are found in a preview. A line includes the
 * environment variables, because they change what the command does.
 */
function equivalentLines(params: Fields, folder: string): readonly string[] {
  const { command, args, env } = params
  const wrapped = wrappedLine(params, folder)
  const lines = wrapped === undefined ? [] : [wrapped]
  const effective = (Array.isArray(env) ? env : []).filter((each: unknown) => !isCallerId(each))
  const whole = commandLine({ ...params, env: effective })
  if (!Array.isArray(args) || effective.length > 0) return [...lines, whole]
  return [...lines, whole, ...shellScript([command, ...args])]
}

/**
 * Tells whether a variable is only an id of the caller, such as `AGENT_SESSION_ID`. Such a variable does not change what a
 * command does.
 */
function isCallerId(variable: unknown): boolean {
  const { name, value } = fieldsOf(variable)
  return /^(?:[A-Z]+_)?SESSION_ID$/.test(String(name)) && /^[\w.:-]{1,128}$/.test(String(value))
}

/** Returns the command as one shell line. A command without arguments already is a shell line. */
function commandLine({ command, args, env }: Fields): string {
  if (typeof command !== 'string' || command === '')
    throw AhpError.invalidParams('terminal/create needs a command')
  const words = Array.isArray(args) ? args.map(String) : []
  const line = words.length === 0 ? command : [command, ...words].map(shellQuote).join(' ')
  const assignments = (Array.isArray(env) ? env : [])
    .map(fieldsOf)
    .flatMap(({ name, value }) =>
      typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name) ? [`${name}=${shellQuote(String(value))}`] : [],
    )
  return assignments.length === 0 ? line : `export ${assignments.join(' ')}; ${line}`
}

function exitStatus({ exitCode }: CommandOutcome): {
  readonly exitCode: number | null
  readonly signal: string | null
} {
  return exitCode === undefined ? { exitCode: null, signal: 'SIGTERM' } : { exitCode, signal: null }
}

/** Returns the last `maxBytes` bytes of a text in UTF-8, without splitting a character. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - maxBytes
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start).toString('utf8')
}
