import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { fileUri } from '@atrium/protocol/file-uri'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri, sessionUri } from '@atrium/protocol/uri'
import { Conversation } from '../session/conversation.ts'
import { RunView } from '../live/run.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { ensureHost } from '../link/background.ts'
import { connect, isRemote } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { parseSeconds, withTimeout } from '../link/with-client.ts'
import { findTarget, shortName } from '../session/find.ts'
import { isUnasked, unasked } from '../session/unasked.ts'
import { openScreen } from '../live/screen.ts'
import { SpaceNotes } from '../live/space-notes.ts'
import { onOneLine, sanitize, output } from '../terminal/output.ts'
import { isPiped, readStdin } from '../terminal/stdin.ts'
import type { Output, OutputOptions } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly agent?: string
  readonly model?: string
  readonly cwd?: string
  readonly session?: string
  readonly timeout?: string
  readonly allow?: string
  /** Whether a host is started if none runs. False with `--no-start`. */
  readonly start?: boolean
}

/** `atrium run`: runs one turn to its end, in a new session or in an existing one. */
export async function run(words: readonly string[], flags: Flags): Promise<Exit> {
  const seconds = parseSeconds(flags.timeout, '--timeout')
  const allow = parseAllow(flags.allow)
  const out = output(flags)
  const prompt = await promptOf(words, seconds, out)
  const directory = flags.session === undefined ? await directoryOf(flags) : undefined
  if (flags.start !== false) await ensureHost(flags, out)
  const client = await connect(flags)
  const named = flags.session === undefined ? undefined : await findTarget(client, flags.session)
  const uri = named?.session.resource ?? sessionUri(newId())
  await checkAgentAndModel(client, flags)
  const space = new SpaceNotes(client)
  if (!named)
    await withSpaceNotes(client, space, out, () => createSession(client, uri, flags.agent, directory))
  const conversation = await Conversation.open(client, uri, 1, named?.chat)
  conversation.join('atrium run')
  const { turnId, outcome } = conversation.start(
    prompt,
    flags.model === undefined ? undefined : { id: flags.model },
  )
  out.printJson({ type: 'session', session: uri, chat: conversation.chat.uri, turnId })
  const screen = openScreen()
  out.note(screen.style.dim(firstLine(conversation, uri, flags)))

  const view = new RunView({
    conversation,
    turnId,
    output: out,
    screen,
    space,
    ...(allow && { allow }),
  })
  process.on('SIGINT', () => view.interrupt())
  const timer =
    seconds === undefined ? undefined : setTimeout(() => void view.expire(seconds), seconds * 1000)
  void outcome.then(async (result) => {
    if (result.outcome === 'accepted') return
    const isRefused = result.outcome === 'refused'
    // A new session without its turn is of no use, and every client lists it.
    if (isRefused && !named) await client.ask('disposeSession', { channel: uri }).catch(() => {})
    const what = isRefused ? 'The turn could not begin' : 'It is not known whether the turn has begun'
    view.fail(new CommandError(`${what}: ${sanitize(result.reason)}`))
  })
  try {
    const exit = await view.done()
    out.printJson({ type: 'end', exit })
    return exit
  } catch (error) {
    if (error instanceof CommandError) out.printJson({ type: 'end', exit: error.exit, reason: error.message })
    throw error
  } finally {
    clearTimeout(timer)
    await conversation.leave()
  }
}

/**
 * Returns the first line that `atrium run` prints. It names the session. If the user has chosen neither an agent nor a
 * session, it also names the agent and the flag that chooses another one. If the agent acts without asking for approval,
 * the line says so.
 */
function firstLine({ session: { state } }: Conversation, uri: string, { agent, session }: Flags): string {
  const line = `· session ${shortName(uri)}`
  const isNamed = agent !== undefined || session !== undefined || !state
  const provider = state && onOneLine(state.provider)
  const about = [
    ...(isNamed ? [] : [`${provider}; --agent chooses another agent`]),
    ...(state && isUnasked(state) ? [`${provider} ${unasked}`] : []),
  ]
  return about.length === 0 ? line : `${line} (${about.join('; ')})`
}

