import type { Uri } from './channel.ts'
import { fromBase64 } from './text/base64.ts'

/**
 * The forms of new channel URIs. A URI is opaque: the host stores the kind of a channel when it creates the channel,
 * and never reads it from the URI. Callers pass the ids, because this package has no source of randomness.
 */
export const rootUri: Uri = 'ahp-root://'
export const automationsUri: Uri = 'ahp-automations://'

export const sessionUri = (id: string): Uri => `ahp-session:/${id}`
export const chatUri = (id: string): Uri => `ahp-chat:/${id}`
export const terminalUri = (id: string): Uri => `ahp-terminal:/${id}`
export const changesetUri = (id: string): Uri => `ahp-changeset:/${id}`
export const resourceWatchUri = (id: string): Uri => `ahp-resource-watch:/${id}`
export const automationUri = (id: string): Uri => `ahp-automation:/${id}`
export const automationRunUri = (id: string): Uri => `ahp-automation-run:/${id}`
export const canvasUri = (id: string): Uri => `ahp-canvas:/${id}`

/** The URI of a session's default chat. Some VS Code builds compute this form instead of reading `defaultChat`. */
export const defaultChatUri = (session: Uri): Uri => `ahp-chat://default/${base64url(session)}`

/** Returns the session whose default chat has this URI. Undefined if the URI does not have that form. */
export function sessionOfDefaultChat(chat: Uri): Uri | undefined {
  const encoded = chat.startsWith(defaultChatPrefix) ? chat.slice(defaultChatPrefix.length) : ''
  const base64 = encoded.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, '='))
  const session = bytes && bytes.length > 0 ? new TextDecoder().decode(bytes) : undefined
  return session !== undefined && defaultChatUri(session) === chat ? session : undefined
}

const defaultChatPrefix = 'ahp-chat://default/'

export const annotationsUri = (session: Uri): Uri => `${session}${annotationsSuffix}`

/** Returns the session whose annotations have this URI. Undefined if the URI does not have that form. */
export function sessionOfAnnotations(uri: Uri): Uri | undefined {
  const session = uri.endsWith(annotationsSuffix) ? uri.slice(0, -annotationsSuffix.length) : ''
  return session === '' ? undefined : session
}

const annotationsSuffix = '/annotations'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

export function base64url(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let out = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b, c] = bytes.subarray(i, i + 3)
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0)
    const letters = b === undefined ? 2 : c === undefined ? 3 : 4
    for (let n = 0; n < letters; n++) out += alphabet.charAt((bits >> (18 - 6 * n)) & 63)
  }
  return out
}
