import type { ClusterState, Replica } from '@atrium/adapters/store/postgres/lease'
import { configure } from '../../serve/config.ts'
import { readPlace } from '../../serve/postgres.ts'
import { CommandError, exits, sentenceOf } from '../../terminal/exit.ts'

/** The flags of the command. */
export interface ClusterFlags {
  readonly store?: string
  readonly json?: boolean
}

/** `atrium cluster status`: tells which node owns the store in a database. Asks the database only, and changes nothing. */
export async function clusterStatus({ store, json }: ClusterFlags): Promise<void> {
  const { settings } = await configure({ ...(store !== undefined && { store }) }, process.env)
  if (settings.store === undefined)
    throw new CommandError(
      'There is no database; name it with --store postgres://user@host/database.',
      exits.usage,
    )
  const place = await readPlace(settings.store, process.env)
  const { clusterState } = await import('@atrium/adapters/store/postgres/lease')
  const state = await clusterState(place).catch((error: unknown) => {
    throw new CommandError(sentenceOf(error))
  })
  process.stdout.write(json ? `${JSON.stringify(state)}\n` : statusText(state, place.name))
}

/** Returns the state for people. The name and the address of a node come from the database. */
export function statusText({ host, lease, replicas }: ClusterState, place: string): string {
  const rows = [
    ['store', `${place}, of the host ${host}`],
    ...ownerRows(lease),
    [
      'replicas',
      replicas.length === 0 ? 'none that this user may see' : replicas.map(replicaText).join('; '),
    ],
  ]
  return rows.map(([name = '', text]) => `${name.padEnd(9)} ${text}\n`).join('')
}

function ownerRows(lease: ClusterState['lease']): readonly (readonly string[])[] {
  if (!lease) return [['owner', 'none yet']]
  const { node, url, epoch, msLeft } = lease
  const at = url === undefined ? '' : ` at ${url}`
  if (msLeft === 0) return [['owner', `none; the last one was ${node}${at}, in epoch ${epoch}`]]
  return [
    ['owner', `${node}${at}`],
    ['epoch', String(epoch)],
    ['lease', `ends in ${(msLeft / 1000).toFixed(1)} s, unless it is renewed`],
  ]
}

function replicaText({ name, state, sync, lagMs }: Replica): string {
  return `${name} (${state}, ${sync}${lagMs === null ? '' : `, ${Math.round(lagMs)} ms behind`})`
}
