import { note } from '../command.ts'
import { jsonObject } from '../schema.ts'

/** OTLP/JSON, unchanged. A telemetry channel has no state; its notifications go to the subscribed clients. */
const payload = { payload: jsonObject }

export const otlpNotes = {
  'otlp/exportLogs': note('host', payload),
  'otlp/exportTraces': note('host', payload),
  'otlp/exportMetrics': note('host', payload),
}
