import { echoBounds } from '@atrium/host/metrics'
import type { HostMetrics } from '@atrium/host/metrics'
import type { Replica } from '@atrium/adapters/store/postgres/lease'

/** The metrics of one node: those of its host, if it has one, and its place among other nodes, if there are any. */
export interface NodeMetrics {
  readonly host: HostMetrics | undefined
  readonly node?: {
    readonly owner: boolean
    readonly epoch: number | undefined
    /** The time until the lease ends, as this node has seen it last, in milliseconds. */
    readonly leaseMs: number | undefined
  }
  /** The servers that copy the database, at the last look of the owner; undefined if it may not see them. */
  readonly replicas?: readonly Replica[] | undefined
}

/** Returns the metrics in the text form of Prometheus. */
export function metricsText({ host, node, replicas }: NodeMetrics): string {
  const lines: string[] = []
  const metric = (name: string, type: 'counter' | 'gauge', help: string, value: number | undefined) => {
    if (value === undefined) return
    lines.push(`# HELP atrium_${name} ${help}`, `# TYPE atrium_${name} ${type}`, `atrium_${name} ${value}`)
  }
  metric('actions_total', 'counter', 'Actions committed since the start.', host?.actions)
  if (host) lines.push(...echoLines(host.echo))
  metric('backlog_characters', 'gauge', 'Characters that wait for the disk.', host?.backlog)
  metric('committed_seq', 'gauge', 'The last committed sequence number.', host?.committedSeq)
  metric('links', 'gauge', 'Open links of clients.', host?.links)
  metric('sessions', 'gauge', 'Sessions in the session list.', host?.sessions)
  metric('owner', 'gauge', '1 at the owner, 0 at a standby.', node && (node.owner ? 1 : 0))
  metric('epoch', 'gauge', 'The epoch of the owner, as this node has seen it last.', node?.epoch)
  const seconds = node?.leaseMs === undefined ? undefined : node.leaseMs / 1000
  metric('lease_seconds', 'gauge', 'Time until the lease ends, as this node has seen it last.', seconds)
  metric('replicas', 'gauge', 'Servers that copy the database.', replicas?.length)
  if (replicas && replicas.length > 0) lines.push(...replicaLines(replicas))
  return lines.map((line) => `${line}\n`).join('')
}

function echoLines({ upTo, count, sumMs }: HostMetrics['echo']): readonly string[] {
  const name = 'atrium_echo_seconds'
  return [
    `# HELP ${name} Time from an action of a client to its echo.`,
    `# TYPE ${name} histogram`,
    ...echoBounds.map((bound, at) => `${name}_bucket{le="${bound / 1000}"} ${upTo[at] ?? 0}`),
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${sumMs / 1000}`,
    `${name}_count ${count}`,
  ]
}

/** The lines of the servers that copy the database. Those that cannot be told apart are one line, with the longest lag. */
function replicaLines(replicas: readonly Replica[]): readonly string[] {
  const name = 'atrium_replica_lag_bytes'
  const longest = new Map<string, number>()
  for (const { name: server, state, sync, lagBytes } of replicas) {
    const labels = Object.entries({ server, state, sync }).map(([key, text]) => `${key}="${escaped(text)}"`)
    const key = labels.join()
    longest.set(key, Math.max(longest.get(key) ?? 0, lagBytes ?? Number.NaN))
  }
  return [
    `# HELP ${name} Bytes of the log that a server has not replayed. NaN: the database does not know.`,
    `# TYPE ${name} gauge`,
    ...[...longest].map(([labels, bytes]) => `${name}{${labels}} ${bytes}`),
  ]
}

/** A text as the value of a label. */
const escaped = (text: string) => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
