import { note } from '../command.ts'
import { jsonObject } from '../schema.ts'

/** Telemetry has no state: OTLP/JSON as it is, to whoever listens. */
const payload = { payload: jsonObject }

export const otlpNotes = {
  'otlp/exportLogs': note('host', payload),
  'otlp/exportTraces': note('host', payload),
  'otlp/exportMetrics': note('host', payload),
}
