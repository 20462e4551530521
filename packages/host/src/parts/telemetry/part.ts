import { part } from '../../kernel/part.ts'
import type { TelemetryPort } from './port.ts'
import { telemetryOf } from './key.ts'
import { Telemetry, offer } from './telemetry.ts'

interface Ports {
  /** Absent: the host offers no telemetry. */
  readonly telemetry?: TelemetryPort | undefined
}

/** Log lines, spans and metrics for clients and for a collector. */
export const telemetry = part<Telemetry | undefined, Ports>({
  name: 'telemetry',
  key: telemetryOf,
  open: (core, ports) => ports.telemetry && new Telemetry(core, ports.telemetry),
  rules: {
    offers: (core) => (telemetryOf(core) ? { telemetry: offer } : {}),
    stateless: (core, uri) => telemetryOf(core)?.channel(uri),
  },
  committed: (self, channel, action) => {
    const chat = channel.is('chat') ? channel.committed : undefined
    if (chat) self.spans.committed(channel.uri, chat, action)
  },
  disposed: (self, session) => self.spans.disposed(session.uri),
  close: (self, inTime) => inTime(self.close()),
})
