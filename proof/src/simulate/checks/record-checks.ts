import type { Uri } from '@atrium/protocol/channel'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import type { RunContext } from './context.ts'

interface Context extends Pick<RunContext, 'disk' | 'model' | 'invariants' | 'fail'> {
  liveUris(prefix: string): readonly Uri[]
}

type Terminals = readonly (readonly [Uri, TerminalState])[]
type Records = ReadonlyMap<string, string | undefined>

/** Checks L4: the records on the disk agree with the log. */
export function checkRecords(context: Context): void {
  const { invariants, model } = context
  const records = recordsOn(context)
  const keys = [...records].flatMap(([key, text]) => (text === undefined ? [] : [key]))
  const compare = (prefix: string, what: string, expected: readonly string[]) => {
    const kept = keys.flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
    if (kept.toSorted().join() !== expected.toSorted().join())
      context.fail('L4', `the disk lists ${what} as ${kept.join()}, but should list ${expected.join()}`)
  }
  const sessions = invariants.sessions()
  const busy = invariants.chats().filter(([, chat]) => chat.activeTurn ?? chat.queuedMessages)
  const creating = sessions.filter(([, { lifecycle }]) => lifecycle === 'creating')
  const uris = (list: readonly (readonly [Uri, unknown])[]) => list.map(([uri]) => uri)
  compare('session/', 'sessions', uris(sessions))
  compare('quiet/', 'unused sessions', uris(sessions.filter(([uri]) => !invariants.usedSessions.has(uri))))
  const terminals = context.liveUris('ahp-terminal:').flatMap((uri) => {
    const state = model.terminal(uri)
    return state ? [[uri, state] as const] : []
  })
  const running = terminals.filter(([, { lifecycle }]) => lifecycle.status === 'running')
  compare('open/', 'open work', uris([...busy, ...creating, ...running]))
  const held = terminals.filter(([, { claim }]) => claim.kind === 'session')
  const annotated = context.liveUris('').filter((uri) => model.live(uri)?.kind.name === 'annotations')
  compare('part/', 'terminals and annotations of sessions', [...uris(held), ...annotated])
  for (const [uri, { claim }] of held) checkOwner(context, uri, claim, records.get(`part/${uri}`))
  checkTerminals(context, terminals, records)
  compare('copy/', 'chats being created', invariants.stagedChats())
  const active = sessions.flatMap(([uri, { activeClients }]) =>
    activeClients.map(({ clientId }) => JSON.stringify([clientId, uri])),
  )
  // The creator of an unused session is recorded like an active client.
  const creators = keys.flatMap((key) =>
    key.startsWith('quiet/') ? [JSON.stringify([records.get(key), key.slice('quiet/'.length)])] : [],
  )
  compare('guest/', 'active clients', [...new Set([...active, ...creators])])
  for (const [uri] of invariants.chats())
    if (!model.live(invariants.sessionOf(uri) ?? '')) context.fail('L1', `${uri} exists without its session`)
}

/** Removes the checksum of a record (L60). */
const unsealed = (text: string) => (text.startsWith('\u0002') ? text.slice(10) : text)

/** Returns the last value of every record; undefined for a deleted one. */
function recordsOn({ disk }: Context): Records {
  const records = new Map<string, string | undefined>()
  for (const { records: put } of disk.transactions)
    for (const [key, text] of put) records.set(key, text && unsealed(text))
  return records
}

/** Checks Y7: a terminal of a chat belongs to the session that the chat is in. */
function checkOwner(context: Context, uri: Uri, claim: TerminalState['claim'], kept = ''): void {
  const owner = claim.kind === 'session' ? context.invariants.sessionOf(claim.chat) : undefined
  if (owner !== undefined && kept.split('\n')[0] !== owner)
    context.fail('Y7', `${uri} belongs to ${kept}, but its chat is in ${owner}`)
}

/**
 * Checks Y2: the root lists running terminals, and ended ones that a client owns. Y7: a session's terminal ends with
 * the session.
 */
function checkTerminals(context: Context, terminals: Terminals, records: Records): void {
  const { invariants, model } = context
  const listed = (model.root()?.terminals ?? []).map(({ resource }) => resource)
  const shown = terminals.filter(
    ([, { claim, lifecycle }]) => lifecycle.status === 'running' || claim.kind === 'client',
  )
  const expected = shown.map(([uri]) => uri)
  if (listed.toSorted().join() !== expected.toSorted().join())
    context.fail('Y2', `the root lists the terminals ${listed.join()}, but should list ${expected.join()}`)
  for (const [uri, { claim, lifecycle }] of terminals) {
    if (claim.kind !== 'session') continue
    // A running terminal moves along with its chat. For an ended terminal, the record says which session it belongs to.
    const [kept = ''] = (records.get(`part/${uri}`) ?? '').split('\n')
    const owner = invariants.sessionOf(claim.chat) ?? (lifecycle.status === 'running' ? claim.session : kept)
    if (!model.live(owner)) context.fail('Y7', `${uri} exists, but its session ${owner} does not`)
  }
}
