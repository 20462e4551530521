import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { fileUri } from '@atrium/protocol/file-uri'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri, sessionUri } from '@atrium/protocol/uri'
import { Conversation } from '../session/conversation.ts'
import { Errand } from '../live/run.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { reach } from '../link/connect.ts'
import type { Whereabouts } from '../link/connect.ts'
import { findAddressee, shortName } from '../session/find.ts'
import { frontOf } from '../live/screen.ts'
import { harmless, voice } from '../terminal/output.ts'
import type { Manners } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly agent?: string
  readonly model?: string
  readonly cwd?: string
  readonly session?: string
  readonly timeout?: string
  readonly allow?: string
}

/** `atrium run`: one turn in a new session, or in one that is there, to its end. */
export async function run(words: readonly string[], flags: Flags): Promise<Exit> {
  const seconds = secondsOf(flags.timeout)
  const allow = allowOf(flags.allow)
  const prompt = await promptOf(words)
  const directory = flags.session === undefined ? await directoryOf(flags) : undefined
  const speaker = voice(flags)
  const client = await reach(flags)
  const named = flags.session === undefined ? undefined : await findAddressee(client, flags.session)
  const uri = named?.session.resource ?? sessionUri(newId())
  await agreeable(client, flags)
  if (!named) await create(client, uri, flags.agent, directory)
  const conversation = await Conversation.open(client, uri, 1, named?.chat)
  conversation.join('atrium run')
  const { turnId, outcome } = conversation.start(
    prompt,
    flags.model === undefined ? undefined : { id: flags.model },
  )
  if (speaker.json)
    speaker.tell({ type: 'session', session: uri, chat: conversation.chat.uri, turnId }, () => '')
  const front = frontOf()
  speaker.note(front.style.dim(`· session ${shortName(uri)}`))

  const errand = new Errand({
    conversation,
    turnId,
    voice: speaker,
    front,
    ...(allow && { allow }),
  })
  process.on('SIGINT', () => errand.interrupt())
  const timer =
    seconds === undefined ? undefined : setTimeout(() => void errand.expire(seconds), seconds * 1000)
  void outcome.then((said) => {
    if (said.outcome !== 'accepted')
      errand.fail(new Problem(`The turn could not begin: ${harmless(said.reason)}`))
  })
  try {
    const exit = await errand.done()
    if (speaker.json) speaker.tell({ type: 'end', exit }, () => '')
    return exit
  } catch (error) {
    if (speaker.json && error instanceof Problem)
      speaker.tell({ type: 'end', exit: error.exit, reason: error.message }, () => '')
    throw error
  } finally {
    clearTimeout(timer)
    await conversation.leave()
  }
}

/** What was typed, else what is piped in. */
async function promptOf(words: readonly string[]): Promise<string> {
  const typed = words.join(' ').trim()
  if (typed !== '' && typed !== '-') return typed
  const piped = process.stdin.isTTY === true && typed !== '-' ? '' : (await readAll(process.stdin)).trim()
  if (piped !== '') return piped
  throw new Problem('Say what is to be done: atrium run "…"', exits.usage)
}

/** A new session. Where the link ends meanwhile, nobody knows whether there is one: it is asked for again, by its name. */
async function create(
  client: Client,
  channel: string,
  provider: string | undefined,
  directory: string | undefined,
): Promise<void> {
  const wished = {
    channel,
    ...(provider !== undefined && { provider }),
    ...(directory !== undefined && { workingDirectories: [fileUri(directory)] }),
  }
  for (let again = false; ; again = true) {
    try {
      return void (await client.ask('createSession', wished))
    } catch (error) {
      if (error instanceof LinkClosed) continue
      if (again && error instanceof AhpError && error.code === errorCodes.SessionAlreadyExists) return
      throw error
    }
  }
}

/** Whether there is such an agent and such a model; else a sentence with those that there are. */
async function agreeable(client: Client, { agent, model, session }: Flags): Promise<void> {
  if (agent === undefined && model === undefined) return
  if (agent !== undefined && session !== undefined)
    throw new Problem('A session keeps its agent: leave out --agent or --session.', exits.usage)
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
  if (!models.includes(model)) throw unknown('model', model, models)
}

function unknown(what: string, name: string, known: readonly string[]): Problem {
  return new Problem(
    `There is no ${what} '${name}'; there are: ${harmless(known.join(', ')) || 'none'}`,
    exits.usage,
  )
}

/** Where the agent works: here, unless its host is elsewhere and nobody said where. */
async function directoryOf({ cwd, host }: Flags): Promise<string | undefined> {
  const elsewhere = host !== undefined || (process.env['ATRIUM_URL'] ?? '') !== ''
  if (elsewhere) return cwd
  const path = resolve(cwd ?? '.')
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) throw new Problem(`--cwd: ${path} is no directory.`, exits.usage)
  return path
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (seconds > 0 && seconds <= 2_000_000) return seconds
  throw new Problem(`--timeout must be a number of seconds, and not '${text}'.`, exits.usage)
}

function allowOf(text: string | undefined): 'once' | 'session' | undefined {
  if (text === undefined || text === 'once' || text === 'session') return text
  throw new Problem(`--allow must be once or session, and not '${text}'.`, exits.usage)
}
