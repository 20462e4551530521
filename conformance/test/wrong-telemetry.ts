import { randomBytes } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import type { Subscriber, WrongLog } from './wrong-log.ts'

export const tracesUri = 'ahp-otlp://traces'

/** Exports a span of a turn that has ended. */
export function exportTurn(host: WrongLog, chat: Uri): void {
  const now = `${Date.now()}000000`
  const span = {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name: 'turn',
    kind: 1,
    startTimeUnixNano: host.has('timesAsNumbers') ? Date.now() : now,
    endTimeUnixNano: now,
    attributes: [{ key: 'chat', value: { stringValue: chat } }],
    status: {},
  }
  const scopeSpans = [{ scope: { name: 'wrong' }, spans: [span] }]
  const payload = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans }] }
  const follows = (link: Subscriber) =>
    link.subscriptions.has(tracesUri) || (host.has('tracesToAll') && link.clientId !== '')
  for (const link of host.links)
    if (follows(link)) link.send({ method: 'otlp/exportTraces', params: { channel: tracesUri, payload } })
}
