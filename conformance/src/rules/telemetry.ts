import type { Uri } from '@atrium/protocol/channel'
import { Skipped, check, excerpt, same } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { openConversation } from '../kit/conversation.ts'
import type { Kit } from '../kit/kit.ts'
import { otlpProblems } from '../kit/otlp.ts'
import type { Topic } from '../kit/rule.ts'

const methods = {
  logs: 'otlp/exportLogs',
  traces: 'otlp/exportTraces',
  metrics: 'otlp/exportMetrics',
} as const
type Signal = keyof typeof methods
const signals: readonly Signal[] = ['logs', 'traces', 'metrics']

/** The logs, traces and metrics that a host sends to its clients. */
export const telemetry: Topic = {
  name: 'telemetry',
  rules: [
    {
      id: 'K240',
      title: 'a telemetry channel that the host offers can be followed, and has no snapshot',
      source: 'initialize: telemetry; channels without a state',
      async run(kit) {
        const { client, channels } = await withTelemetry(kit)
        for (const [, channel] of channels)
          same(
            `a snapshot of ${channel}`,
            undefined,
            (await client.mustSucceed('subscribe', { channel })).snapshot,
          )
      },
    },
    {
      id: 'K241',
      title: 'what a host exports is OTLP/JSON, on the channel that was subscribed to',
      source: 'otlp/exportLogs, otlp/exportTraces and otlp/exportMetrics: payload',
      async run(kit) {
        const { client, channels } = await withTelemetry(kit)
        for (const [, channel] of channels) await client.mustSucceed('subscribe', { channel })
        await (await openConversation(kit)).runTurn()
        await client
          .until('an export', () => exportsOf(client).at(0))
          .catch(() => {
            throw new Skipped('the host exported nothing after a turn')
          })
        for (const { signal, params } of exportsOf(client)) {
          const channel = channels.find(([name]) => name === signal)?.[1]
          same(`the channel of ${methods[signal]}`, channel, params['channel'])
          const problems = otlpProblems(signal, params['payload'])
          check(problems.length === 0, 'OTLP/JSON', problems[0])
        }
      },
    },
    {
      id: 'K242',
      title: 'a client that follows no telemetry channel gets no telemetry',
      source: 'subscriptions: notifications of a channel go to its subscribers',
      async run(kit) {
        await withTelemetry(kit)
        const conversation = await openConversation(kit)
        await conversation.runTurn()
        const { client } = conversation
        await client.mustSucceed('ping')
        check(exportsOf(client).length === 0, 'no export', excerpt(exportsOf(client)[0]))
      },
    },
  ],
}

/** A connection, and the channels of telemetry that the host offers. Of the log it is that of lines from `info` on. */
async function withTelemetry(
  kit: Kit,
): Promise<{ client: Client; channels: readonly (readonly [Signal, Uri])[] }> {
  const client = await kit.connect()
  const { telemetry: offered = {} } = await client.initialize()
  const channels = signals.flatMap((signal) => {
    const template = offered[signal]
    return template === undefined ? [] : [[signal, template.replace('{level}', 'info')] as const]
  })
  if (channels.length === 0) throw new Skipped('the host offers no telemetry')
  return { client, channels }
}

function exportsOf(client: Client) {
  return client.notifications.flatMap(({ method, params }) => {
    const signal = signals.find((each) => methods[each] === method)
    return signal === undefined ? [] : [{ signal, params }]
  })
}
