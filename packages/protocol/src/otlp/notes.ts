import { note } from '../command.ts'
import { bag } from '../schema.ts'

/** Telemetry has no state: OTLP/JSON as it is, to whoever listens. */
const payload = { payload: bag }

export const otlpNotes = {
  'otlp/exportLogs': note('host', payload),
  'otlp/exportTraces': note('host', payload),
  'otlp/exportMetrics': note('host', payload),
}
