import type { Signal } from '@atrium/host/telemetry'
import type { Variables } from '../process/environment.ts'

/** What the variables of OpenTelemetry say of the collector. */
export interface CollectorSettings {
  /** The address of each signal that is sent. */
  readonly addresses: { readonly [S in Signal]?: URL }
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
}

/** Who sends, for the collector. */
export type ResourceAttributes = { readonly [key: string]: string }

/**
 * Reads the variables `OTEL_*`. Undefined if nothing is sent. Throws a sentence for people if the variables ask for what the host does not
 * do.
 */
export function collectorSettings(env: Variables): CollectorSettings | undefined {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const addresses: { [S in Signal]?: URL } = {}
  for (const signal of signals) {
    const name = signal.toUpperCase()
    const own = env[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`]
    if (env[`OTEL_${name}_EXPORTER`] === 'none' || (!own && !base)) continue
    const protocol = env[`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL']
    if (protocol === 'grpc')
      throw new Error(
        `The ${signal} are not sent: the host sends them by HTTP, and OTEL_EXPORTER_OTLP_PROTOCOL is grpc. Set OTEL_EXPORTER_OTLP_PROTOCOL=http/json and the address of the collector for HTTP.`,
      )
    addresses[signal] = own
      ? address(own, `OTEL_EXPORTER_OTLP_${name}_ENDPOINT`)
      : address(`${base?.replace(/\/+$/, '')}/v1/${signal}`, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  }
  if (Object.keys(addresses).length === 0) return undefined
  const timeout = Number(env['OTEL_EXPORTER_OTLP_TIMEOUT'])
  return {
    addresses,
    headers: pairs(env['OTEL_EXPORTER_OTLP_HEADERS']),
    timeoutMs: timeout > 0 ? Math.min(timeout, maxTimeoutMs) : defaultTimeoutMs,
  }
}

/** The attributes of the sender: `OTEL_RESOURCE_ATTRIBUTES`, and its name. */
export function resourceAttributes(env: Variables): ResourceAttributes {
  const name = env['OTEL_SERVICE_NAME']
  return { ...pairs(env['OTEL_RESOURCE_ATTRIBUTES']), ...(name && { 'service.name': name }) }
}

const signals = ['logs', 'traces', 'metrics'] as const

function address(text: string, variable: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error(`Nothing is sent to a collector: ${variable} is no http or https address.`)
}

/** Pairs of the form `a=b,c=d`, with percent signs before the codes of other characters. */
function pairs(text = ''): { readonly [key: string]: string } {
  const entries = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(entries)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const defaultTimeoutMs = 10_000
const maxTimeoutMs = 60_000
