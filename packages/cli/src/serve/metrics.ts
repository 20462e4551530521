import { echoBounds } from '@atrium/host/metrics'
import type { HostMetrics } from '@atrium/host/metrics'

/** The metrics of one node: those of its host, if it has one, and its place among other nodes, if there are any. */
export interface NodeMetrics {
  readonly host: HostMetrics | undefined
  readonly node?: {
    readonly owner: boolean
    readonly epoch: number | undefined
    /** The time until the lease ends, as this node has seen it last, in milliseconds. */
    readonly leaseMs: number | undefined
  }
}

/** Returns the metrics in the text form of Prometheus. */
export function metricsText({ host, node }: NodeMetrics): string {
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
