import { echoBounds } from '@atrium/host/metrics'
import { expect, test } from 'vitest'
import { metricsText } from './metrics.ts'

const host = {
  actions: 3,
  echo: { upTo: echoBounds.map((bound) => (bound < 5 ? 0 : 2)), count: 3, sumMs: 12_000 },
  backlog: 0,
  committedSeq: 7,
  links: 1,
  sessions: 2,
}

test('[D11] the metrics are in the text form of Prometheus: every value has a type, every bucket contains the one before', () => {
  const text = metricsText({ host, node: { owner: true, epoch: 4, leaseMs: 2500 } })
  const lines = text.trimEnd().split('\n')
  for (const line of lines)
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) atrium_\w+ .+|atrium_\w+(?:\{le="[\d.+Inf]+"\})? [\d.]+)$/)
  const types = lines.flatMap((line) => /^# TYPE (\w+)/.exec(line)?.[1] ?? [])
  expect(new Set(types).size).toBe(types.length)
  for (const line of lines.filter((each) => !each.startsWith('#')))
    expect(types.some((type) => line.startsWith(type))).toBe(true)
  const buckets = lines.flatMap((line) => /_bucket.* (\d+)$/.exec(line)?.[1] ?? []).map(Number)
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
  expect(text).toContain('atrium_echo_seconds_bucket{le="0.005"} 2\n')
  expect(text).toContain('atrium_echo_seconds_bucket{le="+Inf"} 3\n')
  expect(text).toContain('atrium_echo_seconds_sum 12\n')
  expect(text).toContain('atrium_owner 1\n')
  expect(text).toContain('atrium_lease_seconds 2.5\n')
})

test('[D11] a host that is alone has no metrics of nodes, and a standby has none of a host', () => {
  expect(metricsText({ host })).not.toMatch(/owner|epoch|lease/)
  const standby = metricsText({ host: undefined, node: { owner: false, epoch: 4, leaseMs: undefined } })
  expect(standby).toContain('atrium_owner 0\n')
  expect(standby).not.toMatch(/actions|lease/)
})

test('[D11.1] the servers that copy the database have their states and how far they are behind, and no line if they are unknown', () => {
  const async = { name: 'a "b"\\', state: 'streaming', sync: 'async', lagMs: 2 }
  const replicas = [
    { ...async, lagBytes: 4096 },
    { ...async, lagBytes: 8192 },
    { name: 'new', state: 'startup', sync: 'sync', lagMs: null, lagBytes: null },
  ]
  const text = metricsText({ host, replicas })
  expect(text).toContain('atrium_replicas 3\n')
  const lags = text.split('\n').filter((line) => line.startsWith('atrium_replica_lag_bytes'))
  expect(lags).toEqual([
    String.raw`atrium_replica_lag_bytes{server="a \"b\"\\",state="streaming",sync="async"} 8192`,
    'atrium_replica_lag_bytes{server="new",state="startup",sync="sync"} NaN',
  ])
  expect(metricsText({ host, replicas: [] })).toMatch(/^atrium_replicas 0$/m)
  expect(metricsText({ host, replicas: [] })).not.toContain('lag')
  expect(metricsText({ host, replicas: undefined })).not.toContain('replica')
})
