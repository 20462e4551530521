import type { JsonObject } from '@atrium/protocol/json'

/** What telemetry needs from outside: the lines of the host's own log, and the collector, if there is one. */
export interface TelemetryPort {
  /** Calls the listener with each line of the log from now on. The lines contain no secrets. Returns a function that ends this. */
  lines(listener: (line: LogLine) => void): () => void
  /** Attributes of the host for those who read its telemetry, such as another `service.name`. */
  readonly resource?: { readonly [key: string]: string }
  /** Absent: nothing is sent to a collector. */
  readonly collector?: Collector | undefined
}

/** The severities of log lines, from the lowest on. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LogLine {
  /** Wall time in milliseconds. */
  readonly at: number
  readonly level: LogLevel
  readonly text: string
}

export type Signal = 'logs' | 'traces' | 'metrics'

/** A program that collects telemetry. */
export interface Collector {
  /** Whether it takes this signal. */
  takes(signal: Signal): boolean
  /** Sends an OTLP/JSON request. Never rejects: what cannot be sent is dropped, and reported once. */
  send(signal: Signal, payload: JsonObject): Promise<void>
  /** Whether so much waits for the collector that further records are dropped. */
  readonly slow: boolean
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>
  close(): Promise<void>
}
