import type { JsonObject } from '@atrium/protocol/json'

/** The values of OTLP/JSON: 64-bit numbers are decimal strings, ids are hexadecimal, enums are numbers. */
export interface Attributes {
  readonly [key: string]: string | number | boolean | undefined
}

export function attributesOf(values: Attributes): readonly JsonObject[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  )
}

function valueOf(value: string | number | boolean): JsonObject {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** A wall time in milliseconds, as the nanoseconds of OTLP. */
export function nanos(ms: number): string {
  return `${Math.max(0, Math.trunc(ms))}000000`
}

/** Who emits the records. */
export interface Emitter {
  readonly resource: JsonObject
  readonly scope: JsonObject
}

export function emitterOf(name: string, version: string | undefined, more: Attributes = {}): Emitter {
  return {
    resource: { attributes: attributesOf({ 'service.name': name, 'service.version': version, ...more }) },
    scope: { name, ...(version !== undefined && { version }) },
  }
}

/** Returns the body of an OTLP request that exports log records. The functions below do the same for spans and metrics. */
export function logsRequest({ resource, scope }: Emitter, logRecords: readonly JsonObject[]): JsonObject {
  return { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: [...logRecords] }] }] }
}

export function tracesRequest({ resource, scope }: Emitter, spans: readonly JsonObject[]): JsonObject {
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [...spans] }] }] }
}

export function metricsRequest({ resource, scope }: Emitter, metrics: readonly JsonObject[]): JsonObject {
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: [...metrics] }] }] }
}
