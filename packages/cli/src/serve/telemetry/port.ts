import { HttpCollector } from '@atrium/adapters/telemetry'
import { collectorSettings, resourceAttributes } from '@atrium/adapters/telemetry/settings'
import type { TelemetryPort } from '@atrium/host/telemetry'
import type { World } from '@atrium/host/ports/world'
import type { Logger } from 'pino'
import type { LogLines } from './log-lines.ts'

/** Makes the port of telemetry for a host: the lines of its log, and the collector that the environment names, if it names one. */
export function telemetryOf(
  lines: LogLines,
  log: Logger,
  world: World,
  env: NodeJS.ProcessEnv,
): TelemetryPort {
  const port = { lines: lines.listen, resource: resourceAttributes(env) }
  try {
    const settings = collectorSettings(env)
    return settings ? { ...port, collector: new HttpCollector(settings, world) } : port
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error))
    return port
  }
}
