import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { commandPrefix } from '../agents/shell-agent.ts'
import type { Channel } from '../log/channel.ts'
import type { ClientRecord } from '../core/clients.ts'
import type { Core } from '../core/core.ts'
import type { Dialect } from './dialect.ts'
import type { Subscriptions } from './subscriptions.ts'
import { initialize, reconnect } from './handshake.ts'
import type { Opening, Opened } from './handshake.ts'
import type { Outbox } from './outbox.ts'
import { triggers } from '../completions/typed.ts'
import { ready, unlessUnsound } from '../channels/wake.ts'

/** A link that is being opened. */
export interface OpeningLink extends Opening {
  readonly dialect: Dialect
  readonly subscriptions: Subscriptions
  readonly outbox: Outbox
  readonly clientId: string
  /** Nothing can go wrong any more. */
  open(welcome: Opened): void
}

/** The answer to `initialize`: who we are, and the state of what it asked for. */
export async function answerInitialize(
  core: Core,
  link: OpeningLink,
  params: Params<'initialize'>,
): Promise<string> {
  const names = named(link, params.initialSubscriptions ?? [])
  const welcome = await initialize(core, link, { ...params, initialSubscriptions: [...names.keys()] })
  link.dialect.useVersion(welcome.record.version)
  await readyAll(core, welcome)
  link.open(welcome)
  call(link, names)
  const channels = remaining(core, link, welcome.held, core.log.committedSeq)
  const snapshots = channels.map((channel) => snapshot(link, channel))
  const fixed = link.dialect.result('initialize', {
    protocolVersion: welcome.offered,
    serverSeq: core.log.committedSeq,
    serverInfo: core.info,
    _meta: {
      'x-atrium': {
        resends: true,
        ...(isCurious(params) && { clients: core.clients.present(link.principal), agents: lastWords(core) }),
      },
    },
    ...(core.defaultDirectory !== undefined && { defaultDirectory: core.defaultDirectory }),
    completionTriggerCharacters: triggers,
    ...(core.terminals && { terminalCommandPrefix: commandPrefix }),
  })
  return `${JSON.stringify(fixed).slice(0, -1)},"snapshots":[${snapshots.join()}]}`
}

/** Who else is here is told to who asks: for a crowd that comes at once it would be a lot to say. */
function isCurious({ _meta }: Params<'initialize'>): boolean {
  const own = _meta?.['x-atrium'] as { readonly clients?: unknown } | undefined
  return own?.clients === true
}

/** What agents said last beside their work. */
function lastWords({ agents }: Core): readonly object[] {
  return agents.flatMap(({ info, lastWords: words = [] }) =>
    words.length > 0 ? [{ provider: info.provider, lastWords: words }] : [],
  )
}

/** The answer to `reconnect`: what it missed if all of that is there, else the state of what it follows. */
export async function answerReconnect(
  core: Core,
  link: OpeningLink,
  params: Params<'reconnect'>,
): Promise<string> {
  const names = named(link, params.subscriptions)
  // Before anything is replayed by them.
  call(link, names)
  const welcome = await reconnect(core, link, { ...params, subscriptions: [...names.keys()] })
  const { held, replayed, upTo } = welcome
  if (!replayed) await readyAll(core, welcome)
  link.open(welcome)
  // What was replayed of a channel that has gone meanwhile would only confuse.
  const whole = held.every((channel) => isThere(core, channel) && !isBlind(welcome, channel))
  const actions = whole ? replayed : undefined
  const channels = remaining(core, link, held, actions ? upTo : core.log.committedSeq)
  for (const channel of channels) link.subscriptions.restore(channel)
  link.outbox.latency = link.subscriptions.latency
  if (!actions)
    return `{"type":"snapshot","snapshots":[${channels.map((each) => snapshot(link, each)).join()}]}`
  link.subscriptions.replayedFrom = params.lastSeenServerSeq
  for (const { uri } of channels) names.delete(uri)
  return `{"type":"replay","actions":[${actions.join()}],"missing":${JSON.stringify([...names.values()])}}`
}

/** The channels that are meant by what a client lists, each with the name it uses. */
function named({ dialect }: OpeningLink, listed: readonly Uri[]): Map<Uri, Uri> {
  return new Map(listed.map((name) => [dialect.canonicalUri(name), name]))
}

function call({ dialect }: OpeningLink, names: ReadonlyMap<Uri, Uri>): void {
  for (const [uri, name] of names) dialect.setAlias(uri, name)
}

/** What their snapshots show is brought into memory first. Where some of it cannot be trusted they show the rest. */
async function readyAll(core: Core, { held, record }: Opened): Promise<void> {
  for (const channel of held) {
    const turns = record.handed.get(channel.uri)?.turns
    await ready(core, channel, turns === undefined ? {} : { turns }).catch(unlessUnsound)
  }
}

function snapshot({ dialect, subscriptions }: OpeningLink, channel: Channel): string {
  const { view, latency } = subscriptions.how(channel)
  subscriptions.sendSnapshot(channel, { view, latency, leftOut: dialect.leftOut(channel, view) })
  return dialect.snapshot(channel, view)
}

/** It has a part of the turns, and something came behind the replay that may need another. */
function isBlind({ record, upTo }: { record: ClientRecord; upTo: number }, channel: Channel): boolean {
  return record.handed.get(channel.uri)?.cut !== undefined && channel.lastRowNeeded > upTo
}

function isThere(core: Core, channel: Channel): boolean {
  return core.log.channel(channel.uri) === channel
}

/** Of the channels held while the disk was asked, those that are still there: these it follows, and no others. */
function remaining(
  core: Core,
  link: OpeningLink,
  held: readonly Channel[],
  upTo: number,
): readonly Channel[] {
  const channels = held.filter((channel) => isThere(core, channel))
  link.subscriptions.retain(channels)
  const followed = new Set(channels.map(({ uri }) => uri))
  // What was told until now is in the answer, or is of no channel that it will know.
  link.outbox.forget(
    ({ seq, channel, origin }) =>
      seq <= upTo || !(followed.has(channel) || origin?.clientId === link.clientId),
  )
  return channels
}
