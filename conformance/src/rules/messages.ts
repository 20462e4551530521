import { errorCodes } from '@atrium/protocol/errors'
import { rootUri } from '@atrium/protocol/uri'
import { check, same } from '../kit/check.ts'
import type { Failed } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import type { Topic } from '../kit/rule.ts'
import { withClient } from '../kit/openings.ts'

export const messages: Topic = {
  name: 'messages',
  sessionless: true,
  rules: [
    {
      id: 'K30',
      title: 'an unknown method is refused with -32601, whatever its name',
      source: 'errors: the codes of JSON-RPC',
      run: withClient(async (client) => {
        for (const method of ['x-conformance/nothing', 'constructor', '__proto__'])
          await client.mustFail(method, {}, errorCodes.MethodNotFound)
      }),
    },
    {
      id: 'K31',
      title: 'params of the wrong shape are refused with -32602',
      source: 'errors: the codes of JSON-RPC',
      run: withClient(async (client) => {
        await client.mustFail('subscribe', { channel: 7 }, errorCodes.InvalidParams)
      }),
    },
    {
      id: 'K32',
      title: 'a frame that is not JSON is answered with -32700 and the id null',
      source: 'errors: the codes of JSON-RPC',
      run: withClient(async (client) => {
        client.send('{"jsonrpc":"2.0","id":1,')
        const { error, id } = await unmatchedResponse(client)
        same('the error', { code: errorCodes.ParseError, id: null }, { code: error?.code, id })
      }),
    },
    {
      id: 'K33',
      title: 'JSON that is not a JSON-RPC message is answered with -32600',
      source: 'errors: the codes of JSON-RPC',
      run: withClient(async (client) => {
        client.send('{"jsonrpc":"2.0","method":7}')
        const { error } = await unmatchedResponse(client)
        same('the code', errorCodes.InvalidRequest, error?.code)
      }),
    },
    {
      id: 'K34',
      title: 'a batch is never answered with a batch',
      source: 'transport: a frame holds one message',
      run: withClient(async (client) => {
        const ping = { jsonrpc: '2.0', method: 'ping', params: { channel: rootUri } }
        client.send(JSON.stringify([1, 2].map((id) => ({ ...ping, id: `batch-${id}` }))))
        // The ping may fail, but only if the host has closed the connection because of the batch.
        await client
          .request('ping')
          .catch((error: Failed) => check(client.closed !== undefined, 'ping', error.actual))
        check(!client.frames.some(Array.isArray), 'no frame that is an array', client.frames)
      }),
    },
    {
      id: 'K35',
      title: 'a response repeats the id as it was sent: strings, including digits, and numbers, including 0',
      source: 'messages: a response names its request by id',
      run: withClient(async (client) => {
        for (const id of ['7', 'a-b', '', 0, 1_000_007, 2 ** 40]) {
          await client.request('ping', {}, id)
          await client.request('x-conformance/nothing', {}, `${id}!`)
        }
      }),
    },
    {
      id: 'K36',
      title: 'every request gets exactly one response, even with many requests open',
      source: 'messages: one response to each request',
      run: withClient(async (client) => {
        const methods = ['ping', 'listSessions', 'x-conformance/nothing', 'ping', 'listSessions', 'subscribe']
        await Promise.all(methods.map((method) => client.request(method)))
        await settled(client)
        same('responses beyond the first', [], client.unmatched)
      }),
    },
    {
      id: 'K37',
      title: 'a notification gets no response, even under the name of a request',
      source: 'messages: a notification has no response',
      run: withClient(async (client) => {
        for (const method of ['ping', 'listSessions', 'subscribe', 'unsubscribe']) client.notify(method)
        await settled(client)
        same('responses to notifications', [], client.unmatched)
      }),
    },
  ],
}

/** Waits for a response that matches no open request of the client. */
function unmatchedResponse(
  client: Client,
): Promise<{ readonly id?: unknown; readonly error?: { readonly code: number } }> {
  return client.until('an error', () => client.unmatched.at(0) as { id?: unknown } | undefined)
}

/**
 * Waits until the host must have answered every earlier message: for the response to `listSessions`, then to `ping`.
 */
async function settled(client: Client): Promise<void> {
  await client.request('listSessions')
  await client.request('ping')
}
