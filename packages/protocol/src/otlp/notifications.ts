import { notification } from '../command.ts'
import { jsonObject } from '../schema.ts'
import { since } from '../version.ts'

/** OTLP/JSON, unchanged. A telemetry channel has no state; its notifications go to the subscribed clients. */
const payload = { payload: jsonObject }

export const otlpNotifications = since('0.2.0', {
  'otlp/exportLogs': notification('host', payload),
  'otlp/exportTraces': notification('host', payload),
  'otlp/exportMetrics': notification('host', payload),
})
