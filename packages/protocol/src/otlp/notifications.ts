import { notification } from '../command.ts'
import { jsonObject } from '../schema.ts'

/** OTLP/JSON, unchanged. A telemetry channel has no state; its notifications go to the subscribed clients. */
const payload = { payload: jsonObject }

export const otlpNotifications = {
  'otlp/exportLogs': notification('host', payload),
  'otlp/exportTraces': notification('host', payload),
  'otlp/exportMetrics': notification('host', payload),
}