/** Tells the user when the disk of the host becomes full, and when it has space again, while `work` runs. */
async function withSpaceNotes(
  client: Client,
  space: SpaceNotes,
  out: Output,
  work: () => Promise<void>,
): Promise<void> {
  const say = () => {
    const note = space.next()
    if (note) out.report(note, () => `· ${note.message}`)
  }
  // The host tells the subscribers of the root channel whether its disk is full. The subscription is kept, because the
  // conversation needs it, too.
  const end = client.subscribe('root', rootUri).onChange(say)
  await work().finally(end)
}

/**
 * Returns the prompt: the words, followed by the text of a pipe or a file on stdin. If the last word is `-`, stdin is read in
 * any case. Without words, stdin is read unless it is a terminal.
 */
async function promptOf(words: readonly string[], seconds: number | undefined, out: Output): Promise<string> {
  const isAsked = words.at(-1) === '-'
  const typed = (isAsked ? words.slice(0, -1) : words).join(' ')
  const isRead = isAsked || (typed.trim() === '' ? process.stdin.isTTY !== true : isPiped())
  const reading = isRead ? readStdin((text) => out.note(text)) : Promise.resolve('')
  const piped = await withTimeout(seconds, reading, 'The end of stdin has not come')
  const prompt = [typed.trim(), piped].filter((text) => text !== '').join('\n\n')
  if (prompt !== '') return prompt
  throw new CommandError('The prompt is missing: atrium run "…"', exits.usage)
}

/**
 * Creates a session. If the link breaks meanwhile, the outcome is unknown. Then the session is created again, and the
 * error that it exists already counts as success.
 */
async function createSession(
  client: Client,
  channel: string,
  provider: string | undefined,
  directory: string | undefined,
): Promise<void> {
  const params = {
    channel,
    ...(provider !== undefined && { provider }),
    ...(directory !== undefined && { workingDirectories: [fileUri(directory)] }),
  }
  for (let again = false; ; again = true) {
    try {
      return void (await client.ask('createSession', params))
    } catch (error) {
      if (error instanceof LinkClosed) continue
      if (!(error instanceof AhpError)) throw error
      if (again && error.code === errorCodes.SessionAlreadyExists) return
      if (error.code === errorCodes.AuthRequired)
        throw new CommandError(
          `${sanitize(error.message)} Sign in with: atrium login ${provider ?? ''}`.trim(),
          exits.denied,
        )
      throw error
    }
  }
}

/** Throws if the host does not have the agent or the model. The error lists those that it has. */
async function checkAgentAndModel(client: Client, { agent, model, session }: Flags): Promise<void> {
  if (agent === undefined && model === undefined) return
  if (agent !== undefined && session !== undefined)
    throw new CommandError('A session keeps its agent: leave out --agent or --session.', exits.usage)
  const root = client.subscribe('root', rootUri)
  const { agents } = await root.ready()
  root.release()
  const found = agents.filter(({ provider }) => agent === undefined || provider === agent)
  if (found.length === 0)
    throw unknown(
      'agent',
      agent ?? '',
      agents.map(({ provider }) => provider),
    )
  if (model === undefined) return
  const models = found.flatMap((each: AgentInfo) => each.models.map(({ id }) => id))
  if (models.length === 0)
    throw new CommandError(
      `The models of ${sanitize(found.map(({ provider }) => provider).join(', '))} are not known yet; ask for them with: atrium agents --check`,
      exits.usage,
    )
  if (!models.includes(model)) throw unknown('model', model, models)
}

function unknown(what: string, name: string, known: readonly string[]): CommandError {
  return new CommandError(
    `There is no ${what} '${name}'; there are: ${sanitize(known.join(', ')) || 'none'}`,
    exits.usage,
  )
}

/**
 * Returns the working directory of a new session. A remote host may not have the directory of this command. So without `--cwd`
 * the remote host chooses the directory, and a relative path is refused.
 */
async function directoryOf(flags: Flags): Promise<string | undefined> {
  const { cwd } = flags
  if (isRemote(flags)) {
    if (cwd === undefined || isAbsolute(cwd)) return cwd
    throw new CommandError(
      `--cwd: '${cwd}' must be an absolute path, because the host is remote.`,
      exits.usage,
    )
  }
  const path = resolve(cwd ?? '.')
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) throw new CommandError(`--cwd: ${path} is no directory.`, exits.usage)
  return path
}

function parseAllow(text: string | undefined): 'once' | 'session' | undefined {
  if (text === undefined || text === 'once' || text === 'session') return text
  throw new CommandError(`--allow must be once or session, and not '${text}'.`, exits.usage)
}
