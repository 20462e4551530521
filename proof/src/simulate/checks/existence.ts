import type { Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import type { Message } from '../../message.ts'
import type { RunContext, SentRequest } from './context.ts'

/** Checks that a response calls a channel missing only if its removal is durable, and existing only if its creation is. */
export function checkExistence(
  { model, disk, fail }: RunContext,
  clientId: string,
  request: SentRequest,
  response: Message,
): void {
  const { method } = request
  const missing = missingIn(request, response).find(
    (uri) => (model.channels.get(uri)?.dropped?.at ?? -1) >= disk.durable,
  )
  if (missing !== undefined)
    fail('I1', `${clientId} was told by ${method} that ${missing} is missing before its removal was durable`)
  const taken = takenIn(request, response)
  if (taken !== undefined && (model.channels.get(taken)?.created.at ?? -1) >= disk.durable)
    fail('I1', `${clientId} was told by ${method} that ${taken} exists before its creation was durable`)
}

/** The channels that the client asked for and that do not exist, by this response. */
function missingIn({ method, params }: SentRequest, { result, error }: Message): readonly Uri[] {
  const { channel, subscriptions = [] } = params
  if (error) return missingCodes.has(error.code) && channel !== undefined ? [channel] : []
  if (method !== 'reconnect') return []
  // The cast is safe: the host has made this response, and members that it lacks count as absent.
  const { missing, snapshots = [] } = (result ?? {}) as Reconnected
  return missing ?? subscriptions.filter((uri) => snapshots.every(({ resource }) => resource !== uri))
}

/** The channel that the client wanted to create and that exists already, by this response. */
function takenIn({ method, params }: SentRequest, { error }: Message): Uri | undefined {
  if (!error || !takenCodes.has(error.code)) return undefined
  return method === 'createChat' ? params.chat : params.channel
}

interface Reconnected {
  readonly snapshots?: readonly { readonly resource: Uri }[]
  readonly missing?: readonly Uri[]
}

const missingCodes = new Set<number>([errorCodes.NotFound, errorCodes.SessionNotFound])
const takenCodes = new Set<number>([errorCodes.AlreadyExists, errorCodes.SessionAlreadyExists])
