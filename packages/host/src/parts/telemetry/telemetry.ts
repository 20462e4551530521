import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { JsonObject } from '@atrium/protocol/json'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Core } from '../../kernel/core.ts'
import type { StatelessChannel } from '../../kernel/stateless.ts'
import { logLevels } from './port.ts'
import type { Collector, LogLevel, LogLine, Signal, TelemetryPort } from './port.ts'
import { Feed } from './feed.ts'
import type { Follower } from './feed.ts'
import { metricsOf } from './host-metrics.ts'
import { levelNamed, logRecord, lostRecord, reaches } from './log-records.ts'
import { emitterOf, logsRequest, metricsRequest, tracesRequest } from './otlp.ts'
import type { Emitter } from './otlp.ts'
import { TurnSpans } from './turn-spans.ts'

const prefix = 'ahp-otlp://'
const tracesUri = `${prefix}traces`
const metricsUri = `${prefix}metrics`

/** What `initialize` offers. There is no channel of all logs, so that nobody gets every line without asking for it. */
export const offer = { logs: `${prefix}logs/{level}`, traces: tracesUri, metrics: metricsUri }

interface LogFeed {
  readonly least: LogLevel
  readonly feed: Feed<LogLine>
}

/** Log lines, spans and metrics of the host, for the clients that follow their channels and for the collector. */
export class Telemetry {
  readonly #core: Core
  readonly #emitter: Emitter
  readonly #began: number
  /** The feeds of logs that somebody follows, by their channels. */
  readonly #logs = new Map<Uri, LogFeed>()
  readonly #traces: Feed<JsonObject>
  readonly #metrics: Feed<JsonObject>
  readonly spans: TurnSpans
  readonly #collector: Collector | undefined
  readonly #endLines: () => void
  #cancelMetrics: (() => void) | undefined

  constructor(core: Core, { lines, resource, collector }: TelemetryPort) {
    const { world, about, limits } = core
    this.#core = core
    this.#began = world.now()
    this.#emitter = emitterOf(about.info.name, about.info.version, resource)
    const form = { most: limits.telemetryRecords }
    this.#traces = new Feed(world, {
      ...form,
      channel: tracesUri,
      method: 'otlp/exportTraces',
      payload: (spans) => tracesRequest(this.#emitter, spans),
    })
    this.#metrics = new Feed(world, {
      ...form,
      channel: metricsUri,
      method: 'otlp/exportMetrics',
      payload: (metrics) => metricsRequest(this.#emitter, metrics),
    })
    this.spans = new TurnSpans({
      now: () => world.now(),
      about: (chat) => {
        const session = sessionOf(core, chat)
        return session && { session: session.uri, agent: session.head.provider }
      },
      emit: (span) => this.#traces.add(span),
    })
    this.#collector = collector
    if (collector) this.#followAll(collector)
    this.#endLines = lines((line) => {
      for (const { least, feed } of this.#logs.values()) if (reaches(line, least)) feed.add(line)
    })
  }

  /** The channel of a URI, as a rule of the host finds it. */
  channel(uri: Uri): StatelessChannel | AhpError | undefined {
    if (!uri.startsWith(prefix)) return undefined
    // What the host does is told to those who may do everything: lines and spans name sessions, tools and folders.
    const common = { role: 'own' } as const
    if (uri === tracesUri) return { ...common, sends: 'otlp/exportTraces', ...membersOf(this.#traces) }
    if (uri === metricsUri)
      return {
        ...common,
        sends: 'otlp/exportMetrics',
        follow: (link) => {
          this.#metrics.follow(link)
          this.#scheduleMetrics()
        },
        leave: (link) => this.#metrics.leave(link),
      }
    const least = levelNamed(/^ahp-otlp:\/\/logs\/([^/]*)$/.exec(uri)?.[1] ?? '')
    if (least === undefined)
      return AhpError.notFound(
        `no channel ${JSON.stringify(uri.slice(0, 200))}: there are ${tracesUri}, ${metricsUri} and ${prefix}logs/ with one of ${logLevels.join(', ')}`,
      )
    return {
      ...common,
      sends: 'otlp/exportLogs',
      follow: (link) => this.#followLogs(uri, least, link),
      leave: (link) => this.#leaveLogs(uri, link),
    }
  }

  async close(): Promise<void> {
    this.#endLines()
    this.#cancelMetrics?.()
    this.#cancelMetrics = undefined
    for (const { feed } of this.#logs.values()) feed.flush()
    this.#traces.flush()
    this.#addMetrics()
    this.#metrics.flush()
    await this.#collector?.close()
  }

  #followAll(collector: Collector): void {
    const follower = (signal: Signal): Follower => ({
      // The payload of each feed is an OTLP request.
      notify: (_, params) => void collector.send(signal, (params as { payload: JsonObject }).payload),
      get slow() {
        return collector.slow
      },
      drained: () => collector.drained(),
    })
    if (collector.takes('logs')) this.#followLogs('', 'trace', follower('logs'))
    if (collector.takes('traces')) this.#traces.follow(follower('traces'))
    if (!collector.takes('metrics')) return
    this.#metrics.follow(follower('metrics'))
    this.#scheduleMetrics()
  }

  #followLogs(channel: Uri, least: LogLevel, follower: Follower): void {
    const known = this.#logs.get(channel)
    const feed = known?.feed ?? this.#logFeed(channel)
    feed.follow(follower)
    this.#logs.set(channel, { least, feed })
  }

  #leaveLogs(channel: Uri, follower: Follower): void {
    const feed = this.#logs.get(channel)?.feed
    feed?.leave(follower)
    if (feed && !feed.followed) this.#logs.delete(channel)
  }

  #logFeed(channel: Uri): Feed<LogLine> {
    const { world, limits } = this.#core
    return new Feed(world, {
      channel,
      method: 'otlp/exportLogs',
      most: limits.telemetryRecords,
      payload: (lines, lost) => {
        const records = lines.map((line) => logRecord(line, limits.telemetryText))
        const first = lost > 0 ? [lostRecord(lines[0]?.at ?? world.now(), lost)] : []
        return logsRequest(this.#emitter, [...first, ...records])
      },
    })
  }

  /** The metrics go out now and then, as long as somebody follows them. */
  #scheduleMetrics(): void {
    this.#cancelMetrics ??= this.#core.world.later(metricsMs, () => {
      this.#cancelMetrics = undefined
      this.#addMetrics()
      if (this.#metrics.followed) this.#scheduleMetrics()
    })
  }

  #addMetrics(): void {
    if (!this.#metrics.followed) return
    for (const metric of metricsOf(this.#core, this.#began)) this.#metrics.add(metric)
    this.#metrics.flush()
  }
}

function membersOf<R>(feed: Feed<R>): Pick<StatelessChannel, 'follow' | 'leave'> {
  return { follow: (link) => feed.follow(link), leave: (link) => feed.leave(link) }
}

const metricsMs = 10_000
