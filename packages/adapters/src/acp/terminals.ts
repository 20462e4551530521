import { resolve } from 'node:path'
import { AhpError } from '@atrium/protocol/errors'
import { commandResult, terminalShown } from '@atrium/host/agents/command-result'
import type { Chat, CommandOutcome, RunningCommand } from '@atrium/host/ports/agent'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { refused } from './files.ts'
import type { Call, Shown } from './tool-call.ts'
import type { Calls } from './tool-calls.ts'
import type { Asked } from './process/connection.ts'
import { innerLine, quoted, showsLine } from './previewed.ts'
import { notFound } from './process/schema.ts'

interface Terminal {
  readonly running: RunningCommand
  readonly most: number
  /** The host's own call, where the agent had none. */
  readonly own: Call | undefined
}

/** The shells of a turn's tool calls: terminals that everyone can watch, under names of the agent's. */
export class Terminals {
  readonly #chat: Chat
  /** Where the chat works: what runs elsewhere is said to. */
  readonly #cwd: string
  readonly #terminals = new Map<string, Terminal>()
  /** What was shown counts for one line. */
  readonly #used = new Set<Shown>()

  constructor(chat: Chat, cwd: string) {
    this.#chat = chat
    this.#cwd = cwd
  }

  /** When it has ended, with what it wrote: a terminal goes one day, and the call stays. */
  shown(terminalId: string): readonly ToolResultContent[] {
    const found = this.#terminals.get(terminalId)
    if (!found) return []
    const { terminal } = found.running
    const soFar = found.running.soFar()
    return soFar.ended ? (commandResult(soFar, terminal).content ?? []) : [terminalShown(terminal)]
  }

  async create(asked: Asked, calls: Calls): Promise<object> {
    const line = lineOf(asked)
    const { cwd, outputByteLimit: limit } = asked
    try {
      const about = { toolName: 'run', displayName: 'Run', title: `Run ${line.slice(0, 200)}`, input: line }
      const elsewhere = typeof cwd === 'string' && resolve(cwd) !== resolve(this.#cwd)
      const fits = (each: Shown) => !elsewhere && !this.#used.has(each) && showsLine(each, spellings(asked))
      const question = elsewhere ? { reason: `It would run in ${cwd}` } : {}
      let permitted = await calls.permitted(fits, about, question)
      // Another line that came with the same breath may have been quicker.
      while (this.#isUsed(permitted.call)) permitted = await calls.permitted(fits, about, question)
      const { call, own: isOwn } = permitted
      for (const each of [call, call.shown]) if (each) this.#used.add(each)
      const where = typeof cwd === 'string' ? { cwd } : {}
      const running = await this.#chat.run({ toolCallId: call.id, line, ...where })
      const terminalId = `term-${this.#terminals.size + 1}`
      const most = typeof limit === 'number' && limit >= 0 ? limit : usualLimit
      const own = isOwn ? call : undefined
      this.#terminals.set(terminalId, { running, most, own })
      await calls.show(call, [{ type: 'terminal', terminalId }])
      if (own)
        running.done.then(
          ({ exitCode }) => calls.finish(own, exitCode === 0),
          () => {},
        )
      return { terminalId }
    } catch (error) {
      throw refused(error)
    }
  }

  #isUsed({ shown }: Call): boolean {
    return shown !== undefined && this.#used.has(shown)
  }

  output(asked: Asked): object {
    const { running, most } = this.#of(asked)
    const soFar = running.soFar()
    const output = newest(soFar.output, most)
    const over = soFar.ended
    return {
      output,
      truncated: soFar.truncated || output.length < soFar.output.length,
      ...(over && { exitStatus: statusOf(soFar) }),
    }
  }

  async exit(asked: Asked): Promise<object> {
    return statusOf(await this.#of(asked).running.done)
  }

  async kill(asked: Asked): Promise<object> {
    await this.#of(asked).running.end()
    return {}
  }

  /** What it has shown stays to be seen. */
  async release(asked: Asked): Promise<object> {
    await this.#of(asked).running.end()
    return {}
  }

  #of({ terminalId }: Asked): Terminal {
    const found = typeof terminalId === 'string' ? this.#terminals.get(terminalId) : undefined
    if (!found)
      throw new AhpError(notFound, `no terminal ${JSON.stringify(String(terminalId).slice(0, 100))}`)
    return found
  }
}

const usualLimit = 1_000_000

/** How a line may have been shown. Its variables belong to it: with others it does something else. */
function spellings(asked: Asked): readonly string[] {
  const { command, args, env } = asked
  const obeyed = (Array.isArray(env) ? env : []).filter((each: unknown) => !isName(each))
  const whole = lineOf({ ...asked, env: obeyed })
  if (!Array.isArray(args) || obeyed.length > 0) return [whole]
  return [whole, ...innerLine([command, ...args])]
}

/** A variable that only says on whose behalf a line is run: no program obeys it. */
function isName(variable: unknown): boolean {
  const { name, value } = (variable ?? {}) as { readonly name?: unknown; readonly value?: unknown }
  return /^(?:[A-Z]+_)?SESSION_ID$/.test(String(name)) && /^[\w.:-]{1,128}$/.test(String(value))
}

/** For a shell: what comes without arguments is a whole line of it already. */
function lineOf({ command, args, env }: Asked): string {
  if (typeof command !== 'string' || command === '')
    throw AhpError.invalidParams('terminal/create needs a command')
  const words = Array.isArray(args) ? args.map(String) : []
  const line = words.length === 0 ? command : [command, ...words].map(quoted).join(' ')
  const settings = (Array.isArray(env) ? env : []).flatMap((each: { name?: unknown; value?: unknown }) =>
    typeof each?.name === 'string' && /^[A-Za-z_]\w*$/.test(each.name)
      ? [`${each.name}=${quoted(String(each.value))}`]
      : [],
  )
  return settings.length === 0 ? line : `export ${settings.join(' ')}; ${line}`
}

function statusOf({ exitCode }: CommandOutcome): {
  readonly exitCode: number | null
  readonly signal: string | null
} {
  return exitCode === undefined ? { exitCode: null, signal: 'SIGTERM' } : { exitCode, signal: null }
}

/** The end of a text that is as many bytes at most; no half of a letter. */
function newest(text: string, most: number): string {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= most) return text
  let at = bytes.length - most
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return bytes.subarray(at).toString('utf8')
}
