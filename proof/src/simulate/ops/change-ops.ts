import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChangesetState } from '@atrium/protocol/changeset/state'
import type { PastState, Unfinished } from '@atrium/protocol/root/past'
import { annotationsUri } from '@atrium/protocol/uri'
import type { Chance } from '../../chance.ts'
import { directory, paths } from '../changes/folder.ts'
import type { SimulatedClient } from '../simulated-client.ts'
import type { Simulation } from '../simulation.ts'
import { count } from '../tally.ts'

/** What people do about changes: they edit files, look at changesets, undo and redo, mark hunks and write comments. */
export function change(sim: Simulation, chance: Chance): void {
  const kind = chance.below(20)
  if (kind < 5) return sim.changes?.person(chance)
  const client = chance.pick(sim.clients.filter(({ open }) => open))
  if (!client) return
  if (kind < 8) return follow(sim, client, chance)
  if (kind < 14) return operate(sim, client, chance)
  if (kind < 16) return mark(sim, client, chance)
  if (kind < 18) return askPast(sim, client, chance)
  annotate(sim, client, chance)
}

/** A finished turn, mostly one of the last ones, as the URI of its changeset. */
function turnChangeset(sim: Simulation, chance: Chance): Uri | undefined {
  const [uri, chat] = chance.pick(sim.invariants.chats().filter(([, { turns }]) => turns.length > 0)) ?? []
  const turn = chance.oneIn(2) ? chat?.turns.at(-1) : chance.pick(chat?.turns ?? [])
  return turn && `${uri}/changeset/turn/${encodeURIComponent(turn.id)}`
}

function follow(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const [uri, chat] = chance.pick(sim.invariants.chats()) ?? []
  if (chance.oneIn(4)) {
    const [a, b] = chance.shuffled(chat?.turns ?? [])
    if (a && b) client.subscribe(`${uri}/changeset/compare/${a.id}/${b.id}`)
    return
  }
  const active =
    chat?.activeTurn && chance.oneIn(3) ? `${uri}/changeset/turn/${chat.activeTurn.id}` : undefined
  const changeset = active ?? turnChangeset(sim, chance)
  if (changeset !== undefined) client.subscribe(changeset)
}

const operations = [
  'undo',
  'undo',
  'undo',
  'undo-uncertain',
  'redo',
  'redo',
  'keep',
  'undo-with-copy',
  'undo-anyway',
]

function operate(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const known = sim.model.liveUris('ahp-').filter((uri) => uri.includes('/changeset/turn/'))
  const channel = chance.oneIn(4) ? turnChangeset(sim, chance) : chance.pick(known)
  if (channel === undefined) return
  const state = sim.model.stateAt(channel, Infinity) as ChangesetState | undefined
  const offered = state?.operations?.flatMap(({ id, status }) => (status === 'disabled' ? [] : [id])) ?? []
  // Some operations are not offered, or not any more when the host hears of them.
  const operationId = chance.pick(chance.oneIn(4) ? operations : offered) ?? 'undo'
  const needsFile = !['undo', 'undo-uncertain', 'redo'].includes(operationId)
  const shown = chance.oneIn(4) ? undefined : chance.pick(state?.files ?? [])?.id
  const resource = shown ?? `file://${directory}/${chance.pick(paths)}`
  const target =
    needsFile || (operationId !== 'undo-uncertain' && chance.oneIn(3))
      ? { target: { kind: 'resource', resource } }
      : {}
  const params = { channel, operationId, ...target }
  client.ask('invokeChangesetOperation', params, ({ error }) =>
    count(error ? `${operationId} refused` : `${operationId} done`),
  )
}

/**
 * Undoes the turns at the end of a run, the newest first, and redoes some of them. Only now it shows whose work an undo takes.
 * Also asks for some past states.
 */
export function lookBack(sim: Simulation, chance: Chance): void {
  const client = sim.clients.find(({ open }) => open)
  if (!client) return
  for (let n = 0; n < pastStates; n++) askPast(sim, client, chance)
  const turns = sim.invariants
    .chats()
    .flatMap(([uri, { turns: all }]) =>
      all.map(({ id }) => `${uri}/changeset/turn/${encodeURIComponent(id)}`),
    )
  for (const channel of turns.slice(-mostUndone).toReversed())
    for (const operationId of chance.oneIn(3) ? ['undo', 'redo'] : ['undo']) {
      const params = { channel, operationId }
      client.ask('invokeChangesetOperation', params, ({ error }) =>
        count(error ? `last ${operationId} refused` : `last ${operationId} done`),
      )
    }
}

const mostUndone = 5
const pastStates = 5

/** Marks the hunks that a file of a changeset has. The first request asks which hunks there are. */
function mark(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const channel = turnChangeset(sim, chance)
  const state = channel === undefined ? undefined : (sim.model.stateAt(channel, Infinity) as ChangesetState)
  const file = chance.pick(state?.files ?? [])?.id
  if (channel === undefined || file === undefined) return
  const asked = { channel, file, hunks: [], reviewed: true }
  client.ask('x-atrium/reviewHunks', asked, ({ result }) => {
    const hunks = hashesIn(result)
    if (hunks.length === 0 || !client.open) return
    const marking = { ...asked, hunks }
    client.ask('x-atrium/reviewHunks', marking, (answer) => {
      if (!answer.result) return
      count('hunks marked')
      sim.changes?.marks.push(...hunks.map((hash) => ({ channel, file, hash })))
    })
  })
}

function hashesIn(result: unknown): readonly string[] {
  const { hunks = [] } = (result ?? {}) as { readonly hunks?: readonly { readonly hash: string }[] }
  return hunks.map(({ hash }) => hash)
}

/** Asks for the state of a channel at a number at which some client had it. */
function askPast(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const hasPast = (uri: Uri) => ['root', 'session', 'chat'].includes(sim.model.live(uri)?.kind.name ?? '')
  const wanted = sim.past?.numbers.filter(([uri]) => hasPast(uri)) ?? []
  const [channel, seq] = chance.pick(wanted) ?? []
  if (channel === undefined || seq === undefined) return
  const params = { channel, seq }
  client.ask('x-atrium/stateAt', params, ({ result }) => {
    if (result) sim.past?.check(sim, channel, seq, result as PastState | Unfinished)
  })
}

function annotate(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const session = chance.pick(sim.liveUris('ahp-session:'))
  if (session === undefined) return
  const channel = annotationsUri(session)
  const known = (sim.model.stateAt(channel, Infinity) ?? { annotations: [] }) as {
    readonly annotations: readonly { readonly id: string }[]
  }
  const name = String(sim.name())
  const annotationId = chance.pick(known.annotations)?.id
  const entry = { id: `entry-${name}`, text: name }
  const line = chance.below(5)
  const annotation = {
    id: `note-${name}`,
    origin: { session },
    resource: `file://${directory}/${chance.pick(paths)}`,
    range: { start: { line, character: 0 }, end: { line, character: 1 } },
    resolved: false,
    entries: [entry],
  }
  const set = { type: 'annotations/set', annotation }
  const actions =
    annotationId === undefined
      ? [set]
      : [
          set,
          { type: 'annotations/entrySet', annotationId, entry },
          { type: 'annotations/updated', annotationId, resolved: chance.oneIn(2) },
          { type: 'annotations/removed', annotationId },
        ]
  client.dispatch(channel, (chance.pick(actions) ?? set) as Action)
}
