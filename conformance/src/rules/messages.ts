import { errorCodes } from '@atrium/protocol/errors'
import { rootUri } from '@atrium/protocol/uri'
import { check, same } from '../kit/check.ts'
import type { Failed } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import type { Topic } from '../kit/rule.ts'

export const messages: Topic = {
  name: 'messages',
  rules: [
    {
      id: 'K30',
      title: 'a method that is not known is refused with -32601, whatever its name',
      source: 'errors: the codes of JSON-RPC',
      async run(kit) {
        const client = await kit.join()
        for (const method of ['x-conformance/nothing', 'constructor', '__proto__'])
          await client.refused(method, {}, errorCodes.MethodNotFound)
      },
    },
    {
      id: 'K31',
      title: 'params of the wrong form are refused with -32602',
      source: 'errors: the codes of JSON-RPC',
      async run(kit) {
        const client = await kit.join()
        await client.refused('subscribe', { channel: 7 }, errorCodes.InvalidParams)
      },
    },
    {
      id: 'K32',
      title: 'a frame that is no JSON is answered with -32700 and the id null',
      source: 'errors: the codes of JSON-RPC',
      async run(kit) {
        const client = await kit.join()
        client.send('{"jsonrpc":"2.0","id":1,')
        const { error, id } = await stray(client)
        same('the error', { code: errorCodes.ParseError, id: null }, { code: error?.code, id })
      },
    },
    {
      id: 'K33',
      title: 'JSON that is no message is answered with -32600',
      source: 'errors: the codes of JSON-RPC',
      async run(kit) {
        const client = await kit.join()
        client.send('{"jsonrpc":"2.0","method":7}')
        const { error } = await stray(client)
        same('the code', errorCodes.InvalidRequest, error?.code)
      },
    },
    {
      id: 'K34',
      title: 'a batch is never answered by a batch',
      source: 'transport: a frame holds one message',
      async run(kit) {
        const client = await kit.join()
        const ping = { jsonrpc: '2.0', method: 'ping', params: { channel: rootUri } }
        client.send(JSON.stringify([1, 2].map((id) => ({ ...ping, id: `batch-${id}` }))))
        // Whether the link outlives a batch is the host's to decide.
        await client
          .ask('ping')
          .catch((error: Failed) => check(client.closed !== undefined, 'ping', error.came))
        check(!client.frames.some(Array.isArray), 'no frame that is an array', client.frames)
      },
    },
    {
      id: 'K35',
      title: 'ids come back as they were sent: strings, also of digits, and numbers, also 0',
      source: 'messages: a response names its request',
      async run(kit) {
        const client = await kit.join()
        for (const id of ['7', 'a-b', '', 0, 1_000_007, 2 ** 40]) {
          await client.ask('ping', {}, id)
          await client.ask('x-conformance/nothing', {}, `${id}!`)
        }
      },
    },
    {
      id: 'K36',
      title: 'every request is answered exactly once, however many wait',
      source: 'messages: one response to each request',
      async run(kit) {
        const client = await kit.join()
        const methods = ['ping', 'listSessions', 'x-conformance/nothing', 'ping', 'listSessions', 'subscribe']
        await Promise.all(methods.map((method) => client.ask(method)))
        await settled(client)
        same('answers beyond the first', [], client.strays)
      },
    },
    {
      id: 'K37',
      title: 'a notification is never answered, also where a request was meant',
      source: 'messages: a notification has no response',
      async run(kit) {
        const client = await kit.join()
        for (const method of ['ping', 'listSessions', 'subscribe', 'unsubscribe']) client.notify(method)
        await settled(client)
        same('answers to notifications', [], client.strays)
      },
    },
  ],
}

/** An answer that names no request of ours. */
function stray(
  client: Client,
): Promise<{ readonly id?: unknown; readonly error?: { readonly code: number } }> {
  return client.until('an error', () => client.strays.at(0) as { id?: unknown } | undefined)
}

/** Two round trips, one of them through the host's own work: what would have been answered has been. */
async function settled(client: Client): Promise<void> {
  await client.ask('listSessions')
  await client.ask('ping')
}
