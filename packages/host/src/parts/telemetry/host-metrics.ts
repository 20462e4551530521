import type { JsonObject } from '@atrium/protocol/json'
import { catalogOf } from '../../catalog/catalog.ts'
import { echoBounds } from '../../kernel/metrics.ts'
import type { Core } from '../../kernel/core.ts'
import { nanos } from './otlp.ts'

/** The metrics of the host, with the names and the meaning of `/metrics` (D11). `began`: when the counters were zero. */
export function metricsOf(core: Core, began: number): readonly JsonObject[] {
  const { metrics, log, clients, world } = core
  const at = { timeUnixNano: nanos(world.now()) }
  const since = { ...at, startTimeUnixNano: nanos(began) }
  const gauge = (name: string, unit: string, value: number): JsonObject => ({
    name: `atrium.${name}`,
    unit,
    gauge: { dataPoints: [{ ...at, asInt: String(value) }] },
  })
  const { upTo, count, sumMs } = metrics.echo
  return [
    {
      name: 'atrium.actions',
      unit: '{action}',
      sum: {
        dataPoints: [{ ...since, asInt: String(metrics.actions) }],
        aggregationTemporality: cumulative,
        isMonotonic: true,
      },
    },
    {
      name: 'atrium.echo',
      unit: 's',
      histogram: {
        dataPoints: [
          {
            ...since,
            count: String(count),
            sum: sumMs / 1000,
            bucketCounts: counts([...upTo, count]),
            explicitBounds: echoBounds.map((ms) => ms / 1000),
          },
        ],
        aggregationTemporality: cumulative,
      },
    },
    gauge('backlog', '{character}', log.backlog),
    gauge('committed_seq', '1', log.committedSeq),
    gauge('links', '{link}', clients.links.size),
    gauge('sessions', '{session}', catalogOf(core).announced),
  ]
}

const cumulative = 2

/** The count of each class, from the counts up to each bound. */
function counts(upTo: readonly number[]): string[] {
  return upTo.map((each, at) => String(each - (upTo[at - 1] ?? 0)))
}
