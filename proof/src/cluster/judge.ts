import type { StoredEnvelope } from '@atrium/host/ports/log'
import { appliedTwice } from '../judge/rules.ts'
import type { Clock } from '../simulate/world.ts'
import type { ClusterClient } from './client.ts'
import type { Database } from './database.ts'
import type { SimulatedNode } from './node.ts'

/** What a simulated cluster consists of. */
export interface Cluster {
  readonly clock: Clock
  readonly database: Database
  readonly clients: readonly ClusterClient[]
  readonly nodes: SimulatedNode[]
  readonly fail: (rule: string, problem: string) => void
  readonly counts: { [what: string]: number }
}

/** Judges a cluster after everything has healed, by what the clients remember and what the database has. */
export async function judge(cluster: Cluster, pass: (ms: number) => Promise<void>): Promise<void> {
  const { nodes, clients, database, fail } = cluster
  const owners = nodes.filter(({ node }) => node.role === 'owner')
  if (owners.length !== 1)
    return fail(
      'L42',
      `${owners.length} owners after everything has healed: ${nodes.map(({ node }) => node.role).join()}`,
    )
  const { log } = database.store.share({})
  for (const { clientId, sent, created } of clients) {
    for (const session of created)
      if (!(await log.load(session))) fail('I1', `${session} was confirmed to ${clientId}, and is not there`)
    const stored = await log.dispatchedBy(clientId, 0, Number.MAX_SAFE_INTEGER)
    for (const { accepted, channel, clientSeq } of sent)
      if (accepted !== undefined && !stored.some(({ seq }) => seq === accepted))
        fail(
          'I1',
          `action ${clientSeq} of ${clientId} in ${channel} was confirmed as ${accepted}, and is not there`,
        )
    checkOnce(clientId, stored, fail)
  }
  const [client] = clients
  const [owner] = owners
  if (!client || !owner) return
  client.connect(owner)
  const listed = client.sessions()
  await pass(1000)
  const committed = await committedTitles(database)
  for (const { resource, title } of await listed)
    if (committed.get(resource) !== title)
      fail('L41', `${resource} is listed as ${title}, and ${committed.get(resource)} is committed`)
}

/** The titles of the sessions in the committed session list. An owner that has read more than that shows another one. */
async function committedTitles({ store }: Database): Promise<ReadonlyMap<string, string>> {
  const entries = await store.records.list(prefix)
  return new Map(
    entries.map(([key, text]) => {
      // The entry is the JSON after the numbers of its changes. It is the host's own: hence the cast.
      const { title } = JSON.parse(text.slice(text.indexOf('{'))) as { readonly title: string }
      return [key.slice(prefix.length), title]
    }),
  )
}

const prefix = 'session/'

/** Checks that no action of a client is stored twice, and that numbers rise. */
function checkOnce(clientId: string, stored: readonly StoredEnvelope[], fail: Cluster['fail']): void {
  const seen = new Set<number>()
  for (const { seq } of stored) {
    if (seen.has(seq)) fail('L45', `${clientId}: number ${seq} is stored twice`)
    seen.add(seq)
  }
  for (const { action, before, key } of appliedTwice(stored))
    fail('I8', `${key} is stored as ${before} and as ${action.seq}`)
}
