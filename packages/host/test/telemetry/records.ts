import { expect } from 'vitest'
import { otlpProblems } from '../../../../conformance/src/kit/otlp.ts'
import type { Collector, LogLevel, LogLine, Signal, TelemetryPort } from '../../src/parts/telemetry/port.ts'
import type { Client } from '../test-host.ts'

/** A port of telemetry whose log the test writes. */
export function testTelemetry(collector?: Collector) {
  const listeners = new Set<(line: LogLine) => void>()
  const port: TelemetryPort = {
    lines(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    collector,
  }
  return {
    port,
    listeners,
    log(level: LogLevel, text: string, at = Date.parse('2026-01-01T00:00:00Z')) {
      for (const listener of listeners) listener({ at, level, text })
    },
  }
}

export interface Spans {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
  readonly values: { readonly [key: string]: unknown }
}

const signals = { exportLogs: 'logs', exportTraces: 'traces', exportMetrics: 'metrics' } as const

/** The payloads that a client was sent on a channel. Each is a sound OTLP request. */
export function exported(client: Pick<Client, 'notes'>, channel: string) {
  return client.notes.flatMap(({ method, params }) => {
    if (!method.startsWith('otlp/') || params['channel'] !== channel) return []
    const signal: Signal = signals[method.slice('otlp/'.length) as keyof typeof signals]
    expect(otlpProblems(signal, params['payload'])).toEqual([])
    return [{ payload: params['payload'] as object, meta: params['_meta'] }]
  })
}

/** The records of all payloads on a channel: log records, spans or metrics. */
export function recordsOf(
  client: Pick<Client, 'notes'>,
  channel: string,
): readonly Record<string, unknown>[] {
  return exported(client, channel).flatMap(({ payload }) => recordsIn(payload))
}

export function recordsIn(payload: object): readonly Record<string, unknown>[] {
  return listsIn(payload).flatMap((resource) => listsIn(resource).flatMap((scope) => listsIn(scope)))
}

/** The elements of the lists in an object: a request has one list of resources, each with one of scopes, each with one of records. */
function listsIn(value: object): readonly Record<string, unknown>[] {
  return Object.values(value).flatMap((each) =>
    Array.isArray(each) ? (each as Record<string, unknown>[]) : [],
  )
}

export function linesOf(client: Pick<Client, 'notes'>, channel: string): readonly string[] {
  return recordsOf(client, channel).map(({ severityText, body }) => {
    return `${String(severityText)} ${(body as { stringValue: string }).stringValue}`
  })
}

export function spansOf(client: Pick<Client, 'notes'>, channel = 'ahp-otlp://traces'): readonly Spans[] {
  return recordsOf(client, channel).map((span) => spanOf(span))
}

export function spanOf(span: Record<string, unknown>): Spans {
  const attributes = span['attributes'] as { key: string; value: Record<string, unknown> }[]
  const values = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
  return { ...(span as unknown as Spans), values }
}
